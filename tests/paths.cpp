#include "paths.hpp"

namespace phaselock::test::paths {

const std::string data_folder = TEST_DATA, scenario_folder = SCENARIO_DIR;
const std::string program = PHASELOCK_PROGRAM, checker = PHASELOCK_CHECKER, python = PHASELOCK_PYTHON;
const std::string mpi_program = PHASELOCK_MPI_PROGRAM;

}  // namespace phaselock::test::paths
