// NonFiniteOrigin: where the first NaN or infinity of a training comes from.
//
// What fires: a loss, a gradient or a piece of the model's state (weight, bias, buffer) that is not finite. What it
// names is the earliest tensor in the order of execution that is not, while all that went before it was: batch, outputs
// in the order of the modules, losses, gradients from the last module to the first, state. Source of the idea: the
// provenance of NaN (profiler specification, rule 1); the order by phase and module is ours.
//
// What does not fire: infinities that a healthy step had in the same tensor (masks of -infinity), NaN in an output that
// neither reaches a loss nor a gradient, gradients of a step that the gradient scaler left out. A loss that is not
// finite in such a step is a note, until kSkippedSteps of them have come in a row.
//
// State: names of tensors that held infinities in healthy steps, the facts of the training.
#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/data/bad_batches.h"
#include "judge/rules/builtin/optimizer/finite_survey.h"
#include "judge/rules/builtin/optimizer/optimizer_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/signals.h"
#include "judge/rules/step_statistics.h"
#include "judge/rules/training_facts.h"

namespace trainwarden::rules {
namespace non_finite_origin_rule {
namespace {

constexpr std::int64_t kSkippedSteps = 3;
// Confidence when the model, and so the order of its modules, or the batch is not known.
constexpr double kGuessedOrder = 0.7;

constexpr const char* kAdviceBatch =
    "Find the samples of this batch that are not finite and mend or drop them; the model did nothing wrong.";
constexpr const char* kAdviceUnseenBatch =
    "The batch was not captured: look at its inputs and labels first, or capture the collections batch_inputs and "
    "labels. If they are finite: ";
constexpr const char* kAdviceOutput =
    "Look at the layer that is named: a division, logarithm, root or exponential at the edge of its range, or a number "
    "type that is too narrow. Run this one step again in float64: if it is finite then, it overflowed.";
constexpr const char* kAdviceLoss =
    "Look at the loss function: a logarithm or division by zero, or targets out of range. Clamp its argument, or use "
    "the form of it that takes logits, and run this one step again.";
constexpr const char* kAdviceGradient =
    "The step forward was finite: look at the derivative of the layer that is named (a root or norm at zero, where() "
    "over a branch that is not finite). Run this one step again with the framework's anomaly detection on.";
constexpr const char* kAdviceState =
    "Gradients were finite, so the optimizer made it: look at its learning rate and its epsilon at this step.";

const char* advice(StepPhase origin) {
  switch (origin) {
    case StepPhase::kBatch: return kAdviceBatch;
    case StepPhase::kOutputs: return kAdviceOutput;
    case StepPhase::kLosses: return kAdviceLoss;
    case StepPhase::kGradients: return kAdviceGradient;
    case StepPhase::kState: return kAdviceState;
  }
  return "";
}

class NonFiniteOrigin final : public Rule {
 public:
  Verdict evaluate(const StepWindow& window) override {
    const Status facts = facts_.update(window);
    FiniteSurvey survey = survey_step(window, facts_);
    if (survey.judged_count() == 0) return nothing_to_judge(survey.gaps, "tensor", window);
    const auto skipped = read_signals(window, signals::kAmpSkipped);
    const bool is_skipped = skipped.ok() && std::any_of(skipped->begin(), skipped->end(),
                                                        [](const SignalValue& signal) { return signal.value != 0; });
    if (is_skipped) drop_gradients(survey);
    if (!matters(survey)) {
      remember_usual(survey);
      skipped_in_a_row_ = 0;
      last_finite_step_ = window.global_step();
      return Verdict::ok();
    }
    skipped_in_a_row_ = is_skipped ? skipped_in_a_row_ + 1 : 0;
    Verdict verdict = verdict_on(survey, window, facts);
    if (is_skipped && skipped_in_a_row_ < kSkippedSteps) verdict.severity = Severity::kInfo;
    return verdict;
  }

  std::vector<Collection> needs() const override {
    std::vector<Collection> needs;
    for (std::string& name : surveyed_collections()) needs.push_back(need_statistics(std::move(name)));
    needs.push_back(need_signals());
    return needs;
  }

 private:
  using Key = std::pair<std::string, std::string>;  // tensor, worker

