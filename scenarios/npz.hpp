// NumPy .npz archives of tables.
#pragma once

#include <string>

#include "report.hpp"

namespace phaselock {

/// The bytes of an archive with an array for each column of the table: whole numbers as int64, others as float64 (an empty cell is
/// NaN), words as text of fixed width. The same table gives the same bytes.
std::string npz(const CsvTable& table);

}  // namespace phaselock
