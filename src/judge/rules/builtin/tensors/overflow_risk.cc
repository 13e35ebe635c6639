// OverflowRisk: a tensor in a short floating-point type whose values come near the largest number that it can hold.
//
// Source: profiler specification, rule 2: the largest magnitude above a tenth of the largest number of float16 or
// bfloat16, or growing more than twofold from check to check, five times in a row (the growth rate is
// TheDeepChecker's). Ours: growth counts only from a value on that is not small any more; float32 is judged only when a
// type is named that it has to fit; gradients are left out once a loss scale was seen; large negative values that look
// like a mask are let pass.
//
// State: of each judged tensor on each worker, its last magnitude and how long it has been growing.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/tensors/selection_parameters.h"
#include "judge/rules/builtin/tensors/tensors_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/signals.h"
#include "judge/rules/step_statistics.h"
#include "judge/rules/training_facts.h"

namespace trainwarden::rules {
namespace overflow_risk_rule {
namespace {

constexpr double kLargestFloat16 = 65504;
constexpr double kLargestBFloat16 = 0x1.FEp127;
constexpr std::int64_t kMostChecks = 1'000'000;
constexpr double kConfidence = 0.8;  // a tensor may stay near the end of its range and never pass it
constexpr const char* kAbsMax = "abs_max";
constexpr const char* kGrowth = "growth";
constexpr const char* kNeverMasked[] = {"weights", "biases", "gradients", "losses", "optimizer_state"};
constexpr const char* kAdvice =
    "Find what makes it grow: normalise the inputs or targets, add a normalisation layer before it, or lower the "
    "learning rate; if it is meant to be so large, keep this layer in float32, or use bfloat16 instead of float16.";

// What counts as near the end of the range.
struct Limits {
  double share = 0;
  double growth_ratio = 0;
  std::int64_t growth_checks = 0;
  double growth_floor = 0;
};

struct Magnitude {  // over the finite elements; NaN when there are none
  double abs_max = 0;
  double max = 0;
};

double largest_of(DType dtype) {
  return dtype == DType::kFloat16 ? kLargestFloat16 : kLargestBFloat16;
}

// How long a tensor has been growing.
class Growth {
 public:
  void add(double abs_max, const Limits& limits) {
    const bool grows = last_ >= limits.growth_floor && abs_max > limits.growth_ratio * last_;
    if (!grows) {
      checks_ = 0;
      start_ = abs_max;
    } else {
      ++checks_;
    }
    last_ = abs_max;
  }
  std::int64_t checks() const { return checks_; }  // in a row
  double start() const { return start_; }
  double ratio() const { return std::pow(last_ / start_, 1.0 / static_cast<double>(checks_)); }  // of one check

 private:
  double last_ = 0;
  double start_ = 0;
  std::int64_t checks_ = 0;
};

struct Found {
  Evidence evidence;
  double share = 0;  // of the range
  std::string text;
};

class OverflowRisk final : public Rule {
 public:
  OverflowRisk(TensorSelection selection, const Limits& limits, std::optional<DType> limit_dtype, bool allow_masks)
      : selection_(std::move(selection)), limits_(limits), limit_dtype_(limit_dtype), allow_masks_(allow_masks) {}

  Verdict evaluate(const StepWindow& window) override {
    const auto scales = read_signals(window, signals::kAmpScale);
    if (!scales.ok()) return Verdict::insufficient_data(scales.status().to_string());
    has_loss_scale_ |= !scales->empty();
    Judged judged;
    const JudgingGaps gaps =
        visit_tensors(selection_, window, [&](const TensorSpot& spot) { return look_at(spot, window, judged); });
    if (judged.tensors == 0) return without_judgement(judged, gaps, window);
    return judged.found.empty() ? Verdict::ok() : verdict_on(std::move(judged.found), window);
  }

  std::vector<Collection> needs() const override {
    std::vector<Collection> needs = needs_of(selection_, "overflow_risk", KeepForm::reduced(), 1);
    needs.push_back(need_signals());
    return needs;
  }

 private:
  struct Judged {
    std::size_t seen = 0;     // whose dtype is known
    std::size_t fitting = 0;  // that have to fit a short type
    std::size_t tensors = 0;  // of these with a finite element
    std::vector<Found> found;
  };

