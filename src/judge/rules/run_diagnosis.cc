#include "judge/rules/run_diagnosis.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "judge/rules/ranged_rule.h"
#include "judge/rules/registry.h"
#include "judge/rules/rule_history.h"
#include "judge/rules/signals.h"
#include "judge/rules/trial_memory.h"
#include "judge/rules/trial_window.h"
#include "read/trial/trial_access.h"
#include "store/storage/location.h"

namespace trainwarden::rules {
namespace {

constexpr std::string_view kPrefix = "trainwarden/";
constexpr std::string_view kExamination = "examination/";
constexpr std::string_view kNumbers = "examination/numbers";
constexpr std::string_view kBadSamples = "batch/bad_samples";

std::string_view bare_name(std::string_view name) {
  return name.substr(0, name.rfind('#'));
}

Status feed_text(const StepWindow& window, const TensorSpot& spot, std::string_view name,
                 diagnosis::TrainingHistory& history) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const SharedTensorValue value, window.value(spot));
  if (value.view.dtype == DType::kString && value.view.shape.element_count() == 1) {
    const std::string_view text = *static_cast<const std::string_view*>(value.view.data);
    if (name == kBadSamples) {
      history.take_bad_samples(text, window.mode_step());
    } else {
      history.take_text(name, text);
    }
  } else {
    ++history.unreadable;
  }
  return Status();
}

Status feed_numbers(const StepWindow& window, const TensorSpot& spot, diagnosis::TrainingHistory& history) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const SharedTensorValue value, window.value(spot));
  if (value.view.dtype != DType::kFloat64) {
    ++history.unreadable;
    return Status();
  }
  const auto count = static_cast<std::size_t>(value.view.element_count());
  history.take_numbers({static_cast<const double*>(value.view.data), count}, window.mode_step());
  return Status();
}

// Signals that a diagnosis knows; those that change nothing in it are not read.
bool is_known_signal(std::string_view name) {
  return name.substr(0, 15) == "stale_gradients" || name == "amp/skipped" || name.substr(0, 14) == "learning_rate/";
}

// How the time went, in sums over all steps.
Status feed_totals(const StepWindow& window, diagnosis::TrainingHistory& history) {
  static const TensorSelection kTotals{.patterns = {"^phase_total/(wall|data_wait|data_start|steps)$"}};
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto spots, window.select(kTotals));
  for (const TensorSpot& spot : spots) {
    if (spot.worker != spots.front().worker) continue;
    TRAINWARDEN_ASSIGN_OR_RETURN(const double value, window.scalar(spot));
    history.take_signal(spot.tensor, value, window.mode_step());
  }
  return Status();
}

// Of a run without examinations: its first loss, on its first worker.
void feed_loss(const StepWindow& window, diagnosis::TrainingHistory& history) {
  static const TensorSelection kLosses{.collections = {"losses"}};
  const auto spots = window.select(kLosses);
  if (!spots.ok() || spots->empty()) return;
  const auto loss = window.scalar(spots->front());
  const bool is_evaluation = window.mode() == Mode::kEval || window.mode() == Mode::kPredict;
  if (loss.ok()) history.take_loss(is_evaluation, *loss, window.mode_step());
}

// What the summary of the run calls its loss: the newest one of training, as far back as a few steps.
std::optional<double> last_saved_loss(Trial& trial, const std::vector<std::int64_t>& steps, std::int64_t until,
                                      TrialMemory& memory) {
  static const TensorSelection kLosses{.collections = {"losses"}};
  constexpr int kLooks = 16;
  auto step = std::upper_bound(steps.begin(), steps.end(), until);
  for (int look = 0; look < kLooks && step != steps.begin(); ++look) {
    const TrialWindow window(trial, *--step, &memory);
    if (window.mode() == Mode::kEval || window.mode() == Mode::kPredict) continue;
    const auto spots = window.select(kLosses);
    const auto loss = spots.ok() && !spots->empty() ? window.scalar(spots->front()) : Status(Code::kNotFound, "");
    if (loss.ok()) return *loss;
  }
  return std::nullopt;
}

