// Time of the product's loss and gradient of linear gate tables:
//   loss_bench L S H N count threads [--seconds T] [--dense] [--dump DIR]
// beta = gamma = kappa = 1, double, `count` independent contexts, standard normal tables; all through TableLoss, whatever kernel
// is behind it. Prints one JSON line: minimum and median over repetitions, microseconds a context. --dense hides from the product
// that the geometry is exact, --dump writes contexts (int32), tables and gradient (double) as raw files for a peer to check.
#include <fmt/format.h>
#include <tbb/global_control.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "kernels/table_loss.hpp"
#include "loss/geometry.hpp"
#include "model/contexts.hpp"
#include "model/random.hpp"
#include "stopwatch.hpp"

namespace {

using namespace phaselock;

template <class T>
void dump(const std::string& file, const std::vector<T>& values) {
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(values.data()), std::streamsize(values.size() * sizeof(T)));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 7) {
    fmt::print(stderr, "usage: loss_bench L S H N count threads [--seconds T] [--dense] [--dump DIR]\n");
    return 64;
  }
  const SingleBlock model{std::atoi(argv[1]), std::atoi(argv[2]), std::atoi(argv[3]), std::atoi(argv[4]), 1.0, 1.0};
  validate(model);
  const std::size_t count = std::strtoul(argv[5], nullptr, 10);
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, std::strtoul(argv[6], nullptr, 10));
  double seconds = 0.5;
  bool dense = false;
  std::string folder;
  for (int i = 7; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--dense")) dense = true;
    if (!std::strcmp(argv[i], "--seconds") && i + 1 < argc) seconds = std::atof(argv[i + 1]);
    if (!std::strcmp(argv[i], "--dump") && i + 1 < argc) folder = argv[i + 1];
  }
  const int N = model.vocabulary;
  const Geometry geometry =
      dense ? Geometry::dense(Eigen::MatrixXd::Ones(N, N) + Eigen::MatrixXd::Identity(N, N)) : Geometry::exact(1.0, N);
  const Contexts contexts = sample_independent(model, count, 1);
  std::vector<double> tables(model.table_size()), gradient(tables.size());
  Stream stream(1, Purpose::search_start, 0);
  for (double& g : tables) g = stream.normal();

  double loss = 0.0;
  TableLoss table_loss_of(model, geometry, contexts);
  const bench::Times times = bench::repeat(
      seconds, [&] { loss = table_loss_of(tables, gradient); }, 1e6 / double(count));
  if (!folder.empty()) {
    dump(folder + "/contexts", contexts.tokens());
    dump(folder + "/tables", tables);
    dump(folder + "/gradient", gradient);
  }
  fmt::print("{{\"us_min\": {:.6g}, \"us_median\": {:.6g}, \"repetitions\": {}, \"loss\": {:.17g}}}\n", times.least, times.median,
             times.repetitions, loss);
}
