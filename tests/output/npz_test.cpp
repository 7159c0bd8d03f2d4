// NumPy archives of tables.
#include "output/npz.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <string>

#include "output/failure.hpp"
#include "program/program.hpp"

using namespace phaselock;
using namespace phaselock::test;

namespace {

std::string archive_of(const std::string& csv) {
  std::istringstream text(csv);
  std::string archive;
  write_npz(text, [&](std::string_view piece) { archive += piece; });
  return archive;
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("what an array is of depends on all cells of its column; words of different lengths keep theirs") {
    const TempFolder folder;
    folder.write("a.npz", archive_of("# comment\nword,whole,real,late,code\n"
                                     "longest,1,1,1,7x\n"
                                     "ab,-2,,2,8\n"
                                     ",3,2.5e3,x,9\n"));
    const Outcome outcome = run({paths::python, "-c",
                                 "import numpy as np; a = np.load('a.npz')\n"
                                 "for name in a.files: print(name, a[name].dtype, a[name].tolist())"},
                                folder.path());
    CHECK(outcome.out ==
          "word <U7 ['longest', 'ab', '']\n"
          "whole int64 [1, -2, 3]\n"
          "real float64 [1.0, nan, 2500.0]\n"
          "late <U1 ['1', '2', 'x']\n"
          "code <U2 ['7x', '8', '9']\n");
  }

  TEST_CASE("a row of another length than the header is bad data") {
    CHECK_THROWS_WITH_AS(archive_of("x,y\n1,2\n1\n"), "a table's row has 1 cells, its header 2", Failure);
  }
}
