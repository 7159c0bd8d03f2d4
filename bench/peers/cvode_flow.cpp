// SUNDIALS peer of the static flow: CVODE's Adams method with functional iteration, in log time s = log(1 + t) (docs/theory.md,
// sections 2 and 3), with a right-hand side of its own.   cvode_flow INITIAL.json seeds [until] INITIAL.json holds biases
// [seeds][2][H][S]; (L, S, H, N) = (4, 4, 3, 64), gamma = beta = kappa = 1, rtol 1e-8, atol 1e-10. Prints one JSON line:
// microseconds of CPU a seed (best of three) and the largest error of a final bias against the same method at 1e-13.
#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_context.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

namespace {

constexpr int L = 4, S = 4, H = 3, N = 64, size = 2 * H * S;
constexpr double c = 1.0 + 1.0 / N;

/// db/ds = -c e^s dLoss/db.
int velocity(double s, N_Vector y, N_Vector dyds, void*) {
  const double* b = NV_DATA_S(y);
  double *out = NV_DATA_S(dyds), p[size], d[size] = {};
  for (int g = 0; g < size; g += S) {
    const double top = *std::max_element(b + g, b + g + S);
    double total = 0.0;
    for (int r = 0; r < S; ++r) total += p[g + r] = std::exp(b[g + r] - top);
    for (int r = 0; r < S; ++r) p[g + r] /= total;
  }
  const double* value = p + H * S;
  double* dvalue = d + H * S;
  for (int q = 0; q < S - 1; ++q) {
    double w[H], o[H], right[S], other[S], Z = N - L * S;
    for (int h = 0; h < H; ++h) {
      const double grown = std::exp(p[h * S + q]);
      w[h] = grown / (grown + L - 1);
      o[h] = 1.0 / (grown + L - 1);
    }
    for (int r = 0; r < S; ++r) {
      double m_right = 0.0, m_other = 0.0;
      for (int h = 0; h < H; ++h) {
        m_right += w[h] * value[h * S + r];
        m_other += o[h] * value[h * S + r];
      }
      right[r] = std::exp(m_right);
      other[r] = std::exp(m_other);
      Z += right[r] + (L - 1) * other[r];
    }
    for (int h = 0; h < H; ++h) {
      double dw = 0.0, d_o = 0.0;
      for (int r = 0; r < S; ++r) {
        const double d_right = (right[r] / Z - (r == q + 1)) / (S - 1), d_other = (L - 1) * other[r] / Z / (S - 1);
        dvalue[h * S + r] += w[h] * d_right + o[h] * d_other;
        dw += value[h * S + r] * d_right;
        d_o += value[h * S + r] * d_other;
      }
      d[h * S + q] += w[h] * (1.0 - w[h]) * (dw - d_o / (L - 1));
    }
  }
  const double speed = -c * std::exp(s);
  for (int g = 0; g < size; g += S) {
    double mean = 0.0;
    for (int r = 0; r < S; ++r) mean += p[g + r] * d[g + r];
    for (int r = 0; r < S; ++r) out[g + r] = speed * p[g + r] * (d[g + r] - mean);
  }
  return 0;
}

void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "CVODE: %s failed\n", what);
  std::exit(70);
}

using Bias = std::array<double, size>;

Bias solve(SUNContext context, const Bias& start, double until, double rtol, double atol) {
  N_Vector y = N_VNew_Serial(size, context);
  std::copy(start.begin(), start.end(), NV_DATA_S(y));
  void* cvode = CVodeCreate(CV_ADAMS, context);
  require(CVodeInit(cvode, velocity, 0.0, y) == CV_SUCCESS, "CVodeInit");
  require(CVodeSStolerances(cvode, rtol, atol) == CV_SUCCESS, "CVodeSStolerances");
  require(CVodeSetMaxNumSteps(cvode, 1000000) == CV_SUCCESS, "CVodeSetMaxNumSteps");
  SUNNonlinearSolver iteration = SUNNonlinSol_FixedPoint(y, 0, context);
  require(CVodeSetNonlinearSolver(cvode, iteration) == CV_SUCCESS, "CVodeSetNonlinearSolver");
  const double end = std::log1p(until);
  require(CVodeSetStopTime(cvode, end) == CV_SUCCESS, "CVodeSetStopTime");
  double reached = 0.0;
  require(CVode(cvode, end, y, &reached, CV_NORMAL) >= 0, "CVode");
  Bias out;
  std::copy_n(NV_DATA_S(y), size, out.begin());
  CVodeFree(&cvode);
  SUNNonlinSolFree(iteration);
  N_VDestroy(y);
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 64;
  std::ifstream file(argv[1]);
  const auto starts = nlohmann::json::parse(file);
  const std::size_t seeds = std::min<std::size_t>(starts.size(), std::strtoul(argv[2], nullptr, 10));
  const double until = argc > 3 ? std::atof(argv[3]) : 1e6;
  SUNContext context;
  require(SUNContext_Create(nullptr, &context) == 0, "SUNContext_Create");
  double total = 0.0, error = 0.0;
  for (std::size_t k = 0; k < seeds; ++k) {
    Bias start;
    for (std::size_t j = 0; j < size; ++j) start[j] = starts[k].at(j).get<double>();
    Bias end{};
    double best = std::numeric_limits<double>::infinity();
    for (int repetition = 0; repetition < 3; ++repetition) {
      const std::clock_t begin = std::clock();
      end = solve(context, start, until, 1e-8, 1e-10);
      best = std::min(best, double(std::clock() - begin) / CLOCKS_PER_SEC);
    }
    total += best;
    const Bias exact = solve(context, start, until, 1e-13, 1e-13);
    for (int j = 0; j < size; ++j) error = std::max(error, std::abs(end[j] - exact[j]));
  }
  std::printf("{\"us_per_seed\": %.6g, \"error\": %.3g}\n", 1e6 * total / double(seeds), error);
  SUNContext_Free(&context);
}
