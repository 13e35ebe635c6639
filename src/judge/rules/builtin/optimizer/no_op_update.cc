// NoOpUpdate: parameters that the optimizer should change and does not.
//
// Source: profiler specification, rule 11 (TrainCheck's cases of updates that did nothing). Three conditions, each for
// `steps` train steps in a row:
//   unchanged: the gradient is not zero, the learning rate is above 0, and the hash of the parameter stays the same (of
//   a
//              bias before a batch norm the gradient is 0 but for rounding, which pulls nowhere);
//   zero:      the gradient is exactly 0 in every element, while others are not;
//   missing:   the model says that the parameter is trained, and it has no gradient, while others do. A note: parts of
//   a
//              model that are not used are common.
// Ours: unchanged parameters are a note as long as they are few and look like numbers of 16 bits (their extremes have
// at most 8 bits of mantissa): a bfloat16 scale of 1 does not move at a small learning rate. Steps that a gradient
// scaler left out, and those at which any rate is 0, do not count. State: one hash and three counts for each parameter.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/optimizer/optimizer_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/signals.h"
#include "judge/rules/step_statistics.h"
#include "judge/rules/training_facts.h"

namespace trainwarden::rules {
namespace no_op_update_rule {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000;
constexpr double kNoise = 1e-6;       // of the largest gradient: what rounding leaves of 0
constexpr double kConverged = 1e-4;   // of the largest gradient of the same parameter
constexpr double kMany = 0.5;         // part of the parameters
constexpr double kUnknownRate = 0.7;  // confidence when the learning rate is not known
constexpr const char* kGradientPrefix = "gradient/";
constexpr const char* kUnchangedAdvice =
    "Compare learning rate × gradient with the spacing of the parameter's number type: keep master weights in float32, "
    "or see that the optimizer holds the parameters that the model uses now (not those from before a move or a wrap).";
constexpr const char* kZeroAdvice =
    "Follow the layer's output to the loss: look for detach(), no_grad(), rounding, a mask of zeros, or units that are "
    "all dead. If it is frozen on purpose, take it out of the optimizer.";

enum class Fault { kUnchanged, kZero, kMissing };

struct Parameter {
  std::optional<std::uint64_t> hash;
  std::int64_t unchanged = 0;
  std::int64_t zero = 0;
  std::int64_t missing = 0;
  double largest = 0;         // gradient so far
  bool looks_narrow = false;  // like float16 or bfloat16
};

bool is_narrow(double x) {
  constexpr std::uint32_t kLowBits = 0x7fff;  // what bfloat16 and values near 1 of float16 do not have
  const auto as_float = static_cast<float>(x);
  return static_cast<double>(as_float) == x && (std::bit_cast<std::uint32_t>(as_float) & kLowBits) == 0;
}

class NoOpUpdate final : public Rule {
 public:
  explicit NoOpUpdate(std::int64_t steps) : steps_(steps) {}

  Verdict evaluate(const StepWindow& window) override {
    if (window.mode() == Mode::kEval || window.mode() == Mode::kPredict) {
      return Verdict::not_applicable("parameters change at train steps");
    }
    const Status facts = facts_.update(window);
    if (!facts.ok()) return Verdict::insufficient_data(facts.message());
    const auto gradients = read_gradients(window);
    if (gradients.empty()) return Verdict::not_applicable("no gradient was captured at this step");
    if (was_skipped(window) || has_zero_rate())
      return Verdict::insufficient_data("the optimizer changed nothing on purpose");
    const JudgingGaps gaps = take_weights(gradients, window);
    if (parameters_.empty()) return nothing_to_judge(gaps, "hash of a weight", window);
    count_missing(gradients);
    return judge(window);
  }

  std::vector<Collection> needs() const override {
    return {need_hash("weights"), need_hash("biases"), need_statistics("gradients"), need_signals()};
  }

 private:
  using Key = std::pair<std::string, std::string>;  // parameter, worker
  struct Found {
    Key key;
    Fault fault = Fault::kUnchanged;
    std::int64_t steps = 0;
    bool is_narrow = false;
  };

