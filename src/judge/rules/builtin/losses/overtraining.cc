// Overtraining: a loss that has not improved for many steps, so that training on is a waste.
//
// Source: the documented rule of SageMaker Debugger: the training or the validation loss has not improved by at least
// delta for patience_train or patience_validation steps. The documentation does not say how the two go together. Ours:
// each loss of each worker and mode keeps its best; a loss below best - delta is the new best, any other (NaN, too)
// counts. `require` chooses what fires: the validation losses, and those of training where there are no others
// ("validation"), any of both, or one of each.
//
// State: the best of each loss.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/losses/losses_rules.h"
#include "judge/rules/builtin/losses/train_losses.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace overtraining_rule {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000'000;
constexpr const char* kAdvice =
    "Stop here and take the weights of the best step, or lower the learning rate once and see whether the loss moves.";

enum class Require { kValidation, kAny, kAll };

struct Patience {
  std::int64_t train = 5;
  std::int64_t validation = 10;
};

struct Best {
  double loss = 0;
  std::int64_t step = 0;         // global
  std::int64_t steps_since = 0;  // of its own mode
};

class Overtraining final : public Rule {
 public:
  Overtraining(TensorSelection selection, const Patience& patience, double delta, Require require)
      : selection_(std::move(selection)), patience_(patience), delta_(delta), require_(require) {}

  Verdict evaluate(const StepWindow& window) override {
    if (window.mode() == Mode::kPredict) return Verdict::not_applicable("a predict step");
    const StepReductions losses = read_reductions(selection_, Reduction::kMean, false, window);
    if (losses.tensors.empty()) return nothing_to_judge(losses.gaps, "loss", window);
    const bool is_validation = window.mode() == Mode::kEval;
    has_validation_ |= is_validation;
    Bests& bests = is_validation ? validation_ : train_;
    bool is_new = true;
    for (const TensorReduction& loss : losses.tensors) is_new &= add(bests, loss, window);
    std::vector<Evidence> stuck = find_stuck(losses, is_validation, window);
    if (stuck.empty()) return is_new ? Verdict::insufficient_data("the first step of its losses") : Verdict::ok();
    std::string text = message(stuck.front(), bests, losses, is_validation, window);
    return fired(std::move(text), kAdvice, std::move(stuck));
  }

  std::vector<Collection> needs() const override { return needs_of(selection_, "overtraining", KeepForm::whole(), 1); }

 private:
  using Bests = std::map<LossKey, Best>;

  // True for the first loss of its kind.
  bool add(Bests& bests, const TensorReduction& loss, const StepWindow& window) const {
    const auto [place, is_first] = bests.try_emplace(key_of(loss), Best{loss.value, window.global_step(), 0});
    if (is_first) return true;
    Best& best = place->second;
    const bool is_better = loss.value < best.loss - delta_ || (std::isnan(best.loss) && !std::isnan(loss.value));
    if (is_better) {
      best = {loss.value, window.global_step(), 0};
    } else {
      ++best.steps_since;
    }
    return false;
  }

  std::int64_t patience_of(bool is_validation) const { return is_validation ? patience_.validation : patience_.train; }

  bool has_stuck(const Bests& bests, bool is_validation) const {
    return std::any_of(bests.begin(), bests.end(),
                       [&](const auto& entry) { return entry.second.steps_since >= patience_of(is_validation); });
  }

  bool counts(bool is_validation) const {
    switch (require_) {
      case Require::kValidation: return is_validation || !has_validation_;
      case Require::kAny: return true;
      case Require::kAll: return has_stuck(train_, false) && has_stuck(validation_, true);
    }
    return true;
  }

  std::vector<Evidence> find_stuck(const StepReductions& losses, bool is_validation, const StepWindow& window) const {
    std::vector<Evidence> stuck;
    if (!counts(is_validation)) return stuck;
    const std::int64_t patience = patience_of(is_validation);
    for (const TensorReduction& loss : losses.tensors) {
      const Best& best = (is_validation ? validation_ : train_).at(key_of(loss));
      if (best.steps_since < patience) continue;
      stuck.push_back({loss.spot.tensor, loss.spot.shown_worker, "steps_since_best",
                       static_cast<double>(best.steps_since), static_cast<double>(patience), window.global_step()});
    }
    std::stable_sort(stuck.begin(), stuck.end(),
                     [](const Evidence& a, const Evidence& b) { return a.value > b.value; });
    return stuck;
  }

  std::string message(const Evidence& worst, const Bests& bests, const StepReductions& losses, bool is_validation,
                      const StepWindow& window) const {
    const auto loss = std::find_if(losses.tensors.begin(), losses.tensors.end(), [&](const TensorReduction& one) {
      return one.spot.tensor == worst.tensor && one.spot.shown_worker == worst.worker;
    });
    const Best& best = bests.at(key_of(*loss));
    return fmt::format(
        "The {} loss \"{}\" is {:.4g} at {}: for {} steps it has not improved by {:g} on its best, {:.4g} at "
        "step {}.",
        is_validation ? "validation" : "training", worst.tensor, loss->value, describe_step(window), best.steps_since,
        delta_, best.loss, best.step);
  }

  const TensorSelection selection_;
  const Patience patience_;
  const double delta_;
  const Require require_;
  bool has_validation_ = false;
  Bests train_;
  Bests validation_;
};

Result<Require> parse_require(const std::string& text) {
  if (text == "validation") return Require::kValidation;
  if (text == "any") return Require::kAny;
  if (text == "all") return Require::kAll;
  return Status(Code::kInvalidArgument,
                fmt::format("parameter require: expected validation, any or all, found \"{}\"", text));
}

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  TensorSelection selection;
  selection.collections = read.collections("collection_names");
  selection.patterns = read.patterns("tensor_regex");
  Patience patience;
  patience.train = read.integer("patience_train", 1, kMostSteps);
  patience.validation = read.integer("patience_validation", 1, kMostSteps);
  const double delta = read.number("delta", 0);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  TRAINWARDEN_ASSIGN_OR_RETURN(const Require require, parse_require(parameters.at("require")));
  return std::unique_ptr<Rule>(new Overtraining(std::move(selection), patience, delta, require));
}

}  // namespace
}  // namespace overtraining_rule

RuleKind overtraining() {
  RuleDescription description;
  description.name = "Overtraining";
  description.summary = "Fires when the validation or training loss has not improved for a number of steps.";
  description.parameters = {
      {"collection_names", "losses", "collections whose tensors are judged, separated by commas; lower must be better"},
      {"tensor_regex", "", "patterns of tensors that are judged too"},
      {"patience_train", "5", "train steps without an improvement that are put up with"},
      {"patience_validation", "10", "eval steps without an improvement that are put up with"},
      {"delta", "0.01", "how much below its best a loss must be to be an improvement, in its own unit"},
      {"require", "validation",
       "validation: eval losses, or train losses as long as there are no others; any: one of both; all: both"}};
  description.topic = "losses";
  description.details =
      R"(Every loss of every worker keeps its best, for train and eval steps apart. A loss that is not below the best by more
than `delta` counts; NaN does, too. Fires when the count reaches the patience of its mode. Evidence: `steps_since_best`.

Not one of the default rules: a batch's loss is noisy, and five steps without a new best are ordinary. Set the patience to
several epochs' worth of steps.)";
  description.source = "the documented rule of SageMaker Debugger; how train and validation go together is ours";
  return {std::move(description), overtraining_rule::create};
}

}  // namespace trainwarden::rules