void feed_rules(const storage::Location& run, std::int64_t until, diagnosis::TrainingHistory& history) {
  std::vector<RunLoss> losses;
  const auto histories = read_rule_histories(run, losses);
  if (!histories.ok()) return;  // nobody has judged the run
  for (const RuleHistory& each : *histories) {
    for (const VerdictRecord& verdict : each.verdicts) {
      if (verdict.verdict.outcome != Outcome::kFired || verdict.rule == kDiagnosisRule) continue;
      if (is_goal(verdict.rule) || verdict.place.global_step > until) continue;  // a goal is no symptom of anything
      const auto cause = verdict.parameters.find(kCauseParameter);
      history.take_rule({verdict.rule, cause == verdict.parameters.end() ? std::string() : cause->second,
                         verdict.verdict.message, verdict.place.mode_step,
                         verdict.verdict.severity == Severity::kInfo && !verdict.weighed, verdict.verdict.confidence,
                         verdict.verdict.evidence.empty() ? std::string() : verdict.verdict.evidence.front().quantity});
    }
  }
}

}  // namespace

Status feed_step(const StepWindow& window, diagnosis::TrainingHistory& history) {
  static const TensorSelection kSignals{.collections = {std::string(signals::kCollection)}};
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto spots, window.select(kSignals));
  const bool is_evaluation = window.mode() == Mode::kEval || window.mode() == Mode::kPredict;
  std::string_view speaker;                // the worker that speaks for all: the first one
  std::vector<const TensorSpot*> numbers;  // after the texts: a layout says what they mean
  for (const TensorSpot& spot : spots) {
    if (spot.tensor.compare(0, kPrefix.size(), kPrefix) != 0) continue;
    if (bare_name(spot.tensor) == signals::kTraining) continue;  // the numbers say so, too
    const std::string_view name = bare_name(std::string_view(spot.tensor).substr(kPrefix.size()));
    if (name == kBadSamples) {  // each has data of its own
      if (!is_evaluation) TRAINWARDEN_RETURN_IF_ERROR(feed_text(window, spot, name, history));
      continue;
    }
    if (speaker.empty()) speaker = spot.worker;
    if (spot.worker != speaker) continue;
    if (name == kNumbers) {
      numbers.push_back(&spot);
    } else if (name.substr(0, kExamination.size()) == kExamination) {
      TRAINWARDEN_RETURN_IF_ERROR(feed_text(window, spot, name, history));
    } else if (is_known_signal(name)) {
      TRAINWARDEN_ASSIGN_OR_RETURN(const double value, window.scalar(spot));
      history.take_signal(name, value, window.mode_step());
    }
  }
  for (const TensorSpot* spot : numbers) TRAINWARDEN_RETURN_IF_ERROR(feed_numbers(window, *spot, history));
  return is_evaluation ? Status() : feed_totals(window, history);
}

diagnosis::Diagnosis RunDiagnosis::now(Trial& trial, std::int64_t until) {
  TrialMemory memory;
  const std::vector<std::int64_t> steps = trial.steps(Mode::kGlobal, true);
  for (auto step = std::upper_bound(steps.begin(), steps.end(), last_step_); step != steps.end() && *step <= until;
       ++step) {
    const TrialWindow window(trial, *step, &memory);
    if (!feed_step(window, history_).ok()) ++history_.unreadable;
    if (history_.examinations == 0) feed_loss(window, history_);
    last_step_ = *step;
  }
  history_.saved_loss = last_saved_loss(trial, steps, until, memory);
  history_.has_ended = trial.state() != RunState::kRunning && until == kWholeRun;
  history_.forget_rules();
  feed_rules(TrialAccess::location(trial), until, history_);
  return diagnosis::diagnose(history_);
}

}  // namespace trainwarden::rules
