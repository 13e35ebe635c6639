#include "ui/views/run_metrics.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "read/trial/printed_metrics.h"
#include "read/trial/trial_access.h"

namespace trainwarden::views {
namespace {

bool is_own(const std::string& name) {
  return name.starts_with("trainwarden/") || name.starts_with("phase/") || name.starts_with("phase_");
}

struct LastNumber {
  Mode mode = Mode::kGlobal;
  double value = 0;
};

std::vector<LastNumber> last_numbers(Trial& trial, const std::string& tensor) {
  std::vector<LastNumber> found;
  for (const Mode mode : trial.modes()) {
    const auto step = TrialAccess::newest_step_of(trial, tensor, Kept::kScalar | Kept::kValue, mode);
    if (!step) continue;
    const auto value = trial.scalar(tensor, *step);
    if (value.ok()) found.push_back({mode, *value});
  }
  return found;
}

void add_tensors(Trial& trial, const char* collection, std::set<std::string>& seen, RunMetrics& metrics) {
  const auto names = trial.tensor_names({.include = {}, .collection = collection, .mode = {}, .step = {}});
  for (const std::string& tensor : names.value_or({})) {
    if (metrics.size() >= kMostRunMetrics) return;
    if (is_own(tensor) || !seen.insert(tensor).second) continue;
    const std::vector<LastNumber> numbers = last_numbers(trial, tensor);
    for (const auto& [mode, value] : numbers) {
      metrics.emplace_back(numbers.size() == 1 ? tensor : fmt::format("{} ({})", tensor, name(mode)), value);
    }
  }
}

// Of several workers' outputs the first one's.
void add_printed(Trial& trial, std::set<std::string>& seen, RunMetrics& metrics) {
  for (const trial::LastPrinted& last : trial::last_printed(trial, kMostRunMetrics).value_or({})) {
    const std::string& name = last.metric.metric.name;
    if (seen.insert(name).second) metrics.emplace_back(name, last.value.value);
  }
}

}  // namespace

RunMetrics read_run_metrics(Trial& trial) {
  RunMetrics metrics;
  std::set<std::string> seen;
  add_tensors(trial, "losses", seen, metrics);
  add_tensors(trial, "scalars", seen, metrics);
  add_printed(trial, seen, metrics);
  if (metrics.size() > kMostRunMetrics) metrics.resize(kMostRunMetrics);
  return metrics;
}

}  // namespace trainwarden::views
