// Divergence: a loss that grows check after check, away from the best that was reached.
//
// Source: profiler specification, rule 4 (recent loss > 2 × best, gradient norm rising for 5 checks; TheDeepChecker).
// Ours: a check is the median of check_steps losses; every one of `checks` checks must be kGrowth times the one before
// it, the last one above `factor` times the best and above kStartFactor times the first; where gradients are captured
// their norm must have risen meanwhile, too. A loss that is kExplosion times as high as at the start for a whole check
// fires at once. Losses that are not positive are left out. State: one check of losses and a few numbers for each loss.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/losses/losses_rules.h"
#include "judge/rules/builtin/losses/train_losses.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"

namespace trainwarden::rules {
namespace divergence_rule {
namespace {

constexpr std::int64_t kMostSteps = 100'000;
constexpr double kGrowth = 1.1;
constexpr double kStartFactor = 1.2;
constexpr double kExplosion = 1e5;
constexpr double kWithoutGradients = 0.7;  // confidence
constexpr const char* kAdvice =
    "Go back to a checkpoint from before the loss began to rise and train on with a third of the learning rate, or "
    "with gradient clipping; if it then falls, the learning rate was too high for this part of the training.";

// The checks of one loss.
class Course {
 public:
  struct Check {
    double loss = 0;                      // median
    std::optional<double> gradient_norm;  // of the last step of the check
    std::int64_t first_step = 0;
  };

  // A check, when this loss completes one.
  std::optional<Check> add(std::int64_t step, double loss, std::optional<double> gradient_norm, std::size_t length) {
    if (losses_.empty()) first_step_ = step;
    losses_.push_back(loss);
    if (losses_.size() < length) return std::nullopt;
    const auto middle = losses_.begin() + static_cast<std::ptrdiff_t>(length / 2);
    std::nth_element(losses_.begin(), middle, losses_.end());
    const Check check{*middle, gradient_norm, first_step_};
    const bool is_rising = last_ && check.loss >= kGrowth * last_->loss;
    if (!is_rising) before_rise_ = check;
    rising_ = is_rising ? rising_ + 1 : 0;
    if (!start_) start_ = check.loss;
    best_ = last_ ? std::min(best_, check.loss) : check.loss;
    lowest_ = *std::min_element(losses_.begin(), losses_.end());
    last_ = check;
    losses_.clear();
    return check;
  }

  std::int64_t rising_checks() const { return rising_; }
  const Check& before_rise() const { return before_rise_; }
  double best() const { return best_; }
  double start() const { return start_.value_or(0); }
  double lowest() const { return lowest_; }  // of the last check

 private:
  std::vector<double> losses_;
  std::int64_t first_step_ = 0;
  std::optional<Check> last_;
  Check before_rise_;
  std::int64_t rising_ = 0;
  std::optional<double> start_;
  double best_ = 0;
  double lowest_ = 0;
};

class Divergence final : public Rule {
 public:
  Divergence(TensorSelection selection, double factor, std::int64_t checks, std::int64_t check_steps)
      : selection_(std::move(selection)), factor_(factor), checks_(checks), check_steps_(check_steps) {}

  Verdict evaluate(const StepWindow& window) override {
    return judge_train_losses(selection_, facts_, window,
                              [&](const StepReductions& losses) { return judge(losses, window); });
  }

  std::vector<Collection> needs() const override {
    std::vector<Collection> needs = needs_of(selection_, "divergence", KeepForm::whole(), 1);
    needs.push_back(need_statistics("gradients"));
    needs.push_back(need_signals());
    return needs;
  }

 private:
  Verdict judge(const StepReductions& losses, const StepWindow& window) {
    const std::optional<double> norm = gradient_norm(window);
    std::optional<Verdict> worst;
    bool is_judged = false;
    for (const TensorReduction& loss : losses.tensors) {
      if (!(loss.value > 0) || !std::isfinite(loss.value)) continue;
      Course& course = courses_[key_of(loss)];
      const auto check = course.add(window.global_step(), loss.value, norm, static_cast<std::size_t>(check_steps_));
      if (!check) continue;
      is_judged = true;
      if (is_diverging(course, *check) && !worst) worst = verdict_on(loss, course, *check, window);
    }
    if (worst) return *std::move(worst);
    if (is_judged) return Verdict::ok();
    return Verdict::insufficient_data(fmt::format("positive losses are judged by checks of {} steps", check_steps_));
  }

