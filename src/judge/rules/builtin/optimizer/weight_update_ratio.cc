// WeightUpdateRatio: how much the weights change between two looks, against their own size.
//
// Source: the documented rule of SageMaker Debugger: weights are compared with those of the last step that saved them,
// or with num_steps one at least so many steps before; a ratio above large_threshold or below small_threshold fires.
// The documentation does not give the ratio. Ours: r = mean |w - w_before| / (mean |w_before| + epsilon), for each
// weight of each worker, at train steps (or steps without a mode). State: which steps held each weight, at most
// num_steps + 1; the earlier value is read from the run.
#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/optimizer/optimizer_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"
#include "trainwarden/trial.h"

namespace trainwarden::rules {
namespace weight_update_ratio_rule {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000;
constexpr const char* kAdvice =
    "A ratio near 0.001 a step is usual: lower the learning rate where it is much larger, raise it (or look for a "
    "frozen or disconnected layer) where it is much smaller.";

struct Limits {
  double large = 10;
  double small = 1e-8;
  double epsilon = 1e-9;
};

// NaN when either holds one; 0 for an empty weight.
double update_ratio(const std::vector<double>& before, const std::vector<double>& now, double epsilon) {
  if (now.empty()) return 0;
  double change = 0;
  double size = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    change += std::abs(now[i] - before[i]);
    size += std::abs(before[i]);
  }
  const auto count = static_cast<double>(now.size());
  return change / count / (size / count + epsilon);
}

class WeightUpdateRatio final : public Rule {
 public:
  WeightUpdateRatio(std::int64_t num_steps, const Limits& limits) : num_steps_(num_steps), limits_(limits) {}

  Verdict evaluate(const StepWindow& window) override {
    Trial* const trial = window.trial();
    if (trial == nullptr) return Verdict::not_applicable("earlier weights are not known inside the training");
    if (window.mode() == Mode::kEval || window.mode() == Mode::kPredict) {
      return Verdict::not_applicable("weights are compared at train steps");
    }
    std::size_t seen = 0;
    std::size_t compared = 0;
    std::vector<Evidence> found;
    const JudgingGaps gaps = visit_tensors({.collections = {"weights"}}, window, [&](const TensorSpot& spot) -> Status {
      TRAINWARDEN_ASSIGN_OR_RETURN(const TensorValue now,
                                   trial->value(spot.tensor, window.global_step(), Mode::kGlobal, spot.worker));
      ++seen;
      const std::int64_t before = step_before(spot, window.global_step());
      if (before < 0) return Status();
      TRAINWARDEN_ASSIGN_OR_RETURN(const TensorValue earlier,
                                   trial->value(spot.tensor, before, Mode::kGlobal, spot.worker));
      if (!(earlier.shape == now.shape)) return Status();
      ++compared;
      judge(spot, update_ratio(earlier.to_doubles(), now.to_doubles(), limits_.epsilon), window, found);
      return Status();
    });
    if (seen == 0) return nothing_to_judge(gaps, "whole weight", window);
    if (compared == 0) return Verdict::insufficient_data("the weights of an earlier step are needed to compare with");
    if (found.empty()) return Verdict::ok();
    std::stable_sort(found.begin(), found.end(), is_worse);
    std::string text = message(found, compared, window);
    return fired(std::move(text), kAdvice, std::move(found));
  }

  std::vector<Collection> needs() const override {
    return {need_values("weights", num_steps_ > 0 ? num_steps_ : kValueInterval)};
  }

 private:
  // The latest step that held the weight, at least num_steps_ before; -1 when there is none.
  std::int64_t step_before(const TensorSpot& spot, std::int64_t step) {
    std::deque<std::int64_t>& steps = steps_[{spot.tensor, spot.worker}];
    const std::int64_t latest = step - std::max<std::int64_t>(num_steps_, 1);
    while (steps.size() > 1 && steps[1] <= latest) steps.pop_front();
    const std::int64_t before = !steps.empty() && steps.front() <= latest ? steps.front() : -1;
    steps.push_back(step);
    return before;
  }

  void judge(const TensorSpot& spot, double ratio, const StepWindow& window, std::vector<Evidence>& found) const {
    if (ratio > limits_.large) {
      found.push_back({spot.tensor, spot.shown_worker, "update_ratio", ratio, limits_.large, window.global_step()});
    } else if (ratio < limits_.small) {
      found.push_back({spot.tensor, spot.shown_worker, "update_ratio", ratio, limits_.small, window.global_step()});
    }
  }

  // By how many decades it is past its limit.
  static bool is_worse(const Evidence& a, const Evidence& b) {
    const auto distance = [](const Evidence& e) {
      return e.value == 0 ? std::numeric_limits<double>::infinity() : std::abs(std::log(e.value / e.threshold));
    };
    return distance(a) > distance(b);
  }

  static std::string message(const std::vector<Evidence>& found, std::size_t compared, const StepWindow& window) {
    const Evidence& worst = found.front();
    const bool is_large = worst.value > worst.threshold;
    return fmt::format("{} of {} weights changed too {} until {}: \"{}\" by {:.3g} of its size; the limit is {:g}.",
                       found.size(), compared, is_large ? "much" : "little", describe_step(window), worst.tensor,
                       worst.value, worst.threshold);
  }

  const std::int64_t num_steps_;  // 0: the last step that holds the weight
  const Limits limits_;
  std::map<std::pair<std::string, std::string>, std::deque<std::int64_t>> steps_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const std::int64_t num_steps = parameters.at("num_steps").empty() ? 0 : read.integer("num_steps", 1, kMostSteps);
  Limits limits;
  limits.large = read.number("large_threshold", 0);
  limits.small = read.number("small_threshold", 0);
  limits.epsilon = read.number("epsilon", 0);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new WeightUpdateRatio(num_steps, limits));
}

}  // namespace
}  // namespace weight_update_ratio_rule

RuleKind weight_update_ratio() {
  RuleDescription description;
  description.name = "WeightUpdateRatio";
  description.summary =
      "Fires when weights change very much or next to nothing between two steps, against their own size.";
  description.parameters = {
      {"num_steps", "", "steps between the two, at least; nothing: the last step that holds the weight"},
      {"large_threshold", "10", "the highest ratio that is still fine"},
      {"small_threshold", "0.00000001", "the lowest ratio that is still fine"},
      {"epsilon", "0.000000001", "added to the size of the earlier weight, so that it is not zero"}};
  description.topic = "weights";
  description.details =
      R"(At a train step that holds weights whole, r = mean |w - w'| / (mean |w'| + `epsilon`) with w' the weight at the last
step that held it, or with `num_steps` at the latest step at least so many before. Fires when r is above
`large_threshold` or below `small_threshold`. Evidence: `update_ratio`, the farthest from its limit first. A ratio of NaN
does not fire: that is NonFiniteOrigin's.

Not one of the default rules: it needs weights whole, and a weight that begins at zero has a ratio as large as you like.)";
  description.source = "the documented rule of SageMaker Debugger; the formula of the ratio is ours";
  return {std::move(description), weight_update_ratio_rule::create};
}

}  // namespace trainwarden::rules
