#include "tune/study/study_warnings.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tune/search/gp/regret_bound.h"

namespace trainwarden::tune {
namespace {

// The first complete trial of each version of code and data.
std::vector<std::string> versions_of(const StudyState& state) {
  std::map<std::string, std::size_t> first;
  const auto& trials = state.history().trials;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const std::string& fingerprint = state.record(i).fingerprint;
    if (trials[i].state == TrialState::kComplete && !fingerprint.empty()) first.emplace(fingerprint, i);
  }
  std::vector<std::size_t> numbers;
  for (const auto& [fingerprint, number] : first) numbers.push_back(number);
  std::sort(numbers.begin(), numbers.end());
  std::vector<std::string> texts;
  for (const std::size_t number : numbers) texts.push_back(std::to_string(number));
  return texts;
}

}  // namespace

std::vector<std::string> study_warnings(const StudySpec& spec, const StudyState& state) {
  constexpr std::size_t kMaxVersions = 10;
  std::vector<std::string> warnings;
  std::vector<std::string> versions = versions_of(state);
  if (versions.size() > 1) {
    const std::size_t count = versions.size();
    versions.resize(std::min(count, kMaxVersions));
    warnings.push_back(fmt::format(
        "trials of different code or data are compared: there are {} versions, the first trials of which are "
        "{}{}",
        count, fmt::join(versions, ", "), count > kMaxVersions ? ", ..." : ""));
  }
  const std::string unknown = why_regret_is_unknown(spec.space, spec.metrics);
  if (spec.budget.regret && !unknown.empty()) {
    warnings.push_back(
        fmt::format("budget.regret never ends this study, for how much is left to gain cannot be known: {}", unknown));
  }
  return warnings;
}

}  // namespace trainwarden::tune