  // The largest |g| of each parameter that has a gradient at this step.
  static std::map<Key, double> read_gradients(const StepWindow& window) {
    std::map<Key, double> gradients;
    const StepReductions read = read_reductions({.collections = {"gradients"}}, Reduction::kMax, true, window);
    for (const auto& [spot, abs_max] : read.tensors) {
      if (spot.tensor.rfind(kGradientPrefix, 0) != 0) continue;
      gradients[{spot.tensor.substr(std::string_view(kGradientPrefix).size()), spot.worker}] = abs_max;
    }
    return gradients;
  }

  static bool was_skipped(const StepWindow& window) {
    const auto skipped = read_signals(window, signals::kAmpSkipped);
    return skipped.ok() &&
           std::any_of(skipped->begin(), skipped->end(), [](const SignalValue& signal) { return signal.value != 0; });
  }

  bool has_zero_rate() const {
    const auto& rates = facts_.learning_rates();
    return std::any_of(rates.begin(), rates.end(), [](const auto& rate) { return !(rate.second > 0); });
  }

  JudgingGaps take_weights(const std::map<Key, double>& gradients, const StepWindow& window) {
    double largest = 0;
    for (const auto& [key, gradient] : gradients) largest = std::max(largest, gradient);
    const bool any_pulled = largest > 0;
    return visit_tensors({.collections = {"weights", "biases"}}, window, [&](const TensorSpot& spot) -> Status {
      if (facts_.is_trained(spot.tensor) == false) return Status();
      TRAINWARDEN_ASSIGN_OR_RETURN(const Statistics* statistics, window.statistics(spot));
      if (!statistics->has_hash) return Status(Code::kOutOfRange, fmt::format("\"{}\" has no hash", spot.tensor));
      const Key key(spot.tensor, spot.worker);
      const auto gradient = gradients.find(key);
      Parameter& parameter = parameters_[key];
      const bool is_same = parameter.hash == statistics->hash;
      const bool has_gradient = gradient != gradients.end();
      const bool is_zero = has_gradient && gradient->second == 0 && any_pulled;
      // NaN pulls nowhere, nor does what is left of a gradient when the training has converged.
      if (has_gradient && gradient->second > parameter.largest) parameter.largest = gradient->second;
      const bool is_pulled =
          has_gradient && gradient->second > kNoise * largest && gradient->second > kConverged * parameter.largest;
      parameter.unchanged = is_same && is_pulled ? parameter.unchanged + 1 : 0;
      parameter.zero = is_zero ? parameter.zero + 1 : 0;
      parameter.hash = statistics->hash;
      parameter.looks_narrow =
          is_narrow(statistics->min) && is_narrow(statistics->max) && is_narrow(statistics->abs_min);
      return Status();
    });
  }

  void count_missing(const std::map<Key, double>& gradients) {
    for (auto& [key, parameter] : parameters_) {
      const bool is_missing = facts_.is_trained(key.first) == true && gradients.count(key) == 0;
      parameter.missing = is_missing ? parameter.missing + 1 : 0;
    }
  }

  Verdict judge(const StepWindow& window) const {
    std::vector<Found> found;
    std::size_t unchanged = 0;
    for (const auto& [key, parameter] : parameters_) {
      if (parameter.unchanged >= steps_) {
        found.push_back({key, Fault::kUnchanged, parameter.unchanged, parameter.looks_narrow});
        ++unchanged;
      } else if (parameter.zero >= steps_) {
        found.push_back({key, Fault::kZero, parameter.zero, false});
      } else if (parameter.missing >= steps_) {
        found.push_back({key, Fault::kMissing, parameter.missing, false});
      }
    }
    if (found.empty()) return Verdict::ok();
    const bool are_many = static_cast<double>(unchanged) >= kMany * static_cast<double>(parameters_.size());
    return verdict_on(std::move(found), are_many, window);
  }

  // A loss that looks at differences only (triplets, softmax over a shift) has no gradient for a last bias, by design.
  static bool is_bias(const std::string& parameter) {
    constexpr std::string_view kBias = "bias";
    return parameter.size() >= kBias.size() &&
           parameter.compare(parameter.size() - kBias.size(), kBias.size(), kBias) == 0;
  }

  static Severity severity(const Found& found, bool are_many) {
    if (found.fault == Fault::kMissing) return Severity::kInfo;
    if (found.fault == Fault::kZero && is_bias(found.key.first)) return Severity::kInfo;
    return found.fault == Fault::kUnchanged && found.is_narrow && !are_many ? Severity::kInfo : Severity::kWarning;
  }

