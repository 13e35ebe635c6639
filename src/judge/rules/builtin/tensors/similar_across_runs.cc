// SimilarAcrossRuns: a tensor that is the same in this run and in another.
//
// Source: the documented rule of SageMaker Debugger: the tensors of one completed run (other_trials, its name of the
// parameter) are compared with those of the run that is judged; the inspected set is the union of collections and
// patterns, and every tensor when neither is given. Ours where the documentation is silent: two tensors are the same
// when all of their elements are close (NumPy's allclose with its defaults), or, where a run did not keep the values,
// when their hashes are equal; they are compared at the same step of the same mode, and on the same worker where the
// other run has it. No state but the open run.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "judge/rules/builtin/tensors/selection_parameters.h"
#include "judge/rules/builtin/tensors/tensor_snapshot.h"
#include "judge/rules/builtin/tensors/tensors_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/step_statistics.h"
#include "judge/rules/trial_window.h"
#include "trainwarden/trial.h"

namespace trainwarden::rules {
namespace similar_across_runs_rule {
namespace {

constexpr std::int64_t kSaveInterval = 10;
constexpr std::size_t kAnySize = static_cast<std::size_t>(-1);  // nothing is kept past the step
constexpr double kStatisticsConfidence = 0.9;                   // the elements might have changed places
constexpr const char* kAdvice =
    "See that what you changed between the two runs reaches the training at all; where the runs are meant to be the "
    "same, leave this rule out.";

class SimilarAcrossRuns final : public Rule {
 public:
  SimilarAcrossRuns(TensorSelection selection, std::unique_ptr<Trial> other)
      : selection_(std::move(selection)), other_(std::move(other)) {}

  Verdict evaluate(const StepWindow& window) override {
    if (const Status refreshed = follow_other(); !refreshed.ok()) {
      return Verdict::insufficient_data("the other run could not be read: " + refreshed.to_string());
    }
    const auto other_step = other_->global_step(window.mode(), window.mode_step());
    if (!other_step) {
      return Verdict::not_applicable(
          fmt::format("the other run has no step {} of mode {}", window.mode_step(), name(window.mode())));
    }
    return compare_step(window, TrialWindow(*other_, *other_step));
  }

  std::vector<Collection> needs() const override {
    return needs_of(selection_, "similar_across_runs", {.values = false, .statistics = true, .hash = true},
                    kSaveInterval);
  }

 private:
  // A run that goes on may have the step by now.
  Status follow_other() { return other_->loaded_all_steps() ? Status() : other_->refresh(); }

  Verdict compare_step(const StepWindow& window, const StepWindow& other) const {
    std::size_t compared = 0;
    std::vector<Evidence> similar;
    double confidence = 1;
    const JudgingGaps gaps = visit_tensors(selection_, window, [&](const TensorSpot& spot) -> Status {
      TRAINWARDEN_ASSIGN_OR_RETURN(const Likeness likeness, compare(spot, window, other));
      ++compared;
      if (!likeness.alike) return {};
      if (likeness.ground == LikenessGround::kStatistics) confidence = kStatisticsConfidence;
      similar.push_back(evidence(spot, likeness, window));
      return {};
    });
    if (compared == 0) return nothing_to_judge(gaps, "tensor", window);
    if (similar.empty()) return Verdict::ok();
    Verdict verdict = fired(message(similar, compared, window), kAdvice, similar);
    verdict.confidence = confidence;
    return verdict;
  }

  static Result<Likeness> compare(const TensorSpot& spot, const StepWindow& window, const StepWindow& other) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const TensorSpot there, spot_in(other, spot));
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto theirs, TensorSnapshot::take(there, other, kAnySize));
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto ours, TensorSnapshot::take(spot, window, kAnySize));
    return TensorSnapshot::compare(theirs, ours, Closeness());
  }

  // The same tensor, of the same worker when the other run has it there.
  static Result<TensorSpot> spot_in(const StepWindow& other, const TensorSpot& spot) {
    const std::vector<std::string> workers = other.trial()->workers_of(spot.tensor, other.global_step());
    if (workers.empty()) {
      return Status(Code::kOutOfRange, fmt::format("the other run does not have \"{}\" at this step", spot.tensor));
    }
    const bool same = std::find(workers.begin(), workers.end(), spot.worker) != workers.end();
    return TensorSpot{spot.tensor, same ? spot.worker : workers.front(), ""};
  }

  static Evidence evidence(const TensorSpot& spot, const Likeness& likeness, const StepWindow& window) {
    const bool by_values = likeness.ground == LikenessGround::kValues;
    return {spot.tensor,
            spot.shown_worker,
            by_values ? "largest_difference" : "same_hash",
            by_values ? likeness.largest_difference : 1,
            by_values ? Closeness().atol : 1,
            window.global_step()};
  }

  std::string message(const std::vector<Evidence>& similar, std::size_t compared, const StepWindow& window) const {
    return fmt::format("{} of {} tensors at {} are the same as in the run {} at the same step: the first is \"{}\".",
                       similar.size(), compared, describe_step(window), printable(other_->path().string()),
                       similar.front().tensor);
  }

  const TensorSelection selection_;
  const std::unique_ptr<Trial> other_;
};

Result<std::unique_ptr<Trial>> open_other(const std::vector<std::string>& paths) {
  if (paths.size() != 1) {
    return Status(
        Code::kInvalidArgument,
        fmt::format(
            "parameter other_trials: expected the folder of one run, found {} of them; give it as other_trials=FOLDER",
            paths.size()));
  }
  auto other = Trial::open(paths.front());
  if (other.ok()) return other;
  return Status(Code::kInvalidArgument,
                fmt::format("parameter other_trials: expected the folder of a run, found \"{}\" ({})",
                            printable(paths.front()), other.status().message()));
}

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  TensorSelection selection = read_selection(read);
  selection.all = selection.collections.empty() && selection.patterns.empty();
  const std::vector<std::string> paths = read.list("other_trials");
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  TRAINWARDEN_ASSIGN_OR_RETURN(auto other, open_other(paths));
  return std::unique_ptr<Rule>(new SimilarAcrossRuns(std::move(selection), std::move(other)));
}

}  // namespace
}  // namespace similar_across_runs_rule

RuleKind similar_across_runs() {
  return {
      {.name = "SimilarAcrossRuns",
       .summary = "Fires when a tensor is the same as in another run at the same step.",
       .parameters = with_selection({{"other_trials", "", "the folder of the other run; it must be given"}},
                                    "all tensors when neither is given"),
       .topic = "tensors",
       .details =
           "Compares each chosen tensor with the one of the same name in the run `other_trials` at the same step of "
           "the same mode: all elements must be close (`|a - b| <= 1e-08 + 1e-05 * |b|`, evidence "
           "`largest_difference`), or, where a run did not keep the values, the hashes must be equal (evidence "
           "`same_hash`; without hashes the exact statistics, with a confidence of 0.9). Use it where something was "
           "changed between the runs and should show, such as in the weights after another learning rate.\n\n"
           "Steps and tensors that one of the runs lacks are left out. With the same seed, weights before their first "
           "update, data and labels are the same by design: choose the tensors. It needs the files of another run, "
           "so it judges beside the training or later, and is not a default rule.",
       .source = "SageMaker Debugger, similar_across_runs",
       .by_default = false,
       .in_process = false,
       .consequences = {}},
      similar_across_runs_rule::create};
}

}  // namespace trainwarden::rules
