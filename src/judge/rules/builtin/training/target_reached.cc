// TargetReached: a metric on a sample that has passed its target, and not by luck.
//
// Source: ours, with the bounds of mean_bound.h. Each step that holds the scores is a look at the sample. A training
// that stops at the first look whose mean passes the target stops where the sample flatters it. Here the bound must
// pass, at a level that all looks together share, so that a mean that is not there is told to be with a chance of at
// most alpha over the whole training.
//
// It is a goal, not a fault: a note, which starts actions all the same. State: how many looks there were, and when the
// mean alone passed first.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "judge/rules/builtin/training/training_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"
#include "judge/rules/tensor_elements.h"
#include "trainwarden/mean_bound.h"

namespace trainwarden::rules {
namespace target_reached_rule {
namespace {

constexpr std::int64_t kMaxCount = 1'000'000'000;
constexpr std::int64_t kMaxScores = 10'000'000;
constexpr const char* kAdvice =
    "Stop, evaluate on the full set, and report both figures: what a sample gave at the moment of a stop is on average "
    "too good.";

struct Limits {
  double target = 0;
  double lowest = 0;  // of a score
  double highest = 1;
  bool higher_is_better = true;
  double alpha = 0.05;
  std::int64_t looks = 0;
  std::int64_t min_looks = 1;
  std::int64_t patience = 1;
  std::optional<std::int64_t> count;
  std::int64_t population = 0;
};

// One look at the sample, scaled so that a score lies in [0, 1] and more is better.
struct Look {
  std::vector<double> scores;  // empty: only the mean is known
  double mean = 0;
  std::int64_t count = 0;  // of items; 0: not known
  double lowest_seen = 0;  // not scaled, like the next
  double highest_seen = 0;
};

TensorSelection named(const std::string& tensor) {
  TensorSelection selection;
  selection.patterns = {"^\\Q" + tensor + "\\E$"};
  return selection;
}

class TargetReached final : public Rule {
 public:
  TargetReached(std::string tensor, const Limits& limits)
      : tensor_(std::move(tensor)), selection_(named(tensor_)), limits_(limits) {}

  Verdict evaluate(const StepWindow& window) override {
    const auto spots = window.select(selection_);
    if (!spots.ok()) return Verdict::insufficient_data(spots.status().to_string());
    if (spots->empty()) {
      return Verdict::not_applicable(
          fmt::format("no tensor \"{}\" was captured at {}", printable(tensor_), describe_step(window)));
    }
    ++looks_;  // also one that cannot be judged: which can must not depend on the scores
    const TensorSpot& spot = spots->front();
    const auto look = read(window, spot);
    if (!look.ok()) return unread(look.status(), window);
    if (const Verdict verdict = check(*look, window); verdict.outcome != Outcome::kOk) return verdict;
    return judge(*look, spot, window);
  }

  std::vector<Collection> needs() const override {
    return needs_of(selection_, "target_reached", KeepForm::whole(), 1);
  }

 private:
  double scaled(double score) const {
    const double width = limits_.highest - limits_.lowest;
    return limits_.higher_is_better ? (score - limits_.lowest) / width : (limits_.highest - score) / width;
  }
  double unscaled(double part) const {
    const double width = limits_.highest - limits_.lowest;
    return limits_.higher_is_better ? limits_.lowest + part * width : limits_.highest - part * width;
  }
  bool is_passed_by(double value) const {
    return limits_.higher_is_better ? value >= limits_.target : value <= limits_.target;
  }

  Result<Look> read(const StepWindow& window, const TensorSpot& spot) const {
    const auto value = window.value(spot);
    if (value.ok() && component_count(value->view) > 1) return look_at(components_of(value->view));
    const auto statistics = window.statistics(spot);
    const bool is_many = statistics.ok() && (*statistics)->count > 1;
    Look look;
    TRAINWARDEN_ASSIGN_OR_RETURN(const double mean, window.reduction(spot, Reduction::kMean));
    look.mean = scaled(mean);
    look.lowest_seen = is_many ? (*statistics)->reduction(Reduction::kMin) : mean;
    look.highest_seen = is_many ? (*statistics)->reduction(Reduction::kMax) : mean;
    look.count = is_many ? static_cast<std::int64_t>((*statistics)->count) : limits_.count.value_or(0);
    return look;
  }

  Look look_at(std::vector<double> scores) const {
    Look look;
    const auto [lowest, highest] = std::minmax_element(scores.begin(), scores.end());
    look.lowest_seen = *lowest;
    look.highest_seen = *highest;
    for (double& score : scores) look.mean += score = scaled(score);
    look.mean /= static_cast<double>(scores.size());
    look.count = static_cast<std::int64_t>(scores.size());
    look.scores = std::move(scores);
    return look;
  }

