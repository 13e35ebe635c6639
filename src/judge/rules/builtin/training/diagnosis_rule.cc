// Diagnosis: what is wrong with the training, named while it runs.
//
// Source: ours. It feeds what each step holds of the examination (docs/format/examination.md) to the diagnosis
// (judge/diagnosis), and asks it again when something came that may change its mind: a full examination, an evaluation,
// a tenth more of looks at the loss. What it names must be named `patience` times in a row, each time with at least
// `confidence`; and, unless it is read off the program or the loss has blown up, for half of the train steps and at
// least `steps` of them, since a training that has just begun looks ill for many reasons. Where it cannot decide it
// asks for an examination of the next steps. When the run has ended nothing is waited for.
//
// State: the history of the diagnosis, which is bounded; the cause that was named last, how often and since when.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "judge/diagnosis/causes.h"
#include "judge/diagnosis/diagnosis.h"
#include "judge/rules/builtin/training/training_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/run_diagnosis.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace diagnosis_rule {
namespace {

constexpr std::int64_t kMaxPatience = 1'000;
constexpr std::int64_t kMaxSteps = 1'000'000'000;
constexpr double kMoreLooks = 1.1;
constexpr double kBlownUp = 100;  // times the first loss
constexpr double kClose = 0.2;    // what is less sure by so much may as well be the cause
constexpr double kExact = 0.92;   // as sure as what is read off the program is: it need not settle

class DiagnosisRule final : public Rule {
 public:
  DiagnosisRule(double confidence, std::int64_t patience, std::int64_t steps)
      : confidence_(confidence), patience_(patience), steps_(steps) {
    history_.has_ended = false;
  }

  Verdict evaluate(const StepWindow& window) override {
    const std::int64_t examinations = history_.examinations;
    const Status fed = feed_step(window, history_);
    if (!fed.ok()) return Verdict::error(std::string(fed.message()));
    if (history_.examinations == examinations) {
      return Verdict::not_applicable(fmt::format("no examination was captured at {}", describe_step(window)));
    }
    if (!has_news()) return Verdict::ok();
    const diagnosis::Diagnosis now = diagnosis::diagnose(history_);
    const diagnosis::CauseFinding* const first = now.first();
    if (first == nullptr || first->confidence < confidence_) {
      cause_.clear();
      return undecided(now);
    }
    const std::int64_t step = window.mode_step();
    if (first->cause != cause_) times_ = 0, since_step_ = step;
    cause_ = first->cause;
    const bool is_settled = first->confidence >= kExact || is_blown_up(now.symptoms.train) ||
                            step - since_step_ >= std::max(steps_, since_step_);
    return ++times_ >= patience_ && is_settled ? verdict(*first) : undecided(now);
  }

  // Nothing is to be waited for any more: what `diagnose` says now is what it will say.
  Verdict conclude() override {
    if (history_.examinations == 0) return Verdict::not_applicable("no examination was captured");
    history_.has_ended = true;
    const diagnosis::Diagnosis last = diagnosis::diagnose(history_);
    const diagnosis::CauseFinding* const first = last.first();
    return first != nullptr && first->confidence >= confidence_ ? verdict(*first) : Verdict::ok();
  }

  std::vector<Collection> needs() const override { return {need_signals()}; }

 private:
  // The loss is past all bounds: nothing is to be waited for.
  static bool is_blown_up(const diagnosis::Course& loss) {
    return loss.not_finite > 0 || loss.peak > kBlownUp * std::abs(loss.first);
  }

  bool has_news() {
    const std::size_t looks = history_.losses.size();
    const bool more = history_.fulls != fulls_ || history_.evaluations.size() != evaluations_ ||
                      static_cast<double>(looks) >= kMoreLooks * static_cast<double>(looks_);
    if (more) {
      fulls_ = history_.fulls;
      evaluations_ = history_.evaluations.size();
      looks_ = looks;
    }
    return more;
  }

