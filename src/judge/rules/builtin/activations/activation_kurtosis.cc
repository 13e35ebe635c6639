// ActivationKurtosis: activations of which a few have become far larger than all others.
//
// Source: the kurtosis of layer outputs as an early sign of divergence is reported for small language models (the
// README of a training monitor: 14 to 18 steps ahead); the condition is ours. The kurtosis is compared with what was
// usual for the same tensor: with y = ln(kurtosis), and the median m and the scaled median absolute deviation d of y
// over the last `window` steps, it is out of the ordinary when y - m > threshold · max(d, 0.02), it is min_ratio times
// the usual one, and its excess over a normal distribution (3) is at least min_excess. It fires when that lasts for
// `patience` captured steps. Steps out of the ordinary do not join what is usual.
//
// The fourth moment is computed from the histogram of statistics, at the price of one, and from values where there is
// no histogram (distribution.h says how near that comes).
//
// State: `window` numbers for each tensor.
#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/activations/activations_rules.h"
#include "judge/rules/builtin/activations/distribution.h"
#include "judge/rules/builtin/tensors/selection_parameters.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace activation_kurtosis_rule {
namespace {

constexpr std::int64_t kMost = 1'000'000;
constexpr std::size_t kLeastHistory = 20;
constexpr double kNormal = 3;             // kurtosis of a normal distribution
constexpr double kLeastDeviation = 0.02;  // of ln(kurtosis): less is rounding and chance
constexpr double kMadToSigma = 1.4826;    // of a normal distribution
constexpr double kConfidence = 0.7;       // a sign of what may come, not a fault yet
constexpr const char* kAdvice =
    "Look at the first of these layers for units or places that grow without bound; try a lower learning rate, "
    "gradient clipping, weight decay or a normalisation layer before it.";

struct Limits {
  std::size_t window = 0;
  double threshold = 0;
  double min_ratio = 0;
  double min_excess = 0;
  std::int64_t patience = 0;
  std::uint64_t min_elements = 0;
};

double median(std::vector<double> numbers) {
  return quantile(std::move(numbers), 0.5);
}

// What is usual for one tensor on one worker.
class KurtosisHistory {
 public:
  bool is_long_enough() const { return usual_.size() >= kLeastHistory; }
  double usual() const { return std::exp(median({usual_.begin(), usual_.end()})); }

  bool is_out_of_the_ordinary(double kurtosis, const Limits& limits) const {
    const std::vector<double> logs(usual_.begin(), usual_.end());
    const double middle = median(logs);
    std::vector<double> distances;
    for (const double one : logs) distances.push_back(std::abs(one - middle));
    const double deviation = std::max(kMadToSigma * median(std::move(distances)), kLeastDeviation);
    const double rise = std::log(kurtosis) - middle;
    return rise > limits.threshold * deviation && rise > std::log(limits.min_ratio) &&
           kurtosis - kNormal >= limits.min_excess;
  }

  // Returns for how many steps in a row it has been out of the ordinary.
  std::int64_t add(double kurtosis, const Limits& limits) {
    if (is_long_enough() && is_out_of_the_ordinary(kurtosis, limits)) return ++steps_out_;
    steps_out_ = 0;
    usual_.push_back(std::log(kurtosis));
    if (usual_.size() > limits.window) usual_.pop_front();
    return 0;
  }

 private:
  std::deque<double> usual_;  // ln(kurtosis)
  std::int64_t steps_out_ = 0;
};

class ActivationKurtosis final : public Rule {
 public:
  ActivationKurtosis(TensorSelection selection, const Limits& limits)
      : selection_(std::move(selection)), limits_(limits) {}

  Verdict evaluate(const StepWindow& window) override {
    std::size_t judged = 0;
    std::size_t young = 0;
    std::vector<Evidence> peaked;
    const JudgingGaps gaps = visit_tensors(selection_, window, [&](const TensorSpot& spot) -> Status {
      TRAINWARDEN_ASSIGN_OR_RETURN(const double now, kurtosis(spot, window, limits_.min_elements));
      if (!(now > 0)) return no_kurtosis(spot);
      KurtosisHistory& history = histories_[{spot.tensor, spot.worker}];
      ++(history.is_long_enough() ? judged : young);
      if (history.add(now, limits_) < limits_.patience) return {};
      peaked.push_back({spot.tensor, spot.shown_worker, "kurtosis", now,
                        std::max(history.usual() * limits_.min_ratio, kNormal + limits_.min_excess),
                        window.global_step()});
      return {};
    });
    if (judged == 0 && young == 0) return nothing_to_judge(gaps, "activation", window);
    if (judged == 0) {
      return Verdict::insufficient_data(fmt::format(
          "what is usual is known after {} captured steps; {} is not past that", kLeastHistory, describe_step(window)));
    }
    if (peaked.empty()) return Verdict::ok();
    std::stable_sort(peaked.begin(), peaked.end(), is_worse);
    Verdict verdict = fired(message(peaked, judged, window), kAdvice, peaked);
    verdict.confidence = kConfidence;
    return verdict;
  }

