#include "kinds/provenance.hpp"

#include <fmt/format.h>
#include <hwy/highway.h>
#include <tbb/global_control.h>
#include <tbb/version.h>
#include <CLI/Version.hpp>
#include <Eigen/Core>
#include <boost/version.hpp>

#include <charconv>

#include "build_info.hpp"
#include "kernels/ensemble_kernel.hpp"
#include "schema/schema.hpp"
#include "sweep/sqlite.hpp"

namespace phaselock {

std::vector<std::pair<std::string, std::string>> library_versions() {
  return {{"Eigen", fmt::format("{}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION)},
          {"Boost", fmt::format("{}.{}.{}", BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000, BOOST_VERSION % 100)},
          {"Ceres", build_info::ceres_version},
          {"Highway", fmt::format("{}.{}.{}", HWY_MAJOR, HWY_MINOR, HWY_PATCH)},
          {"oneTBB", fmt::format("{}.{}", TBB_VERSION_MAJOR, TBB_VERSION_MINOR)},
          {"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
          {"nlohmann_json",
           fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH)},
          {"toml++", toml_library_version()},
          {"SQLite", sqlite_version()},
          {"CLI11", CLI11_VERSION}};
}

std::string simd_target() { return Eigen::SimdInstructionSetsInUse(); }

std::string simd_at_run_time() { return ensemble_target(); }

std::string simd_of_machine() {
#if defined(__x86_64__)
  std::string sets = "SSE2";
  if (__builtin_cpu_supports("sse4.2")) sets += ", SSE4.2";
  if (__builtin_cpu_supports("avx2")) sets += ", AVX2";
  if (__builtin_cpu_supports("fma")) sets += ", FMA";
  if (__builtin_cpu_supports("avx512f")) sets += ", AVX512F";
  return sets;
#else
  return "unknown";
#endif
}

int thread_count() { return int(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism)); }

Json seeds_json(const Scenario& scenario) {
  Json seeds = Json::object();
  for (const Key* key : keys_of(*scenario.kind)) {
    if (!key->path.ends_with("seed") || !key->has_effect(scenario)) continue;
    const std::string text = value_text(*key, scenario).value();
    std::uint64_t seed = 0;
    std::from_chars(text.data(), text.data() + text.size(), seed);
    seeds[std::string(key->path)] = seed;
  }
  return seeds;
}

Json provenance_json(Json seeds, std::chrono::steady_clock::time_point started) {
  Json libraries = Json::object();
  for (const auto& [library, version] : library_versions()) libraries[library] = version;
  return {{"version", build_info::version},
          {"git_commit", build_info::git_commit},
          {"compiler", build_info::compiler},
          {"flags", build_info::flags},
          {"build_type", build_info::build_type},
          {"libraries", std::move(libraries)},
          {"simd_target", simd_target()},
          {"simd_at_run_time", simd_at_run_time()},
          {"simd_of_machine", simd_of_machine()},
          {"threads", thread_count()},
          {"seeds", std::move(seeds)},
          {"wall_time_seconds", std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count()}};
}

}  // namespace phaselock
