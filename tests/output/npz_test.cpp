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

/// Writes a.npz of a table's text into the folder.
void put_archive(const TempFolder& folder, const std::string& csv) {
  std::istringstream text(csv);
  put_npz(folder / "a.npz", folder / "a.npz.partial", text);
}

}  // namespace

TEST_SUITE("fast") {
  TEST_CASE("what an array is of depends on all cells of its column; words of different lengths keep theirs") {
    const TempFolder folder;
    put_archive(folder,
                "# comment\nword,whole,real,late,code\n"
                "longest,1,1,1,7x\n"
                "ab,-2,,2,8\n"
                ",3,2.5e3,x,9\n");
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
    const TempFolder folder;
    CHECK_THROWS_WITH_AS(put_archive(folder, "# comment\nx,y\n1,2\n1\n"), "a table's row has 1 cells, its header 2", Failure);
  }
}