  // Judged; with a wish for a closer look where that may decide.
  static Verdict undecided(const diagnosis::Diagnosis& now) {
    Verdict verdict;
    if (now.findings.empty() || now.findings.front().confidence >= kExact) return verdict;
    for (const diagnosis::CauseFinding& each : now.findings) {
      if (now.findings.front().confidence - each.confidence > kClose) break;
      verdict.examine_reason +=
          fmt::format("{}{} ({:.2f})", verdict.examine_reason.empty() ? "" : " or ", each.cause, each.confidence);
    }
    return verdict;
  }

  static Verdict verdict(const diagnosis::CauseFinding& finding) {
    std::string message = finding.statement;
    if (!finding.place.empty()) message += fmt::format(" ({})", finding.place);
    message += finding.evidence.empty() ? "." : fmt::format(": {}.", finding.evidence.front());
    const diagnosis::Cause* const cause = diagnosis::find_cause(finding.cause);
    Verdict verdict;
    verdict.outcome = Outcome::kFired;
    verdict.message = std::move(message);
    verdict.advice = cause == nullptr ? std::string() : std::string(cause->next_step);
    verdict.confidence = finding.confidence;
    return verdict;
  }

  const double confidence_;
  const std::int64_t patience_, steps_;
  diagnosis::TrainingHistory history_;
  std::int64_t fulls_ = 0;                   // when it was diagnosed last
  std::size_t evaluations_ = 0, looks_ = 0;  // the same
  std::string cause_;                        // that was named last
  std::int64_t times_ = 0, since_step_ = 0;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const double confidence = read.number("confidence", diagnosis::kAlarming, 1);
  const std::int64_t patience = read.integer("patience", 1, kMaxPatience);
  const std::int64_t steps = read.integer("steps", 0, kMaxSteps);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new DiagnosisRule(confidence, patience, steps));
}

}  // namespace
}  // namespace diagnosis_rule

RuleKind diagnosis_of_training() {
  return {
      {.name = std::string(kDiagnosisRule),
       .summary = "Fires when the diagnosis of the training names a cause of trouble.",
       .parameters = {{"confidence", "0.7", "how sure the diagnosis must be at least, from 0.5 to 1"},
                      {"patience", "3", "diagnoses in a row that must name the cause"},
                      {"steps", "500",
                       "train steps for which it must have been named, unless it is 92 % sure; and as many as there "
                       "were before"}},
       .topic = "training",
       .details =
           "Fires while the training runs, when what `trainwarden diagnose` would say names the same cause in "
           "several diagnoses in a row; what is less than 92 % sure, as is all that the course of the training tells, "
           "must "
           "also have been named for half of the train steps, unless the loss has blown up to 100 times its first. It "
           "is asked again with each full examination, with each evaluation and "
           "with each tenth more of looks at the loss. When the training ends before that, what is named at its end "
           "counts. "
           "The message is the sentence of the diagnosis with its "
           "strongest evidence, the advice its next step; the whole, with what other rules have found, is told by "
           "`trainwarden diagnose` and at the end of `trainwarden run`.\n\n"
           "Needs the examination of the training, which `trainwarden run` and `TRAINWARDEN_EXAMINE=1` turn on "
           "for PyTorch. Of several workers the first one speaks for all. After its first verdict the rule is "
           "judged no "
           "more.",
       .source = "ours; of each cause, see docs/reference/diagnosis.md",
       .by_default = true,
       .consequences = {"DeadRelu",
                        "DegeneratePredictions",
                        "Divergence",
                        "ExplodingTensor",
                        "ForgottenParameter",
                        "GradientByDepth",
                        "GradientSpike",
                        "InitialLoss",
                        "LossDrift",
                        "LossNotDecreasing",
                        "LossSpike",
                        "NonFiniteOrigin",
                        "NoOpUpdate",
                        "Overfit",
                        "Overtraining",
                        "RepresentationCollapse",
                        "SaturatedActivation",
                        "SoftmaxLossMismatch",
                        "UnchangedTensor",
                        "VanishingGradient",
                        "WeightUpdateRatio"}},
      diagnosis_rule::create};
}

}  // namespace trainwarden::rules
