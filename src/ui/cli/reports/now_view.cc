#include "ui/cli/reports/now_view.h"

#include <array>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"

namespace trainwarden::cli {
namespace {

constexpr std::array<std::string_view, 6> kShownKinds = {"cpu",           "cgroup_cpu", "memory",
                                                         "cgroup_memory", "gpu",        "gpu_memory"};
constexpr std::size_t kMostPhasesShown = 8;
constexpr std::size_t kMostPhases = 5;
constexpr double kLeastShare = 0.01;

bool is_shown(const views::UsageNow& usage) {
  for (const std::string_view kind : kShownKinds) {
    if (usage.kind == kind) return true;
  }
  return false;
}

}  // namespace

std::string machine_text(const views::ProfileNow& now) {
  std::vector<std::string> parts;
  for (const views::UsageNow& usage : now.usage) {
    if (!is_shown(usage) || parts.size() == kMostPhasesShown) continue;
    const bool is_device = usage.kind.starts_with("gpu");
    const std::string label = usage.kind == "gpu" ? usage.instance
                              : is_device         ? usage.label + " " + usage.instance
                                                  : usage.label;
    parts.push_back(fmt::format("{} {:.0f} %", printable(label), usage.value));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string phases_text(const views::ProfileNow& now) {
  std::vector<std::string> parts;
  for (const views::PhaseNow& phase : now.phases) {
    if (phase.share < kLeastShare || parts.size() == kMostPhases) break;
    parts.push_back(fmt::format("{} {:.0f} %", printable(phase.phase), 100 * phase.share));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace trainwarden::cli
