// Overfit: the validation loss is higher than the training loss.
//
// Source: the documented rule of SageMaker Debugger: (mean validation loss - mean training loss) / mean training loss
// above ratio_threshold for `patience` steps. Which training steps belong to a validation step is not documented. Ours:
// a block of eval steps is judged at each of its steps by its mean so far, against the mean of the train steps since
// the block before; patience counts blocks. Where a step holds both, by name ("validation-rmse" and "train-rmse",
// "val_loss" and "loss"), each such step is a block. A mean training loss that is not positive is no measure.
//
// State: two sums for each pair of losses.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/losses/losses_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace overfit_rule {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000'000;
constexpr const char* kAdvice =
    "Take the weights of the step with the lowest validation loss; then add data or augmentation, weight decay or "
    "dropout, or train a smaller model, and see whether the gap narrows.";

struct Mean {
  double sum = 0;
  double count = 0;
  void add(double value) {
    sum += value;
    ++count;
  }
  double value() const { return sum / count; }
};

// What is compared: the losses of train and of eval steps, or "loss" and "val_loss" of one step.
struct Pair {
  Mean train;                      // since the last block
  std::optional<Mean> validation;  // of the block that is open
  std::int64_t bad_blocks = 0;     // in a row, before the open one
  bool open_is_bad = false;
};

struct NamedLoss {
  std::string metric;
  bool is_validation = false;
};

// By the names that users of XGBoost and Keras give, and those that LightGBM gives: "training-l2", "valid_0-l2". The
// estimators of XGBoost say "validation_0" of any set, also of the one that is trained with: that says nothing.
NamedLoss named_loss(std::string_view tensor) {
  for (const std::string_view prefix : {"validation-", "valid-", "val_", "eval-", "test-"}) {
    if (tensor.substr(0, prefix.size()) == prefix) return {std::string(tensor.substr(prefix.size())), true};
  }
  constexpr std::string_view kNumbered = "valid_";
  if (tensor.substr(0, kNumbered.size()) == kNumbered) {
    const std::size_t dash = tensor.find_first_not_of("0123456789", kNumbered.size());
    if (dash != std::string_view::npos && dash > kNumbered.size() && tensor[dash] == '-') {
      return {std::string(tensor.substr(dash + 1)), true};
    }
  }
  for (const std::string_view prefix : {"train-", "training-"}) {
    if (tensor.substr(0, prefix.size()) == prefix) return {std::string(tensor.substr(prefix.size())), false};
  }
  return {std::string(tensor), false};
}

class Overfit final : public Rule {
 public:
  Overfit(TensorSelection selection, std::int64_t start_step, std::int64_t patience, double ratio_threshold)
      : selection_(std::move(selection)),
        start_step_(start_step),
        patience_(patience),
        ratio_threshold_(ratio_threshold) {}

  Verdict evaluate(const StepWindow& window) override {
    const StepReductions losses = read_reductions(selection_, Reduction::kMean, false, window);
    if (losses.tensors.empty()) return nothing_to_judge(losses.gaps, "loss", window);
    if (window.mode() == Mode::kPredict) return Verdict::not_applicable("a predict step");
    const bool has_both = add(losses, window.mode() == Mode::kEval);
    if (!has_both) return Verdict::insufficient_data("no validation loss at this step to compare with training losses");
    return judge(window);
  }

  std::vector<Collection> needs() const override { return needs_of(selection_, "overfit", KeepForm::whole(), 1); }

 private:
  // True when the step holds a validation loss.
  bool add(const StepReductions& losses, bool is_eval_step) {
    bool has_validation = false;
    const bool goes_by_name = !is_eval_step && by_name(losses);
    for (const bool wants_validation :
         {false, true}) {  // "eval-rmse" is compared with "train-rmse", which comes behind it
      for (const TensorReduction& loss : losses.tensors) {
        const NamedLoss named = named_loss(loss.spot.tensor);
        if ((is_eval_step || named.is_validation) != wants_validation) continue;
        // Losses of whole steps go together whatever their names are: an eval step may compute another one first.
        add(pairs_[goes_by_name ? named.metric : ""], loss.value, wants_validation);
        has_validation = has_validation || wants_validation;
      }
    }
    return has_validation;
  }

