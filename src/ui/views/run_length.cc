#include "ui/views/run_length.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "read/trial/trial_access.h"

namespace trainwarden::views {
namespace {

// Names such as "steps" are left out: they also count other things than the steps of a training.
constexpr const char* kStepLabels[] = {"total_steps", "max_steps", "train_steps", "max_train_steps", "num_train_steps"};
constexpr const char* kEpochLabels[] = {"epochs", "num_epochs", "n_epochs", "max_epochs", "num_train_epochs"};
constexpr const char* kEpochSignal = "trainwarden/batch/epoch";  // docs/format/signals.md
constexpr double kMostSteps = 1e12;

using SaidLabel = std::pair<std::string, std::int64_t>;

// Whole numbers above 0; "3.0" is one.
template <typename Names>
std::optional<SaidLabel> said_by(const Labels& labels, const Names& names) {
  for (const char* name : names) {
    const auto label = labels.find(name);
    const auto number = label == labels.end() ? std::nullopt : parse_double(label->second);
    if (!number || !(*number >= 1 && *number <= kMostSteps) || *number != std::floor(*number)) continue;
    return SaidLabel(name, static_cast<std::int64_t>(*number));
  }
  return std::nullopt;
}

Mode counted_mode(const Trial& trial) {
  const std::vector<Mode> modes = trial.modes();
  return std::find(modes.begin(), modes.end(), Mode::kTrain) != modes.end() ? Mode::kTrain : Mode::kGlobal;
}

// Steps of an epoch, from those that are over. None when the epoch before the newest had no train step: its data loader
// then gives batches to something else too, and its passes are not epochs.
std::optional<double> epoch_steps(Trial& trial, Mode mode) {
  const std::vector<std::int64_t> steps = trial.steps_of(kEpochSignal, mode, Kept::kScalar | Kept::kValue);
  const auto epoch_at = [&](std::int64_t step) { return trial.scalar(kEpochSignal, step, mode).value_or(-1); };
  if (steps.size() < 2) return std::nullopt;
  const double newest = epoch_at(steps.back());
  const auto first =
      std::partition_point(steps.begin(), steps.end(), [&](auto step) { return epoch_at(step) < newest; });
  if (newest < 1 || first == steps.begin() || epoch_at(*std::prev(first)) != newest - 1) return std::nullopt;
  return static_cast<double>(*first) / newest;
}

std::optional<RunLength> said_length(Trial& trial, const Labels& labels, Mode mode) {
  if (const auto steps = said_by(labels, kStepLabels)) {
    return RunLength{.total_steps = steps->second, .label = steps->first};
  }
  const auto epochs = said_by(labels, kEpochLabels);
  const auto each = epochs ? epoch_steps(trial, mode) : std::nullopt;
  if (!each) return std::nullopt;
  const auto total = std::llround(static_cast<double>(epochs->second) * *each);
  return RunLength{.total_steps = total, .label = epochs->first, .is_estimate = true};
}

std::optional<double> pace_of(const Trial& trial, Mode mode, const std::vector<std::int64_t>& steps) {
  const std::vector<std::string> workers = trial.workers();
  if (steps.size() < 2 || workers.empty()) return std::nullopt;
  const auto ended_ns = [&](std::int64_t step) {
    const auto global = trial.global_step(mode, step);
    return global ? TrialAccess::step_unix_ns(trial, workers[0], *global) : 0;
  };
  const std::int64_t first = steps[(steps.size() - 1) / 2];
  const std::int64_t first_ns = ended_ns(first), last_ns = ended_ns(steps.back());
  if (first_ns == 0 || last_ns <= first_ns) return std::nullopt;
  return static_cast<double>(steps.back() - first) * 1e9 / static_cast<double>(last_ns - first_ns);
}

}  // namespace

std::optional<SaidLabel> said_steps(const Labels& labels) {
  return said_by(labels, kStepLabels);
}

std::optional<RunLength> run_length(Trial& trial, const Labels& labels) {
  const Mode mode = counted_mode(trial);
  auto length = said_length(trial, labels, mode);
  if (!length) return std::nullopt;
  const std::vector<std::int64_t> steps = trial.steps(mode);
  length->done_steps = steps.empty() ? 0 : steps.back() + 1;
  const std::int64_t left = length->total_steps - length->done_steps;
  if (left < 0) return std::nullopt;
  const auto pace = trial.state() == RunState::kRunning ? pace_of(trial, mode, steps) : std::nullopt;
  if (pace && *pace > 0) length->seconds_left = std::llround(static_cast<double>(left) / *pace);
  return length;
}

}  // namespace trainwarden::views
