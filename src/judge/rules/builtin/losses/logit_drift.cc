// LogitDrift: the scores of a classifier wander away from zero, all of them together.
//
// Source: profiler specification, rule 31: log Z = log Σ exp(score) over the classes, which the z-loss of PaLM keeps
// near 0 and whose drift Wortsman et al. 2023 found ahead of divergence. A softmax does not see it, and so neither does
// the loss, until the scores are too large for the number type. Ours: the mean of log Z over the samples, its
// exponential average, and both limits: how much farther from 0 than at the start, and that it is still on its way.
//
// State: of each predictions tensor on each worker, a start, an average and the last ten averages.
#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/losses/losses_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"
#include "judge/rules/tensor_elements.h"

namespace trainwarden::rules {
namespace logit_drift_rule {
namespace {

constexpr std::int64_t kJudgedInterval = 10;  // whole predictions are needed
constexpr std::int64_t kMostChecks = 1'000'000;
constexpr std::int64_t kStartChecks = 3;
constexpr std::size_t kRisingChecks = 10;  // over which it must have moved on
constexpr double kAverageWeight = 0.2;
constexpr double kConfidence = 0.7;  // a very confident classifier has large scores too
constexpr const char* kLogZ = "log_z";
constexpr const char* kAdvice =
    "Add a z-loss, 1e-4 times the mean of log Z squared, and check its sign; or lower the learning rate, or use weight "
    "decay on the last layer. If log Z then stays where it is, that was the reason.";

// The mean over all samples of log Σ exp(score), with the classes in dimension 1; NaN or infinite when one of them is.
double mean_log_z(const TensorView& scores) {
  const std::vector<double> numbers = components_of(scores);
  const auto classes = static_cast<std::size_t>(scores.shape[1]);
  const std::size_t inner = numbers.size() / classes / static_cast<std::size_t>(scores.shape[0]);
  double sum = 0;
  for (std::size_t sample = 0; sample < numbers.size() / classes; ++sample) {
    const std::size_t first = sample / inner * classes * inner + sample % inner;
    double largest = numbers[first];
    for (std::size_t i = 1; i < classes; ++i) largest = std::max(largest, numbers[first + i * inner]);
    double exponentials = 0;  // relative to the largest, so that none overflows
    for (std::size_t i = 0; i < classes; ++i) exponentials += std::exp(numbers[first + i * inner] - largest);
    sum += largest + std::log(exponentials);
  }
  return sum / static_cast<double>(numbers.size() / classes);
}

// Of one tensor, check by check.
class LogZ {
 public:
  void add(double log_z) {
    ++checks_;
    const double part = 1 / static_cast<double>(checks_);
    average_ += std::max(kAverageWeight, part) * (log_z - average_);
    if (checks_ <= kStartChecks) start_ += part * (log_z - start_);
    recent_.push_back(average_);
    if (recent_.size() > kRisingChecks) recent_.pop_front();
  }
  std::int64_t checks() const { return checks_; }
  double start() const { return start_; }
  double average() const { return average_; }
  double drift() const { return std::abs(average_) - std::abs(start_); }
  bool moves_on() const {
    return recent_.size() == kRisingChecks && std::abs(average_) > std::abs(recent_.front()) &&
           std::signbit(average_) == std::signbit(recent_.front());
  }

 private:
  std::int64_t checks_ = 0;
  double start_ = 0;
  double average_ = 0;
  std::deque<double> recent_;
};

class LogitDrift final : public Rule {
 public:
  LogitDrift(TensorSelection selection, double limit, std::int64_t checks)
      : selection_(std::move(selection)), limit_(limit), checks_(checks) {}