  Verdict unread(const Status& status, const StepWindow& window) const {
    return Verdict::insufficient_data(
        fmt::format("\"{}\" cannot be read at {}: {}", printable(tensor_), describe_step(window), status.message()));
  }

  // Ok, or why the look cannot be judged.
  Verdict check(const Look& look, const StepWindow& window) const {
    const std::string what = fmt::format("\"{}\" at {}", printable(tensor_), describe_step(window));
    if (!std::isfinite(look.mean)) return Verdict::insufficient_data(what + " has scores that are not finite");
    if (look.lowest_seen < limits_.lowest || look.highest_seen > limits_.highest) {
      return Verdict::error(
          fmt::format("{}: expected scores from {:g} to {:g}, found {:g} to {:g}; set lowest and highest to what a "
                      "score can be (a percentage: highest=100)",
                      what, limits_.lowest, limits_.highest, look.lowest_seen, look.highest_seen));
    }
    if (look.count == 0) {
      return Verdict::insufficient_data(
          what + " is one number: save one score for each item, or give count, the number of items in its mean");
    }
    if (look.count > kMaxScores) {
      return Verdict::insufficient_data(
          fmt::format("{} has {} scores, more than the {} that are judged", what, look.count, kMaxScores));
    }
    if (limits_.population > 0 && look.count > limits_.population) {
      return Verdict::error(
          fmt::format("{} has {} scores, more than the population of {}: population is the size of "
                      "the full set, of which the sample is a part",
                      what, look.count, limits_.population));
    }
    return Verdict::ok();
  }

  Verdict judge(const Look& look, const TensorSpot& spot, const StepWindow& window) {
    const double mean = unscaled(look.mean);
    if (is_passed_by(mean) && first_mean_step_ < 0) {
      first_mean_step_ = window.global_step();
      first_mean_look_ = looks_;
    }
    if (looks_ < limits_.min_looks) {
      return Verdict::insufficient_data(fmt::format("look {} of at least {}", looks_, limits_.min_looks));
    }
    const double alpha = alpha_of_look(limits_.alpha, looks_ - limits_.min_looks + 1, limits_.looks);
    if (alpha == 0) {
      return Verdict::insufficient_data(fmt::format(
          "look {} is past the {} that were planned, which share alpha: plan more with looks, or leave it away", looks_,
          limits_.looks + limits_.min_looks - 1));
    }
    const double bound = unscaled(look.scores.empty() ? lower_bound_of_mean(look.mean, look.count, alpha)
                                                      : lower_bound_of_scores(look.scores, alpha, limits_.population));
    hits_ = is_passed_by(bound) ? hits_ + 1 : 0;
    if (hits_ < limits_.patience) return Verdict::ok();
    return reached(look, mean, bound, spot, window);
  }

  Verdict reached(const Look& look, double mean, double bound, const TensorSpot& spot, const StepWindow& window) const {
    const std::string by_mean = first_mean_look_ == looks_
                                    ? std::string("The mean alone passes for the first time, too.")
                                    : fmt::format("By the mean alone it would have been look {}, at step {}.",
                                                  first_mean_look_, first_mean_step_);
    const std::string text = fmt::format(
        "\"{}\" has reached its target {:g} at {}: its mean is {:.6g} over {} items, and over all looks together with "
        "{:g} % confidence {} {:.6g}. This was look {}. {}",
        printable(tensor_), limits_.target, describe_step(window), mean, look.count, 100 * (1 - limits_.alpha),
        limits_.higher_is_better ? "not below" : "not above", bound, looks_, by_mean);
    const auto evidence = [&](const char* quantity, double value, double threshold) {
      return Evidence{spot.tensor, spot.shown_worker, quantity, value, threshold, window.global_step()};
    };
    Verdict verdict = fired(text, kAdvice,
                            {evidence("bound", bound, limits_.target), evidence("mean", mean, limits_.target),
                             evidence("items", static_cast<double>(look.count), 0),
                             evidence("looks", static_cast<double>(looks_), static_cast<double>(limits_.looks))},
                            Severity::kInfo);
    verdict.confidence = 0;  // that it is a fault
    return verdict;
  }

