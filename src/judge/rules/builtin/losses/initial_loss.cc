// InitialLoss: the first loss of a classifier is far above that of a blind guess, ln C.
//
// Source: profiler specification, rule 23 (TheDeepChecker's check before training): |loss₀ - ln C| > 30 % of ln C.
// Ours: it is a classification when predictions are [N, C] and labels are N whole numbers from 0 to C - 1 (or a
// negative one that is left out); a loss that is too low is a note, since pretrained models begin there; one that is N
// times ln C is a note on the sum; and what is too high must be so by kLeastExcess nats, as few classes make 30 % of ln
// C little. Judged once, at the first training step that holds a loss. State: whether that was.
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/losses/losses_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace initial_loss_rule {
namespace {

// As sure of the wrong class as 400 to 1: embeddings that are drawn with a spread of 1, as PyTorch draws them, and deep
// heads of small models often begin with less, and learn well.
constexpr double kLeastExcess = 6;
constexpr double kGuess = 0.8;  // confidence: label smoothing, class weights and penalties are not known
constexpr const char* kHighAdvice =
    "Look at the outputs of the last layer at the first step: scale its weights down (or normalise the inputs) until "
    "the first loss is near ln C, and see that the loss takes logits and not probabilities.";
constexpr const char* kLowAdvice = "Fine for a pretrained model; otherwise check whether the inputs reveal the labels.";
constexpr const char* kSumAdvice =
    "The loss is summed over the batch: take its mean, or know that the learning rate depends on the batch size.";

struct Classification {
  double samples = 0;
  double classes = 0;
};

class InitialLoss final : public Rule {
 public:
  explicit InitialLoss(double tolerance) : tolerance_(tolerance) {}

  Verdict evaluate(const StepWindow& window) override {
    if (is_judged_) return Verdict::not_applicable(why_not_);
    if (window.mode() == Mode::kEval || window.mode() == Mode::kPredict) {
      return Verdict::not_applicable("losses of train steps are judged");
    }
    const StepReductions losses = read_reductions({.collections = {"losses"}}, Reduction::kMean, false, window);
    if (losses.tensors.empty()) return nothing_to_judge(losses.gaps, "loss", window);
    is_judged_ = true;
    const auto task = classification(window);
    if (!task) {
      why_not_ = "predictions of shape [N, C] with N labels that are classes were not found at the first loss";
    } else if (losses.tensors.size() > window.workers().size()) {
      why_not_ = "there are several losses, and which one goes with the predictions is not known";
    } else {
      return judge(losses.tensors.front(), *task, window);
    }
    return Verdict::not_applicable(why_not_);
  }

  std::vector<Collection> needs() const override {
    const auto first_steps = [](const char* collection, const KeepForm& keep) {
      Collection need{.name = collection, .save = SavePolicy::every(1), .keep = keep};
      for (auto& schedule : need.save->by_mode) schedule->end_step = 1;
      return need;
    };
    return {first_steps("losses", KeepForm::whole()), first_steps("predictions", KeepForm::reduced()),
            first_steps("labels", KeepForm::reduced())};
  }

 private:
  static std::optional<Classification> classification(const StepWindow& window) {
    const auto predictions = window.select({.collections = {"predictions"}});
    const auto labels = window.select({.collections = {"labels"}});
    if (!predictions.ok() || !labels.ok() || predictions->empty() || labels->empty()) return std::nullopt;
    const auto shape = window.shape(predictions->front());
    const auto statistics = window.statistics(labels->front());
    if (!shape.ok() || !statistics.ok() || shape->rank() != 2) return std::nullopt;
    const Classification task{static_cast<double>((*shape)[0]), static_cast<double>((*shape)[1])};
    return are_classes(**statistics, task) ? std::optional(task) : std::nullopt;
  }

  // Whole numbers below C, one for each sample. Of their sum only whole numbers make a whole one, nearly always.
  static bool are_classes(const Statistics& labels, const Classification& task) {
    const auto is_whole = [](double number) { return std::isfinite(number) && number == std::floor(number); };
    return task.classes >= 2 && static_cast<double>(labels.count) == task.samples && is_whole(labels.min) &&
           is_whole(labels.max) && is_whole(labels.sum.to_double()) && labels.max < task.classes && labels.max >= 0;
  }

  Verdict judge(const TensorReduction& loss, const Classification& task, const StepWindow& window) const {
    const double blind = std::log(task.classes);
    const double deviation = (loss.value - blind) / blind;
    if (std::abs(deviation) <= tolerance_) return Verdict::ok();
    const std::string text =
        fmt::format("The first loss \"{}\" is {:.4g} at {}; a blind guess among {} classes has ln {} = {:.4g}",
                    loss.spot.tensor, loss.value, describe_step(window), task.classes, task.classes, blind);
    std::vector<Evidence> evidence = {
        {loss.spot.tensor, loss.spot.shown_worker, "initial_loss", loss.value, blind, window.global_step()}};
    const double of_mean = loss.value / task.samples;
    if (task.samples > 1 && std::abs(of_mean - blind) <= tolerance_ * blind) {
      return note(text + fmt::format(", and the loss is {:.3g} times that: a sum over {} samples.", loss.value / blind,
                                     task.samples),
                  kSumAdvice, std::move(evidence));
    }
    if (deviation < 0) return note(text + ": it is lower from the start.", kLowAdvice, std::move(evidence));
    const bool is_issue = !(loss.value - blind < kLeastExcess);
    Verdict verdict = fired(text + fmt::format(": it is {:.3g} % higher.", 100 * deviation), kHighAdvice,
                            std::move(evidence), is_issue ? Severity::kWarning : Severity::kInfo);
    verdict.confidence = kGuess;
    return verdict;
  }

  static Verdict note(std::string text, const char* advice, std::vector<Evidence> evidence) {
    return fired(std::move(text), advice, std::move(evidence), Severity::kInfo);
  }

  const double tolerance_;
  bool is_judged_ = false;
  std::string why_not_ = "only the first loss is judged";
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const double tolerance = read.number("tolerance", 0);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new InitialLoss(tolerance));
}

}  // namespace
}  // namespace initial_loss_rule

RuleKind initial_loss() {
  RuleDescription description;
  description.name = "InitialLoss";
  description.summary = "Fires when the first loss of a classifier is far above that of a blind guess.";
  description.parameters = {{"tolerance", "0.3", "how far the first loss may be from ln C, as a part of ln C"}};
  description.topic = "losses";
  description.details =
      R"(A classifier that knows nothing yet has a cross entropy of ln C for C classes. Judged once, at the first training
step with a loss: the shape [N, C] of the collection `predictions` gives C, and `labels` must be N whole numbers below C;
anything else, and a step with several losses, is `not_applicable`. Fires when the loss is above ln C by more than
`tolerance` and by at least 6 (odds of 400 against the right class): the last layer starts too confident, inputs are not normalised, or the loss is given
probabilities where it takes logits. Evidence: `initial_loss`, with ln C as the threshold. Confidence is 0.8, since class
weights and penalties in the loss are not seen.

Notes, not issues: a smaller excess, a loss that is too low (a pretrained model, or a leak), and one that is about N ln C
(a sum over the batch).)";
  description.source = "TheDeepChecker's check of the first loss; the exceptions are ours";
  description.by_default = true;
  description.is_symptom = true;
  description.in_process = true;
  return {std::move(description), initial_loss_rule::create};
}

}  // namespace trainwarden::rules