  Verdict evaluate(const StepWindow& window) override {
    if (window.mode() != Mode::kTrain && window.mode() != Mode::kGlobal) {
      return Verdict::not_applicable(
          fmt::format("a {} step; only the predictions of training are judged", name(window.mode())));
    }
    std::size_t seen = 0;
    bool is_judged = false;
    std::vector<std::pair<TensorSpot, const LogZ*>> found;
    const JudgingGaps gaps = visit_tensors(selection_, window, [&](const TensorSpot& spot) -> Status {
      TRAINWARDEN_ASSIGN_OR_RETURN(const SharedTensorValue value, window.value(spot));
      TRAINWARDEN_RETURN_IF_ERROR(check(spot, value.view));
      ++seen;
      const double log_z = mean_log_z(value.view);
      if (!std::isfinite(log_z)) return Status();
      LogZ& series = series_[{spot.tensor, spot.worker}];
      series.add(log_z);
      if (series.checks() < checks_) return Status();
      is_judged = true;
      if (series.drift() > limit_ && series.moves_on()) found.emplace_back(spot, &series);
      return Status();
    });
    if (seen == 0) return nothing_to_judge(gaps, "batch of predictions", window);
    if (!found.empty()) return verdict_on(std::move(found), window);
    if (is_judged) return Verdict::ok();
    return Verdict::insufficient_data(fmt::format("{} finite values of log Z are needed", checks_));
  }

  std::vector<Collection> needs() const override {
    return needs_of(selection_, "logit_drift", KeepForm::whole(), kJudgedInterval);
  }

 private:
  static Status check(const TensorSpot& spot, const TensorView& scores) {
    const bool fits = is_floating_point(scores.dtype) && scores.shape.rank() >= 2 && scores.shape[1] >= 2 &&
                      scores.element_count() > 0;
    if (fits) return Status();
    return Status(Code::kInvalidArgument,
                  fmt::format("\"{}\" is {} of shape {}; scores of at least two classes, in dimension 1, are judged",
                              spot.tensor, name(scores.dtype), scores.shape.to_string()));
  }

  Verdict verdict_on(std::vector<std::pair<TensorSpot, const LogZ*>> found, const StepWindow& window) const {
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.second->drift() > b.second->drift(); });
    std::vector<Evidence> evidence;
    for (const auto& [spot, series] : found) {
      const double threshold = std::copysign(std::abs(series->start()) + limit_, series->average());
      evidence.push_back({spot.tensor, spot.shown_worker, kLogZ, series->average(), threshold, window.global_step()});
    }
    const LogZ& worst = *found.front().second;
    Verdict verdict =
        fired(fmt::format(
                  "The scores \"{}\" drift away from 0: their log Z averages {:.3g} at {} and {:.3g} at the start, and "
                  "is moving on; {:g} farther is the limit.",
                  found.front().first.tensor, worst.average(), describe_step(window), worst.start(), limit_),
              kAdvice, std::move(evidence));
    verdict.confidence = kConfidence;
    return verdict;
  }

  const TensorSelection selection_;
  const double limit_;
  const std::int64_t checks_;
  std::map<std::pair<std::string, std::string>, LogZ> series_;  // by tensor and worker
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  TensorSelection selection;
  selection.collections = read.collections("collection_names");
  const double limit = read.number("limit", 0);
  const std::int64_t checks = read.integer("checks", kRisingChecks, kMostChecks);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new LogitDrift(std::move(selection), limit, checks));
}

}  // namespace
}  // namespace logit_drift_rule

RuleKind logit_drift() {
  RuleDescription description;
  description.name = "LogitDrift";
  description.summary = "Fires when the scores of a classifier drift away from zero together, which no loss shows.";
  description.parameters = {
      {"collection_names", "predictions", "collections whose tensors are judged, separated by commas"},
      {"limit", "20", "how much farther from 0 than at the start log Z may be, in nats"},
      {"checks", "10", "steps that hold predictions whole before it is judged, at least 10"}};
  description.topic = "losses";
  description.details =
      R"(At training steps that hold predictions whole (every tenth is asked for) it takes the mean over the samples of
log Z = log Σ exp(score), with the classes in dimension 1, and averages it exponentially (weight 0.2). Fires when the
average is more than `limit` farther from 0 than at the first three checks, and farther than ten checks ago. Evidence:
`log_z`, the largest drift first. A softmax does not change when all scores move together, so the loss does not show it;
but in half precision large scores lose the digits that separate classes.

Not one of the default rules: scores also grow with the confidence of a classifier that fits its data well, and
outputs of a regression are no scores. Batches with a score that is not finite are passed over, unless it is a mask
(-infinity) beside finite ones. It cannot tell a shift of all scores from the growth of the largest.)";
  description.source = "Wortsman et al. 2023 and the z-loss of PaLM; the limits are ours";
  return {std::move(description), logit_drift_rule::create};
}

}  // namespace trainwarden::rules
