#include "claims/judge_share.hpp"

#include "statistics/intervals.hpp"

namespace phaselock {

Verdict judge_share(std::int64_t successes, std::int64_t trials) {
  constexpr double least_share = 0.95;
  const Interval interval = clopper_pearson(successes, trials, 0.95);
  if (interval.low >= least_share) return Verdict::supported;
  return interval.high < least_share ? Verdict::refuted : Verdict::undecided;
}

void tell_share(std::int64_t successes, std::int64_t trials, nlohmann::ordered_json& evidence) {
  const Interval interval = clopper_pearson(successes, trials, 0.95);
  evidence["successes"] = successes;
  evidence["trials"] = trials;
  evidence["interval"] = {interval.low, interval.high};
}

}  // namespace phaselock
