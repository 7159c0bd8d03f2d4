// NumPy .npz archives of tables.
#pragma once

#include <filesystem>
#include <istream>

namespace phaselock {

/// Puts an archive in place, whole and on the disk, or not at all, with an array for each column of a CsvTable's text: whole
/// numbers as int64, others as float64 (an empty cell is NaN), words as text of fixed width. The same table gives the same bytes.
/// `partial` is where it is written first, on the same file system; while that goes on, a file beside it whose name begins alike.
/// The text is read once for each column and once before; memory does not grow with its length. Throws Interrupted, and Failure:
/// bad_data if a row is not of the header's length, cannot_write.
void put_npz(const std::filesystem::path& path, const std::filesystem::path& partial, std::istream& csv);

}  // namespace phaselock