  static void add(Pair& pair, double loss, bool is_validation) {
    if (is_validation) {
      if (!pair.validation) pair.validation.emplace();
      pair.validation->add(loss);
      return;
    }
    if (pair.validation) close_block(pair);
    pair.train.add(loss);
  }

  static bool by_name(const StepReductions& losses) {
    return std::any_of(losses.tensors.begin(), losses.tensors.end(),
                       [](const TensorReduction& loss) { return named_loss(loss.spot.tensor).is_validation; });
  }

  static void close_block(Pair& pair) {
    pair.bad_blocks = pair.open_is_bad ? pair.bad_blocks + 1 : 0;
    pair.open_is_bad = false;
    pair.validation.reset();
    pair.train = {};
  }

  Verdict judge(const StepWindow& window) {
    std::vector<Evidence> evidence;
    bool is_judged = false;
    std::string text;
    for (auto& [metric, pair] : pairs_) {
      if (!pair.validation || pair.train.count == 0 || window.global_step() < start_step_) continue;
      const double train = pair.train.value();
      if (!(train > 0)) continue;
      is_judged = true;
      const double ratio = (pair.validation->value() - train) / train;
      pair.open_is_bad = !(ratio <= ratio_threshold_) && !std::isnan(train);
      if (!pair.open_is_bad || pair.bad_blocks + 1 < patience_) continue;
      evidence.push_back(
          {metric.empty() ? "losses" : metric, "", "overfit_ratio", ratio, ratio_threshold_, window.global_step()});
      if (text.empty()) text = message(pair, ratio, window);
    }
    if (!evidence.empty()) return fired(std::move(text), kAdvice, std::move(evidence));
    if (is_judged) return Verdict::ok();
    return Verdict::insufficient_data("no positive training loss since the evaluation before, to compare with");
  }

  std::string message(const Pair& pair, double ratio, const StepWindow& window) const {
    return fmt::format(
        "The validation loss at {} is {:.3g}, {:.3g} times the training loss ({:.3g}) above that, in {} "
        "evaluation{} in a row; {:g} is put up with.",
        describe_step(window), pair.validation->value(), ratio, pair.train.value(), pair.bad_blocks + 1,
        pair.bad_blocks == 0 ? "" : "s", ratio_threshold_);
  }

  const TensorSelection selection_;
  const std::int64_t start_step_;
  const std::int64_t patience_;
  const double ratio_threshold_;
  std::map<std::string, Pair> pairs_;  // by metric; "" of whole steps
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  TensorSelection selection;
  selection.collections = read.list("collection_names");
  selection.patterns = read.patterns("tensor_regex");
  if (selection.patterns.empty() && selection.collections.empty()) selection.collections = {"losses"};
  const std::int64_t start_step = read.integer("start_step", 0, kMostSteps);
  const std::int64_t patience = read.integer("patience", 1, kMostSteps);
  const double ratio_threshold = read.number("ratio_threshold", 0);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new Overfit(std::move(selection), start_step, patience, ratio_threshold));
}

}  // namespace
}  // namespace overfit_rule

RuleKind overfit() {
  RuleDescription description;
  description.name = "Overfit";
  description.summary = "Fires when the validation loss is higher than the training loss by more than a part of it.";
  description.parameters = {
      {"collection_names", "", "collections of the losses, separated by commas"},
      {"tensor_regex", "", "patterns of losses that are judged too; when both are nothing: the collection losses"},
      {"start_step", "0", "global step before which nothing is judged"},
      {"patience", "1", "evaluations in a row that must be above the threshold"},
      {"ratio_threshold", "0.1", "the highest (validation - training) / training that is still fine"}};
  description.topic = "losses";
  description.details =
      R"(At each step of mode eval the mean of the losses of this evaluation so far, V, is compared with the mean T of those
of the train steps since the evaluation before. Fires when (V - T) / T is above `ratio_threshold`, in `patience`
evaluations in a row. Where one step holds both, they are paired by name: `validation-rmse` with `train-rmse`, `val_loss`
with `loss`. A NaN validation loss fires. A training loss that is zero or negative is no measure. Evidence:
`overfit_ratio`.

Not one of the default rules: with its documented defaults it fires in nearly every training that fits its data well.)";
  description.source = "the documented rule of SageMaker Debugger; the pairing of steps is ours";
  return {std::move(description), overfit_rule::create};
}

}  // namespace trainwarden::rules