  std::vector<Collection> needs() const override {
    const KeepForm histogram{.values = false, .statistics = true, .histogram = true};
    return needs_of(selection_, "activation_kurtosis", histogram, 1);
  }

 private:
  using Key = std::pair<std::string, std::string>;  // tensor, worker

  static Status no_kurtosis(const TensorSpot& spot) {
    return Status(Code::kOutOfRange,
                  fmt::format("the kurtosis of \"{}\" is unknown: its elements are equal, or too close together for a "
                              "histogram",
                              spot.tensor));
  }

  static bool is_worse(const Evidence& a, const Evidence& b) { return a.value / a.threshold > b.value / b.threshold; }

  std::string message(const std::vector<Evidence>& peaked, std::size_t judged, const StepWindow& window) const {
    return fmt::format(
        "The outputs of {} of {} layers have had far larger outliers than usual for {} captured steps, up to {}: the "
        "kurtosis of \"{}\" is {:.3g}, up to {:.3g} is fine.",
        peaked.size(), judged, limits_.patience, describe_step(window), peaked.front().tensor, peaked.front().value,
        peaked.front().threshold);
  }

  const TensorSelection selection_;
  const Limits limits_;
  std::map<Key, KurtosisHistory> histories_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  TensorSelection selection = read_selection(read);
  Limits limits;
  limits.window = static_cast<std::size_t>(read.integer("window", kLeastHistory, kMost));
  limits.threshold = read.number("threshold", 0);
  limits.min_ratio = read.number("min_ratio", 1);
  limits.min_excess = read.number("min_excess", 0);
  limits.patience = read.integer("patience", 1, kMost);
  limits.min_elements = static_cast<std::uint64_t>(read.integer("min_elements", 2, kMost));
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  TRAINWARDEN_RETURN_IF_ERROR(check_chosen(selection, "outputs"));
  return std::unique_ptr<Rule>(new ActivationKurtosis(std::move(selection), limits));
}

}  // namespace
}  // namespace activation_kurtosis_rule

RuleKind activation_kurtosis() {
  return {
      {.name = "ActivationKurtosis",
       .summary = "Fires when the outputs of a layer have far larger outliers than usual, an early sign of divergence.",
       .parameters = {{"collection_names", "outputs", "collections whose tensors are judged, separated by commas"},
                      {"tensor_regex", "", "patterns of tensors that are judged too"},
                      {"window", "50", "captured steps that define what is usual"},
                      {"threshold", "6", "how far ln(kurtosis) may be from its median, in deviations (scaled MAD)"},
                      {"min_ratio", "2", "how many times the usual kurtosis it must be"},
                      {"min_excess", "5", "the least excess over the kurtosis of a normal distribution, 3"},
                      {"patience", "3", "captured steps in a row for which all that must hold"},
                      {"min_elements", "1024", "tensors with fewer elements are not judged"}},
       .topic = "activations",
       .details =
           "Compares the kurtosis of each layer's outputs with what was usual for the same tensor over the last "
           "`window` captured steps, at least 20 of them: it fires when ln(kurtosis) is more than `threshold` "
           "deviations above its median, the kurtosis is `min_ratio` times the usual one, and its excess over 3 is at "
           "least `min_excess`, for `patience` captured steps in a row. The evidence is `kurtosis` with the limit that "
           "it passed. The fourth moment comes from the histogram of statistics (four bins an octave, so within a few "
           "percent), not from values.\n\n"
           "It is not a default rule. In a small network that ended in NaN after some 90 steps it would have fired at "
           "step 63; but of ten networks that learned well it fired on one that went through a rough spell at a high "
           "learning rate, and histograms of all outputs at every step cost more than what the other rules need. Its "
           "confidence is 0.7.",
       .source = "the README of a training monitor for the signal; the condition is ours",
       .by_default = false,
       .in_process = true,
       .consequences = {"LossNotDecreasing", "LossSpike", "Divergence", "GradientSpike"}},
      activation_kurtosis_rule::create};
}

}  // namespace trainwarden::rules
