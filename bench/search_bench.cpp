// Time of the product's oracle search: search_bench CASES.json starts [seconds]
// CASES.json is an array of {"L", "S", "H", "N", "gamma", "beta"}. One thread. Prints one JSON line: for each case the least and
// median microseconds a start of the whole search, patterns included, and the optimum found.
#include <fmt/format.h>
#include <tbb/global_control.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "search/search.hpp"
#include "stopwatch.hpp"

int main(int argc, char** argv) {
  using namespace phaselock;
  if (argc < 3) {
    fmt::print(stderr, "usage: search_bench CASES.json starts [seconds]\n");
    return 64;
  }
  std::ifstream file(argv[1]);
  const auto cases = nlohmann::json::parse(file);
  const SearchOptions options{std::atoi(argv[2]), 1};
  const double seconds = argc > 3 ? std::atof(argv[3]) : 0.5;
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 1);
  nlohmann::json out = nlohmann::json::array();
  for (const auto& c : cases) {
    const SingleBlock model{c["L"], c["S"], c["H"], c["N"], c["gamma"], c["beta"]};
    const Geometry geometry = Geometry::exact(1.0, model.vocabulary);
    const Contexts contexts = sample_independent(model, 1, 1);
    double loss = 0.0;
    const bench::Times times = bench::repeat(
        seconds / double(cases.size()), [&] { loss = search_oracle(model, geometry, contexts[0], options).better(); },
        1e6 / options.starts);
    out.push_back({{"us_min", times.least}, {"us_median", times.median}, {"optimum", loss}});
  }
  fmt::print("{}\n", out.dump());
}
