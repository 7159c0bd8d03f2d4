// NumPy .npy files: matrices of float32 or float64, little endian, C or Fortran order, format versions 1 to 3.
// Own code: Debian 12's one library that reads them, xtensor (load_npy), believes a header's sizes and takes one number type a
// call.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <filesystem>
#include <string>

namespace phaselock {

/// What the header of a .npy file promises.
struct NpyHeader {
  std::int64_t rows, columns;
  int item_size;  ///< 4 or 8 bytes
  bool fortran_order;
  std::int64_t data_at;  ///< offset of the first number in the file
};

/// Reads and checks the header, and that the file holds exactly the numbers it promises. Reads no number. Throws Failure:
/// cannot_read for a missing file, bad_data for anything but a matrix as above.
NpyHeader read_npy_header(const std::filesystem::path& file);

/// The matrix as [rows][columns]. Throws Failure as above, and bad_data if an entry is not finite.
Eigen::MatrixXd read_npy(const std::filesystem::path& file);

}  // namespace phaselock
