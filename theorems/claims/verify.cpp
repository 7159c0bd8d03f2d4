// The suites behind `verify`: which checks they hold, and running them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "claims/claims.hpp"
#include "model/errors.hpp"
#include "model/interrupt.hpp"

namespace phaselock {

namespace {

constexpr std::string_view names[] = {"toy", "theorem1", "theorem2", "coverage", "all"};  // as ClaimGroup, and all of them

void append(Checks& suite, Checks more) { std::move(more.begin(), more.end(), std::back_inserter(suite)); }

void append_group(Checks& suite, ClaimGroup group, const VerifyOptions& options) {
  for (const auto member : {&Claim::checks, &Claim::controls})
    for (const Claim* claim : all_claims())
      if (claim->group == group && claim->*member) append(suite, (claim->*member)(options));
}

}  // namespace

Check check_one(std::string what, std::function<ClaimResult()> run) {
  return {std::move(what), [run = std::move(run)] { return std::vector{run()}; }};
}

Check check_control(std::string what, std::string expected, std::function<ClaimResult()> run) {
  return check_one(std::move(what), [expected = std::move(expected), run = std::move(run)] {
    ClaimResult result = run();
    result.expected = expected;
    return result;
  });
}

const Claim* find_claim(std::string_view id) {
  const auto claims = all_claims();
  const auto found = std::find_if(claims.begin(), claims.end(), [&](const Claim* claim) { return claim->id == id; });
  return found == claims.end() ? nullptr : *found;
}

std::span<const std::string_view> suite_names() { return names; }

Checks suite(std::string_view name, const VerifyOptions& options) {
  if (options.model) validate(*options.model);
  if (std::find(std::begin(names), std::end(names), name) == std::end(names))
    throw DomainError(fmt::format("verify {}: must be one of {}", name, fmt::join(names, ", ")));
  Checks suite;
  for (const ClaimGroup group : {ClaimGroup::toy, ClaimGroup::theorem1, ClaimGroup::theorem2, ClaimGroup::coverage})
    if (name == "all" || name == names[std::size_t(group)]) append_group(suite, group, options);
  return suite;
}

std::vector<ClaimResult> verify(std::string_view name, const VerifyOptions& options) {
  const Checks checks = suite(name, options);
  std::vector<ClaimResult> results;
  for (std::size_t k = 0; k < checks.size(); ++k) {
    check_interrupt();
    options.progress(checks[k].what, int(k), int(checks.size()));
    for (ClaimResult& result : checks[k].run()) results.push_back(std::move(result));
  }
  options.progress("done", int(checks.size()), int(checks.size()));
  return results;
}

}  // namespace phaselock