  Verdict verdict_on(std::vector<Found> found, bool are_many, const StepWindow& window) const {
    std::stable_sort(found.begin(), found.end(), [&](const Found& a, const Found& b) {
      return std::tuple(severity(a, are_many), a.steps) > std::tuple(severity(b, are_many), b.steps);
    });
    const bool many_workers = window.workers().size() > 1;
    std::vector<Evidence> evidence;
    for (const Found& one : found) {
      evidence.push_back({one.key.first, many_workers ? one.key.second : "", quantity(one),
                          static_cast<double>(one.steps), static_cast<double>(steps_), window.global_step()});
    }
    const Found& worst = found.front();
    Verdict verdict =
        fired(message(worst, found.size(), window), worst.fault == Fault::kUnchanged ? kUnchangedAdvice : kZeroAdvice,
              std::move(evidence), severity(worst, are_many));
    if (facts_.learning_rates().empty()) verdict.confidence = kUnknownRate;
    return verdict;
  }

  static const char* quantity(const Found& found) {
    switch (found.fault) {
      case Fault::kUnchanged: return found.is_narrow ? "steps_unchanged_of_16_bits" : "steps_unchanged";
      case Fault::kZero: return "steps_with_zero_gradient";
      case Fault::kMissing: return "steps_without_gradient";
    }
    return "";
  }

  std::string message(const Found& worst, std::size_t count, const StepWindow& window) const {
    const std::string which = fmt::format("{} of {} parameters that should train do not at {}: \"{}\"", count,
                                          parameters_.size(), describe_step(window), worst.key.first);
    switch (worst.fault) {
      case Fault::kUnchanged:
        return fmt::format("{} has not changed a bit for {} steps, though its gradient is not zero.", which,
                           worst.steps);
      case Fault::kZero: return fmt::format("{} had a gradient of exactly 0 for {} steps.", which, worst.steps);
      case Fault::kMissing: return fmt::format("{} had no gradient for {} steps.", which, worst.steps);
    }
    return which;
  }

  const std::int64_t steps_;
  TrainingFacts facts_;
  std::map<Key, Parameter> parameters_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const std::int64_t steps = read.integer("steps", 1, kMostSteps);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new NoOpUpdate(steps));
}

}  // namespace
}  // namespace no_op_update_rule

RuleKind no_op_update() {
  RuleDescription description;
  description.name = "NoOpUpdate";
  description.summary = "Fires when a parameter that should train does not change, or gets no gradient.";
  description.parameters = {{"steps", "30", "train steps in a row for which it must be so"}};
  description.topic = "weights";
  description.details =
      R"(For `steps` train steps in a row that hold gradients, a parameter (collections `weights` and `biases`) must show the
same fault:

- its gradient is not zero, no learning rate is 0, and its hash stays the same: the update is lost, for example because
  it is smaller than the number type can hold, or because the optimizer holds other tensors than the model. Evidence:
  `steps_unchanged`, or `steps_unchanged_of_16_bits` where its numbers look like bfloat16 or float16.
- its gradient is exactly 0 in each element, while others are not. Evidence: `steps_with_zero_gradient`. A note for a
  bias, which some losses do not depend on.
- it has no gradient, though the signal `trainwarden/model` says that it is trained. A note, since unused parts are common.
  Evidence: `steps_without_gradient`.

Parameters that the signal says are not trainable, or in no optimizer, are left out. Steps that a gradient scaler left out
do not count. Unchanged parameters are a note when they are fewer than half and look like 16-bit numbers: a bfloat16 scale
of 1 stands still at a small learning rate, and the rest still learns. Without signals confidence is 0.7. It needs hashes
of the weights and statistics of the gradients of the same steps, and cannot see what changes only now and then.)";
  description.source = "TrainCheck (OSDI 2025), cases of frozen and disconnected parameters; the limits are ours";
  description.by_default = true;
  description.is_symptom = true;
  description.consequences = {"LossNotDecreasing", "UnchangedTensor", "WeightUpdateRatio", "Overtraining"};
  return {std::move(description), no_op_update_rule::create};
}

}  // namespace trainwarden::rules