  static void drop_gradients(FiniteSurvey& survey) {
    std::erase_if(survey.found, [](const NonFiniteTensor& tensor) { return tensor.phase == StepPhase::kGradients; });
  }

  // Something that training depends on is not finite. A buffer of -infinity is a mask.
  static bool matters(const FiniteSurvey& survey) {
    return std::any_of(survey.found.begin(), survey.found.end(), [](const NonFiniteTensor& tensor) {
      return tensor.phase >= StepPhase::kLosses && !is_mask(tensor);
    });
  }

  static bool is_mask(const NonFiniteTensor& tensor) {
    return tensor.negative_only && (tensor.phase == StepPhase::kBatch || tensor.phase == StepPhase::kState);
  }

  void remember_usual(const FiniteSurvey& survey) {
    for (const NonFiniteTensor& tensor : survey.found) usual_.emplace(tensor.spot.tensor, tensor.spot.worker);
  }

  // Neither a mask, which is there on purpose, nor what healthy steps had.
  bool is_suspect(const NonFiniteTensor& tensor) const {
    if (is_mask(tensor)) return false;
    return usual_.count(Key(tensor.spot.tensor, tensor.spot.worker)) == 0;
  }

  Verdict verdict_on(const FiniteSurvey& survey, const StepWindow& window, const Status& facts) const {
    std::vector<Evidence> evidence;
    const NonFiniteTensor* origin = nullptr;
    for (const NonFiniteTensor& tensor : survey.found) {
      if (!is_suspect(tensor)) continue;
      if (origin == nullptr) origin = &tensor;
      evidence.push_back(
          {tensor.spot.tensor, tensor.spot.shown_worker, tensor.quantity, tensor.value, 0, window.global_step()});
    }
    if (origin == nullptr) return Verdict::ok();  // nothing but what healthy steps had, too
    if (origin->phase <= StepPhase::kLosses) add_samples(*origin, window, evidence);
    const bool may_be_batch = may_be_unseen_batch(*origin, survey, window);
    std::string text = message(*origin, survey, window);
    if (may_be_batch) text += " The batch was not captured, and may hold them already.";
    Verdict verdict =
        fired(std::move(text), (may_be_batch ? kAdviceUnseenBatch : "") + std::string(advice(origin->phase)),
              std::move(evidence), Severity::kError);
    verdict.confidence = may_be_batch ? kGuessedOrder : confidence(*origin, survey);
    if (!facts.ok()) verdict.message += fmt::format(" The order of the layers is a guess: {}.", facts.message());
    return verdict;
  }

  // Nobody looked at what the step computes its outputs and its loss of.
  static bool may_be_unseen_batch(const NonFiniteTensor& origin, const FiniteSurvey& survey, const StepWindow& window) {
    if (origin.phase != StepPhase::kOutputs && origin.phase != StepPhase::kLosses) return false;
    return survey.judged_in(StepPhase::kBatch) == 0 && not_finite_batches(origin.spot.worker, window).empty();
  }

  // The origin is sure where its phase alone decides, or the model says the order within the phase.
  double confidence(const NonFiniteTensor& origin, const FiniteSurvey& survey) const {
    const auto rivals = std::count_if(survey.found.begin(), survey.found.end(),
                                      [&](const NonFiniteTensor& tensor) { return tensor.phase == origin.phase; });
    return rivals == 1 || facts_.knows_model() ? 1 : kGuessedOrder;
  }

  std::string message(const NonFiniteTensor& origin, const FiniteSurvey& survey, const StepWindow& window) const {
    std::string text = fmt::format("The first values that are not finite are in {} \"{}\" at {} ({} {:g}); {}.",
                                   name(origin.phase), origin.spot.tensor, describe_step(window), origin.quantity,
                                   origin.value, what_went_before(origin, survey));
    if (origin.phase <= StepPhase::kLosses) {
      for (const diagnosis::BadBatch& batch : not_finite_batches(origin.spot.worker, window)) {
        text += fmt::format(" The data loader gave {}.", diagnosis::described(batch));
      }
    }
    if (last_finite_step_ >= 0 && last_finite_step_ + 1 < window.global_step()) {
      text += fmt::format(" The last step that was judged and finite is {}.", last_finite_step_);
    }
    return text;
  }

