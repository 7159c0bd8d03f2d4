// NumPy .npz archives of tables.
#pragma once

#include <istream>

#include "output/put_file.hpp"

namespace phaselock {

/// The bytes of an archive with an array for each column of a CsvTable's text: whole numbers as int64, others as float64 (an empty
/// cell is NaN), words as text of fixed width. The same table gives the same bytes. The text is read once for each column and
/// twice before; memory does not grow with its length. Throws Interrupted, and Failure (bad_data) if a row is not of the header's
/// length.
void write_npz(std::istream& csv, const Sink& sink);

}  // namespace phaselock
