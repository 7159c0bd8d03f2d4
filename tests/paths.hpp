// Where the build put what tests run and read. One file is compiled with these paths, so that the others do not depend on them.
#pragma once

#include <string>

namespace phaselock::test::paths {

extern const std::string data_folder, scenario_folder;  ///< tests/data, scenarios
extern const std::string program, checker, python;      ///< phaselock, phaselock-check, the interpreter
extern const std::string mpi_program;                   ///< phaselock-mpi; empty: not built

}  // namespace phaselock::test::paths
