// Machine: memory that grows, and time that goes by while the training waits.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/base/text.h"
#include "judge/diagnosis/finding.h"

namespace trainwarden::diagnosis {
namespace {

// What each of the evaluations has added, where nearly all of them have: the median. 0: they do not.
double grown_by_evaluations(const Case& seen) {
  constexpr std::size_t kEnough = 6;
  Values grown;
  std::int64_t last = -1;
  for (const Evaluated& each : seen.history.evaluations) {
    if (each.after_step <= last) continue;
    last = each.after_step;
    const auto& memory = seen.history.memory;
    const auto after = std::upper_bound(memory.begin(), memory.end(), each.after_step,
                                        [](std::int64_t step, const auto& reading) { return step < reading.first; });
    if (after != memory.begin() && after != memory.end()) grown.push_back(after->second - (after - 1)->second);
  }
  if (grown.size() < kEnough) return 0;
  const double middle = median(grown);
  const auto alike = std::count_if(grown.begin(), grown.end(), [&](double each) { return each > 0.5 * middle; });
  return 10 * static_cast<std::size_t>(alike) >= 8 * grown.size() ? middle : 0;
}

// Whatever an evaluation makes is there for ever, as graphs are behind losses that were kept.
void look_for_leak_of_evaluations(const Case& seen, Findings& findings) {
  constexpr double kMuch = 8e6, kMuchOfAll = 0.2;
  const double grown = grown_by_evaluations(seen);
  const auto times = static_cast<double>(seen.history.evaluations.size());
  if (grown < kMuch || grown * times < kMuchOfAll * seen.history.memory.front().second) return;
  findings.push_back(
      {"memory_leak",
       0.85,
       fmt::format("Memory grows with every evaluation, by {} each", format_bytes(static_cast<std::uint64_t>(grown))),
       {fmt::format("over {:.0f} of them", times), "losses and outputs that are kept keep their graphs: detach them"},
       {},
       seen.history.evaluations.front().after_step,
       {}});
}

void look_for_memory_leak(const Case& seen, Findings& findings) {
  std::vector<std::pair<double, double>> points;  // step, bytes
  for (const auto& [step, bytes] : seen.history.memory) {
    if (step >= 20) points.emplace_back(static_cast<double>(step), bytes);
  }
  if (points.size() < 6) return;
  const double grown = points.back().second - points.front().second;
  const double steps = points.back().first - points.front().first;
  if (grown < 24e6 || steps < 20) return;
  // It must grow all along: in each third of the steps about its part.
  std::array<double, 4> at{};
  for (std::size_t i = 0; i < 4; ++i) {
    const double wanted = points.front().first + steps * static_cast<double>(i) / 3;
    const auto after =
        std::find_if(points.begin() + 1, points.end() - 1, [&](const auto& each) { return each.first >= wanted; });
    const auto before = after - 1;
    const double share = after->first > before->first ? (wanted - before->first) / (after->first - before->first) : 1;
    at[i] = before->second + std::clamp(share, 0.0, 1.0) * (after->second - before->second);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    if (at[i + 1] - at[i] < 0.22 * grown) return;
  }
  std::size_t rises = 0;  // a leak grows from look to look, an allocator now and then by a piece
  for (std::size_t i = 1; i < points.size(); ++i) {
    const double part = grown * (points[i].first - points[i - 1].first) / steps;
    rises += points[i].second - points[i - 1].second > 0.25 * part ? 1 : 0;
  }
  if (2 * rises < points.size()) return;
  // An allocator that has yet to find its size grows by as little.
  constexpr double kMuchBytes = 64e6, kMuchShare = 0.2;
  const bool is_much = grown > kMuchBytes || grown > kMuchShare * points.front().second;
  findings.push_back({"memory_leak",
                      is_much ? 0.88 : 0.45,
                      fmt::format("Memory grows with every step, by {} in {:.0f} steps",
                                  format_bytes(static_cast<std::uint64_t>(grown)), steps),
                      {fmt::format("{} a step", format_bytes(static_cast<std::uint64_t>(grown / steps)))},
                      {},
                      static_cast<std::int64_t>(points.front().first),
                      {}});
}

// Small trainings may well wait a little for each batch: what counts is what can be felt.
void look_for_slow_loading(const Case& seen, Findings& findings) {
  constexpr double kShare = 0.6, kSecondsOfStep = 0.005, kMinSeconds = 2, kMinSteps = 20;
  const auto total = [&](std::string_view name) {
    const auto found = seen.history.signals.find(name);
    return found == seen.history.signals.end() || found->second.empty() ? 0 : found->second.values.back();
  };
  const double wall = total(kWallSeconds), steps = total(kCountedSteps),
               wait = total(kDataWaitSeconds) + total(kDataStartSeconds);
  if (wall < kMinSeconds || steps < kMinSteps || wait < kShare * wall || wait < kSecondsOfStep * steps) return;
  findings.push_back(
      {"slow_data_loading",
       0.85,
       fmt::format("The training waits for its data {:.0f} % of the time", 100 * wait / wall),
       {fmt::format("{:.1f} of {:.1f} s in {} steps, {:.3g} ms a step", wait, wall, steps, 1000 * wait / steps)},
       {},
       0,
       {}});
}

}  // namespace

void look_at_machine(const Case& seen, Findings& findings) {
  look_for_memory_leak(seen, findings);
  if (findings.empty() || findings.back().cause != "memory_leak") look_for_leak_of_evaluations(seen, findings);
  look_for_slow_loading(seen, findings);
}

}  // namespace trainwarden::diagnosis