  // Behind the origin: those that the data set numbers.
  static void add_samples(const NonFiniteTensor& origin, const StepWindow& window, std::vector<Evidence>& evidence) {
    std::vector<Evidence> samples;
    for (const diagnosis::BadBatch& batch : not_finite_batches(origin.spot.worker, window)) {
      for (const diagnosis::BadSample& sample : batch.samples) {
        if (sample.index < 0) continue;
        samples.push_back({std::string(signals::kBadSamples), origin.spot.shown_worker, "sample_index",
                           static_cast<double>(sample.index), 0, window.global_step()});
      }
    }
    evidence.insert(evidence.begin() + 1, samples.begin(), samples.end());
  }

  static std::string what_went_before(const NonFiniteTensor& origin, const FiniteSurvey& survey) {
    if (origin.phase == StepPhase::kBatch) return "the batch itself holds them";
    std::string captured;
    for (const StepPhase phase : {StepPhase::kBatch, StepPhase::kOutputs, StepPhase::kLosses, StepPhase::kGradients}) {
      const std::size_t judged = survey.judged_in(phase);
      if (phase >= origin.phase || judged == 0) continue;
      captured += fmt::format("{}{} {}", captured.empty() ? "" : ", ", judged, plural(phase, judged));
    }
    if (captured.empty()) return "nothing that goes before it was captured";
    return fmt::format("what goes before it and was captured was finite ({})", captured);
  }

  static std::string plural(StepPhase phase, std::size_t count) {
    const bool ends_in_s = phase == StepPhase::kBatch || phase == StepPhase::kLosses;
    return fmt::format("{}{}", name(phase), count == 1 ? "" : ends_in_s ? "es" : "s");
  }

  TrainingFacts facts_;
  std::set<Key> usual_;
  std::int64_t last_finite_step_ = -1;
  std::int64_t skipped_in_a_row_ = 0;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters&) {
  return std::unique_ptr<Rule>(new NonFiniteOrigin());
}

}  // namespace
}  // namespace non_finite_origin_rule

RuleKind non_finite_origin() {
  RuleDescription description;
  description.name = "NonFiniteOrigin";
  description.summary =
      "Fires when a loss, gradient or weight is not finite, and names the tensor in which that began.";
  description.topic = "tensors";
  description.details =
      R"(Fires at a step at which a loss, a gradient, a weight, a bias or a buffer holds a NaN or an infinity. It names the
first tensor that does, in the order in which a step computes them: the batch, outputs of the modules in the order
of the model, losses, gradients from the last module to the first, weights. So it separates a bad sample from an
overflowing layer, a logarithm of zero, a derivative that does not exist and an optimizer that overshot. Where the data
loader's batch held such values it names the samples, and the files behind them where the data set tells.

The evidence is `nan_count` or `inf_count` of every such tensor of the step, the origin first, and `sample_index` of samples
of the batch that hold such values. What is not captured
cannot be the origin: the message says what was looked at before it, and where inputs were not captured, that the batch may be to
blame. Within a module (between its inputs and its
output) it cannot see. Without the signal `trainwarden/model` the order of the outputs is that of their names, and
confidence is 0.7 where several are affected; so it is where an output or a loss is named and the batch was not captured.

Infinities that a healthy step had in the same tensor, and inputs, buffers and weights that hold -infinity and nothing
else that is not finite (masks), are not suspected. Gradients of a step that a
gradient scaler left out are not judged; a loss that is not finite in such a step is a note, and an issue when it
happens three times in a row.)";
  description.source =
      "NaN provenance as in research on training faults (Cao et al. 2022); order and exceptions are ours";
  description.by_default = true;
  description.in_process = true;
  description.consequences = {"ExplodingTensor",   "LossSpike",     "Divergence",        "LossDrift",
                              "LossNotDecreasing", "GradientSpike", "VanishingGradient", "GradientByDepth",
                              "Overfit",           "Overtraining",  "NoOpUpdate",        "WeightUpdateRatio",
                              "UnchangedTensor",   "DeadRelu"};
  return {std::move(description), non_finite_origin_rule::create};
}

}  // namespace trainwarden::rules
