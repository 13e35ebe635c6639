#include "judge/rules/builtin/profiler/finding.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace {

constexpr double kMostRemoved = 0.99;

}  // namespace

double gain_of_removing(double share) {
  return 1 / (1 - std::clamp(share, 0.0, kMostRemoved));
}

Cost cost_of(const ShareRange& share, const Removable& removable) {
  Cost cost;
  cost.step_share = std::clamp(share.mean, 0.0, 1.0);
  cost.gain = gain_of_removing(share.mean * removable.expected);
  cost.gain_min = std::min(cost.gain, gain_of_removing(share.low * removable.least));
  cost.gain_max = std::max(cost.gain, gain_of_removing(share.high * removable.most));
  return cost;
}

Verdict finding(std::string message, std::string advice, const Cost& cost, std::vector<Evidence> own,
                std::int64_t global_step, Severity severity) {
  std::vector<Evidence> evidence;
  const auto add = [&](const char* quantity, double value) {
    evidence.push_back({"", "", quantity, value, 0, global_step});
  };
  add("step_share", cost.step_share);
  add("gain", cost.gain);
  add("gain_min", cost.gain_min);
  add("gain_max", cost.gain_max);
  std::move(own.begin(), own.end(), std::back_inserter(evidence));
  return fired(std::move(message), std::move(advice), std::move(evidence), severity);
}

std::string gain_text(const Cost& cost) {
  return fmt::format("{:.3g} times as fast ({:.3g} to {:.3g})", cost.gain, cost.gain_min, cost.gain_max);
}

}  // namespace trainwarden::rules