  const std::string tensor_;
  const TensorSelection selection_;
  const Limits limits_;
  std::int64_t looks_ = 0;
  std::int64_t hits_ = 0;              // in a row
  std::int64_t first_mean_look_ = 0;   // whose mean passed, 0: none did
  std::int64_t first_mean_step_ = -1;  // global
};

Result<double> read_bound(const RuleParameters& parameters, const char* name) {
  const std::string& text = parameters.at(name);
  const auto number = parse_double(text);
  if (number && std::isfinite(*number)) return *number;
  return Status(Code::kInvalidArgument,
                fmt::format("parameter {0}: expected a finite number, found \"{1}\"; give it as "
                            "{0}=NUMBER, in the unit of the scores",
                            name, printable(text)));
}

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  Limits limits;
  TRAINWARDEN_ASSIGN_OR_RETURN(limits.target, read_bound(parameters, "target"));
  TRAINWARDEN_ASSIGN_OR_RETURN(limits.lowest, read_bound(parameters, "lowest"));
  TRAINWARDEN_ASSIGN_OR_RETURN(limits.highest, read_bound(parameters, "highest"));
  limits.higher_is_better = read.choice("goal", {"max", "min"}) == 0;
  limits.alpha = read.number("alpha", 1e-9, 0.5);
  limits.looks = read.integer("looks", 0, kMaxCount);
  limits.min_looks = read.integer("min_looks", 1, kMaxCount);
  limits.patience = read.integer("patience", 1, kMaxCount);
  if (!parameters.at("count").empty()) limits.count = read.integer("count", 1, kMaxCount);
  limits.population = read.integer("population", 0, kMaxCount);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  const std::string& scores = parameters.at("scores");
  const auto wrong = [](const std::string& message) { return Status(Code::kInvalidArgument, message); };
  if (scores.empty()) return wrong("parameter scores: expected the name of a tensor, found \"\"");
  if (!(limits.lowest < limits.highest)) {
    return wrong(fmt::format("parameters lowest and highest: expected lowest below highest, found {:g} and {:g}",
                             limits.lowest, limits.highest));
  }
  if (limits.target <= limits.lowest || limits.target >= limits.highest) {
    return wrong(
        fmt::format("parameter target: expected a number between lowest ({:g}) and highest ({:g}), found {:g}; "
                    "of a percentage highest is 100",
                    limits.lowest, limits.highest, limits.target));
  }
  if (limits.looks > 0) limits.looks = std::max<std::int64_t>(limits.looks - limits.min_looks + 1, 1);
  return std::unique_ptr<Rule>(new TargetReached(scores, limits));
}

constexpr const char* kDetails =
    R"(Each step that holds the tensor `scores` is a look at a sample: one score for each of its items, such as the F1 of each
question of a part of the dev set. Fires when a confidence bound of the mean is past `target`, `patience` looks in a row. The
bound holds for all looks of the training together: that it ever fires while the true mean of the model is not past the
target has a chance of at most `alpha`. The mean alone, tested again and again, passes where the sample flatters the model; the
guide to stopping at a target has figures of both.

The looks share `alpha`. Where `looks` says how many there will be at most, each gets the same part, and one past them is not
judged; else look k gets alpha / (k (k + 1)). Looks before `min_looks`, and steps before `start_step`, take none of it. So look
rarely, and not before the target can be near.

From scores the bound is that of Waudby-Smith and Ramdas, which goes by how they spread. With `population`, the size of the full
set that the sample was drawn from without replacement, the mean is the one of that set. Where only the mean was kept (a scalar,
a number that the program logs) the bound is Hoeffding's, which must assume the largest spread: it needs `count`, or statistics,
which have it. Without either there is not enough data. No bound assumes a normal distribution.

It cannot see how the sample was drawn: draw it at random, once, and not from what is trained on. Nothing but the stop may
follow from its scores: who chooses learning rates or checkpoints by the same sample fits the model to it. Scores have bounds; a
loss has none, and is not judged. Of several workers the first that has the tensor is judged: gather the scores there. Evidence:
`bound`, `mean`, `items`, `looks`.)";

}  // namespace
}  // namespace target_reached_rule

RuleKind target_reached() {
  RuleDescription description;
  description.name = "TargetReached";
  description.summary =
      "Tells that the mean of a metric on a sample has reached its target, with a bound for many looks.";
  description.parameters = {
      {"scores", "scores", "name of the tensor with one score for each item, or of a scalar with their mean"},
      {"target", "", "what the mean is to reach, in the unit of the scores; it must be given"},
      {"goal", "max", "max: reached from below; min: from above"},
      {"lowest", "0", "the lowest that one score can be"},
      {"highest", "1", "the highest that one score can be; of percentages 100"},
      {"alpha", "0.05", "chance, over all looks together, of telling that a target is reached that is not"},
      {"looks", "0", "how many looks there will be at most; 0: not known"},
      {"min_looks", "1", "the first look that may tell it"},
      {"patience", "1", "looks in a row at which the bound must be past the target"},
      {"count", "", "items behind a mean, where only that is kept"},
      {"population", "0",
       "items of the full set that the sample was drawn from without replacement; 0: any number, never exhausted"}};
  description.topic = "training";
  description.details = target_reached_rule::kDetails;
  description.source =
      "Waudby-Smith and Ramdas, Estimating means of bounded random variables by betting (2024); Hoeffding (1963); the "
      "union bound over looks";
  description.is_goal = true;
  return {std::move(description), target_reached_rule::create};
}

}  // namespace trainwarden::rules