  Status look_at(const TensorSpot& spot, const StepWindow& window, Judged& judged) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const DType dtype, window.dtype(spot));
    ++judged.seen;
    const std::optional<DType> fits = type_to_fit(dtype);
    if (!fits || (has_loss_scale_ && is_one_of(spot, "gradients", window))) return Status();
    ++judged.fitting;
    TRAINWARDEN_ASSIGN_OR_RETURN(const Magnitude magnitude, magnitude_of(spot, window));
    Growth& growth = growths_[{spot.tensor, spot.worker}];
    if (!std::isfinite(magnitude.abs_max)) {  // it is past a warning
      growth = Growth();
      return Status();
    }
    ++judged.tensors;
    growth.add(magnitude.abs_max, limits_);
    auto found = judge(spot, magnitude, growth, *fits, window);
    if (found) judged.found.push_back(*std::move(found));
    return Status();
  }

  // float8 is left out: what trains in it is scaled so that it fills the range.
  std::optional<DType> type_to_fit(DType dtype) const {
    if (dtype == DType::kFloat16 || dtype == DType::kBFloat16) return dtype;
    return dtype == DType::kFloat32 ? limit_dtype_ : std::nullopt;
  }

  static bool is_one_of(const TensorSpot& spot, const char* collection, const StepWindow& window) {
    const auto spots = window.select({.collections = {collection}, .patterns = {}, .all = false});
    return spots.ok() &&
           std::any_of(spots->begin(), spots->end(), [&](const TensorSpot& one) { return one.tensor == spot.tensor; });
  }

  static Result<Magnitude> magnitude_of(const TensorSpot& spot, const StepWindow& window) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const Statistics* const statistics, window.statistics(spot));
    return Magnitude{statistics->abs_max, statistics->max};
  }

  // A mask in a short type is the lowest number of its type, or a large negative one, beside ordinary values.
  bool looks_masked(const TensorSpot& spot, const Magnitude& magnitude, double limit, const StepWindow& window) const {
    return allow_masks_ && magnitude.max < limit &&
           std::none_of(std::begin(kNeverMasked), std::end(kNeverMasked),
                        [&](const char* collection) { return is_one_of(spot, collection, window); });
  }

  std::optional<Found> judge(const TensorSpot& spot, const Magnitude& magnitude, const Growth& growth, DType fits,
                             const StepWindow& window) const {
    const double largest = largest_of(fits);
    const double limit = limits_.share * largest;
    const double value = magnitude.abs_max;
    if (value > limit && !looks_masked(spot, magnitude, limit, window)) {
      return Found{{spot.tensor, spot.shown_worker, kAbsMax, value, limit, window.global_step()},
                   value / largest,
                   fmt::format("has come to {:.4g}, {:.3g} % of the largest {} ({:g})", value, 100 * value / largest,
                               name(fits), largest)};
    }
    if (growth.checks() < limits_.growth_checks) return std::nullopt;
    return Found{{spot.tensor, spot.shown_worker, kGrowth, growth.ratio(), limits_.growth_ratio, window.global_step()},
                 value / largest,
                 fmt::format("has grown from {:.4g} to {:.4g} in {} checks, more than {:g} times in each; the largest "
                             "{} is {:g}",
                             growth.start(), value, growth.checks(), limits_.growth_ratio, name(fits), largest)};
  }

  static Verdict verdict_on(std::vector<Found> found, const StepWindow& window) {
    std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.share > b.share; });
    const Found& worst = found.front();
    std::string others = found.size() > 1 ? fmt::format(" ({} tensors are so)", found.size()) : "";
    std::string message =
        fmt::format("\"{}\" {} at {}{}.", worst.evidence.tensor, worst.text, describe_step(window), others);
    std::vector<Evidence> evidence;
    for (Found& one : found) evidence.push_back(std::move(one.evidence));
    Verdict verdict = fired(std::move(message), kAdvice, std::move(evidence));
    verdict.confidence = kConfidence;
    return verdict;
  }

  Verdict without_judgement(const Judged& judged, const JudgingGaps& gaps, const StepWindow& window) const {
    if (judged.seen == 0 || !gaps.first_damage.ok()) return nothing_to_judge(gaps, "tensor", window);
    if (judged.fitting > 0) {
      return gaps.first_unfit.ok() ? Verdict::insufficient_data(fmt::format(
                                         "none of the {} tensors that are judged has a finite value", judged.fitting))
                                   : nothing_to_judge(gaps, "tensor", window);
    }
    return Verdict::not_applicable(fmt::format(
        "none of the {} tensors at {} is judged: they are not of float16 or bfloat16{}{}", judged.seen,
        describe_step(window), limit_dtype_ ? " or float32" : " (limit_dtype takes float32 for one of them)",
        has_loss_scale_ ? ", or gradients under a loss scale" : ""));
  }

  const TensorSelection selection_;
  const Limits limits_;
  const std::optional<DType> limit_dtype_;
  const bool allow_masks_;
  bool has_loss_scale_ = false;                                    // one was seen so far
  std::map<std::pair<std::string, std::string>, Growth> growths_;  // by tensor and worker
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  TensorSelection selection = read_selection(read);
  Limits limits;
  limits.share = read.number("share", 0, 1);
  limits.growth_ratio = read.number("growth_ratio", 1);
  limits.growth_checks = read.integer("growth_checks", 1, kMostChecks);
  limits.growth_floor = read.number("growth_floor", std::numeric_limits<double>::min());
  std::optional<DType> limit_dtype;
  if (!parameters.at("limit_dtype").empty()) {
    limit_dtype = read.choice("limit_dtype", {"float16", "bfloat16"}) == 0 ? DType::kFloat16 : DType::kBFloat16;
  }
  const bool allow_masks = read.boolean("allow_masks");
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  TRAINWARDEN_RETURN_IF_ERROR(check_chosen(selection));
  return std::unique_ptr<Rule>(new OverflowRisk(std::move(selection), limits, limit_dtype, allow_masks));
}

