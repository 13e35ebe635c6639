#include "read/trial/step_text.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"

namespace trainwarden::trial {
namespace {

constexpr std::ptrdiff_t kStepsOnEachSide = 2;
constexpr std::size_t kNamesShown = 3;

}  // namespace

std::string step_text(std::int64_t step, Mode mode) {
  return mode == Mode::kGlobal ? fmt::format("step {}", step) : fmt::format("{} step {}", name(mode), step);
}

std::string nearest_steps(std::span<const std::int64_t> steps, std::int64_t step) {
  if (steps.empty()) return "none";
  const auto middle = std::lower_bound(steps.begin(), steps.end(), step);
  const auto first = middle - std::min(kStepsOnEachSide, middle - steps.begin());
  const auto last = middle + std::min(kStepsOnEachSide, steps.end() - middle);
  return fmt::format("{}", fmt::join(first, last, ", "));
}

std::string name_hint(std::string_view typed, std::span<const std::string> names) {
  if (const std::string slip = did_you_mean(typed, names); !slip.empty()) return slip;
  const std::string wanted = lower(typed);
  std::vector<std::string> alike;
  for (const std::string& name : names) {
    if (wanted.empty() || lower(name).find(wanted) == std::string::npos) continue;
    alike.push_back(fmt::format("\"{}\"", printable(name)));
    if (alike.size() == kNamesShown) break;
  }
  return alike.empty() ? "" : fmt::format("; names like it are {}", fmt::join(alike, ", "));
}

}  // namespace trainwarden::trial