  bool is_diverging(const Course& course, const Course::Check& check) const {
    if (course.lowest() > kExplosion * course.start()) return true;
    if (course.rising_checks() < checks_) return false;
    if (check.loss <= factor_ * course.best() || check.loss <= kStartFactor * course.start()) return false;
    const auto& before = course.before_rise().gradient_norm;
    return !check.gradient_norm || !before || *check.gradient_norm > *before;
  }

  static std::optional<double> gradient_norm(const StepWindow& window) {
    const StepReductions gradients = read_reductions({.collections = {"gradients"}}, Reduction::kL2, false, window);
    if (gradients.tensors.empty()) return std::nullopt;
    double square_sum = 0;
    for (const TensorReduction& gradient : gradients.tensors) square_sum += gradient.value * gradient.value;
    return std::sqrt(square_sum);
  }

  Verdict verdict_on(const TensorReduction& loss, const Course& course, const Course::Check& check,
                     const StepWindow& window) const {
    std::vector<Evidence> evidence = {
        {loss.spot.tensor, loss.spot.shown_worker, "loss_to_best", check.loss / course.best(), factor_,
         window.global_step()},
        {loss.spot.tensor, loss.spot.shown_worker, "rising_checks", static_cast<double>(course.rising_checks()),
         static_cast<double>(checks_), course.before_rise().first_step}};
    if (check.gradient_norm && course.before_rise().gradient_norm) {
      evidence.push_back({"gradients", loss.spot.shown_worker, "norm", *check.gradient_norm,
                          *course.before_rise().gradient_norm, window.global_step()});
    }
    std::string text = fmt::format(
        "The loss \"{}\" diverges: it has grown since step {} and is {:.3g} at {}, {:.3g} times the best ({:.3g}).",
        loss.spot.tensor, course.before_rise().first_step, check.loss, describe_step(window),
        check.loss / course.best(), course.best());
    Verdict verdict = fired(std::move(text), kAdvice, std::move(evidence),
                            facts_.has_several_optimizers() ? Severity::kInfo : Severity::kError);
    if (!check.gradient_norm) verdict.confidence = kWithoutGradients;
    return verdict;
  }

  const TensorSelection selection_;
  const double factor_;
  const std::int64_t checks_;
  const std::int64_t check_steps_;
  TrainingFacts facts_;
  std::map<LossKey, Course> courses_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  TensorSelection selection;
  selection.collections = read.collections("collection_names");
  const double factor = read.number("factor", 1);
  const std::int64_t checks = read.integer("checks", 1, kMostSteps);
  const std::int64_t check_steps = read.integer("check_steps", 1, kMostSteps);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new Divergence(std::move(selection), factor, checks, check_steps));
}

}  // namespace
}  // namespace divergence_rule

RuleKind divergence() {
  RuleDescription description;
  description.name = "Divergence";
  description.summary = "Fires when a loss grows check after check, away from the best that was reached.";
  description.parameters = {{"collection_names", "losses", "collections whose tensors are judged, separated by commas"},
                            {"factor", "2", "how many times the best loss so far the loss must be"},
                            {"checks", "5", "checks in a row that must each be 10 % above the one before"},
                            {"check_steps", "10", "training steps of a check, whose median loss counts"}};
  description.topic = "losses";
  description.details =
      R"(The losses of training steps are taken in checks of `check_steps` by their median. Fires when the last `checks`
checks each were at least 10 % above the one before, and the last is more than `factor` times the best so far and 20 %
above the first of the run. Where gradients are captured their norm must have risen as well; without them confidence is
0.7. A loss that for a whole check is 100,000 times as high as at the start fires at once. Evidence: `loss_to_best`,
`rising_checks` with the step at which the rise began, and the `norm` of the gradients against that before the rise.

With several optimizers, which may train against each other, it is a note. Losses that are zero, negative or not finite
are left out; a loss that becomes NaN is NonFiniteOrigin's. A loss that grows slowly is LossDrift's.)";
  description.source = "TheDeepChecker (loss against the best, gradient norm); the checks are ours";
  description.by_default = true;
  description.in_process = true;
  description.consequences = {"LossNotDecreasing", "LossDrift", "Overtraining", "Overfit"};
  return {std::move(description), divergence_rule::create};
}

}  // namespace trainwarden::rules
