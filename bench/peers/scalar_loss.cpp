// Scalar peer: loss and gradient of gate tables as a straightforward C++ loop (docs/theory.md, section 2), none of the product's
// code; every buffer is allocated once.   scalar_loss FOLDER L S H N seconds
// FOLDER holds contexts (int32) and tables (double) as `loss_bench --dump` writes them, beta = gamma = 1. Prints one JSON line:
// minimum and median microseconds a context, loss, and the largest difference of the gradient from FOLDER/gradient.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "../stopwatch.hpp"

namespace {

template <class T>
std::vector<T> read(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), {});
  const T* values = reinterpret_cast<const T*>(bytes.data());
  return {values, values + bytes.size() / sizeof(T)};
}

struct Loop {
  int L, S, H, N;
  std::vector<double> p, dp;  // gates and dLoss/dgates of one context, [2][H][L][S]
  std::vector<double> w, o, dw, d_o, e;

  Loop(int blocks, int positions, int heads, int vocabulary)
      : L(blocks), S(positions), H(heads), N(vocabulary), p(2 * H * L * S), dp(p.size()), w(H), o(H), dw(H), d_o(H), e(L * S) {}

  double context(const std::int32_t* tokens, const double* tables, double weight, double* gradient) {
    const int slots = L * S;
    for (int g = 0; g < 2 * H; ++g)
      for (int l = 0; l < L; ++l) {
        double* gate = &p[g * slots + l * S];
        double total = 0.0;
        for (int s = 0; s < S; ++s) total += gate[s] = std::exp(tables[(std::size_t(g) * S + s) * N + tokens[l * S + s]]);
        for (int s = 0; s < S; ++s) gate[s] /= total;
      }
    for (double& x : dp) x = 0.0;
    const double* value = &p[H * slots];
    double* dvalue = &dp[H * slots];
    const double per_query = 1.0 / (L * (S - 1));
    double loss = 0.0;
    for (int block = 0; block < L; ++block)
      for (int q = 0; q < S - 1; ++q) {
        for (int h = 0; h < H; ++h) {
          const double grown = std::exp(p[h * slots + block * S + q]);
          w[h] = grown / (grown + L - 1);
          o[h] = 1.0 / (grown + L - 1);
          dw[h] = d_o[h] = 0.0;
        }
        double Z = N - slots;
        const int answer = block * S + q + 1;
        for (int j = 0; j < slots; ++j) {
          const double* a = j / S == block ? w.data() : o.data();
          double m = 0.0;
          for (int h = 0; h < H; ++h) m += a[h] * value[h * slots + j];
          Z += e[j] = std::exp(m);
          if (j == answer) loss -= per_query * m;
        }
        loss += per_query * std::log(Z);
        for (int j = 0; j < slots; ++j) {
          const double dm = per_query * (e[j] / Z - (j == answer));
          const double* a = j / S == block ? w.data() : o.data();
          double* da = j / S == block ? dw.data() : d_o.data();
          for (int h = 0; h < H; ++h) {
            dvalue[h * slots + j] += a[h] * dm;
            da[h] += dm * value[h * slots + j];
          }
        }
        for (int h = 0; h < H; ++h) dp[h * slots + block * S + q] += w[h] * (1.0 - w[h]) * (dw[h] - d_o[h] / (L - 1));
      }
    for (int g = 0; g < 2 * H; ++g)
      for (int l = 0; l < L; ++l) {
        const double *gate = &p[g * slots + l * S], *d = &dp[g * slots + l * S];
        double mean = 0.0;
        for (int s = 0; s < S; ++s) mean += gate[s] * d[s];
        for (int s = 0; s < S; ++s) gradient[(std::size_t(g) * S + s) * N + tokens[l * S + s]] += weight * gate[s] * (d[s] - mean);
      }
    return weight * loss;
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) return 64;
  const std::string folder = argv[1];
  const int L = std::atoi(argv[2]), S = std::atoi(argv[3]), H = std::atoi(argv[4]), N = std::atoi(argv[5]);
  const auto contexts = read<std::int32_t>(folder + "/contexts");
  const auto tables = read<double>(folder + "/tables");
  const auto expected = read<double>(folder + "/gradient");
  const std::size_t count = contexts.size() / std::size_t(L * S);
  std::vector<double> gradient(tables.size());
  Loop loop(L, S, H, N);
  double loss = 0.0;
  const bench::Times times = bench::repeat(
      std::atof(argv[6]),
      [&] {
        loss = 0.0;
        std::fill(gradient.begin(), gradient.end(), 0.0);
        for (std::size_t m = 0; m < count; ++m)
          loss += loop.context(&contexts[m * std::size_t(L * S)], tables.data(), 1.0 / double(count), gradient.data());
      },
      1e6 / double(count));
  double difference = 0.0;
  for (std::size_t k = 0; k < gradient.size(); ++k) difference = std::max(difference, std::abs(gradient[k] - expected[k]));
  std::printf("{\"us_min\": %.6g, \"us_median\": %.6g, \"loss\": %.17g, \"gradient_difference\": %.3g}\n", times.least,
              times.median, loss, difference);
}