std::vector<RuleParameter> parameters() {
  std::vector<RuleParameter> all = with_selection(
      {{"share", "0.1", "the share of the largest number of its type that a tensor may come to, from 0 to 1"},
       {"growth_ratio", "2", "growth from one check to the next above which a tensor is taken to be running away"},
       {"growth_checks", "5", "checks in a row with such growth, until it fires"},
       {"growth_floor", "100", "growth counts from this magnitude on, in the tensor's own units"},
       {"limit_dtype", "",
        "float16 or bfloat16: tensors of float32 are judged too, as if they had to fit this type; nothing: they are "
        "not"},
       {"allow_masks", "True",
        "True: only negative values near the limit are fine in tensors that are no weight, gradient, loss or state"}});
  all.front().default_value = "weights,biases,outputs";
  return all;
}

}  // namespace
}  // namespace overflow_risk_rule

RuleKind overflow_risk() {
  RuleDescription description;
  description.name = "OverflowRisk";
  description.summary =
      "Fires when the values of a float16 or bfloat16 tensor come near the largest number of the type, or run towards "
      "it.";
  description.parameters = overflow_risk_rule::parameters();
  description.topic = "tensors";
  description.details =
      R"(A check of a tensor is a step that holds it. Of each chosen tensor in float16 or bfloat16 it takes the largest
magnitude among the finite elements, and fires when that is above `share` of the largest number of the type (65504 for
float16, 3.39e38 for bfloat16), or has grown more than `growth_ratio` times from check to check, `growth_checks` times
in a row, each time from a value of at least `growth_floor`. Evidence: `abs_max`, or `growth` (the mean growth of a
check), the tensor nearest to its limit first. It is a warning before the event: what is not finite any more is
ExplodingTensor's and NonFiniteOrigin's.

It needs statistics, which hold the type as well; values are not read. Tensors in float32 are not judged, unless
`limit_dtype` names a type that they have to fit: for a training in emulated mixed precision, or to see whether a
training in float32 would bear the shorter type. float8 is not judged, since what is trained in it is scaled to fill the
range.

Gradients are not among the collections by default: under a loss scale they come near the limit on purpose, and not
every scaler reports by itself. With `collection_names=gradients` they are judged until a step records a loss scale, from
which on AmpOverflow watches them. Masks of attention are the lowest number of the type: where only negative values are
near the limit, outputs are let pass (`allow_masks`), and only their growth is judged. Some large pretrained language
models hold a few constant activations in the thousands, which is near the limit of float16 and may never pass it.)";
  description.source = "TheDeepChecker (growth above 2 within five checks); the ranges are those of the types";
  description.by_default = true;
  description.is_symptom = true;
  description.in_process = true;
  return {std::move(description), overflow_risk_rule::create};
}

}  // namespace trainwarden::rules
