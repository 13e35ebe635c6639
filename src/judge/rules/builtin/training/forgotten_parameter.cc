// ForgottenParameter: parameters that ask for gradients and that no optimizer has.
//
// Source: ours, after optimizers that were made before their model was (PyTorch issue 104336, and replaced heads). Of
// each model by itself: fires when it is trained, and less than half of its trainable parameters are in no optimizer;
// and when optimizers hold exactly as many tensors of no model as a model lacks, which is what a model or a part that
// was made again leaves behind. What may be meant is a note: most of a model left out (only its head is trained, and
// the rest was not frozen), or all of it (a target network, a teacher). Frozen parameters ask for nothing.
//
// Judged once the models have been what they are for `steps` steps, so that all optimizers of a GAN have stepped.
// State: the last trainwarden/model of each worker, as what is wrong with it.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "judge/rules/builtin/training/signal_reading.h"
#include "judge/rules/builtin/training/training_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace forgotten_parameter_rule {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000'000;
constexpr double kMostForgotten = 0.5;  // of a model's trainable parameters: more is probably meant
constexpr const char* kStaleAdvice =
    "Make the optimizer after the model, or give it the new parameters with add_param_group.";
constexpr const char* kAdvice =
    "Give these parameters to an optimizer, or set requires_grad of them to False if they are to stay as they are.";

// One model of the program, of its parameters those that ask for gradients.
struct ModelParameters {
  std::size_t trainable = 0;
  std::size_t halves = 0;  // of 16 bits, of those that no optimizer has
  std::vector<std::string> forgotten;
};

// The prefixes that the names of the models' parts have: the entry of a model itself is its prefix and its class.
std::vector<std::string> model_prefixes(const format::Json& modules) {
  std::vector<std::string> prefixes;
  for (const format::Json& module : modules) {
    const auto name = format::string_field(module, "name");
    const auto kind = format::string_field(module, "kind");
    if (!name.ok() || !kind.ok() || name->size() < kind->size()) continue;
    const std::string prefix = name->substr(0, name->size() - kind->size());
    const bool is_model = name->substr(prefix.size()) == *kind && (prefix.empty() || prefix.back() == '.');
    if (is_model) prefixes.push_back(prefix);
  }
  return prefixes;
}

std::string longest_prefix(const std::string& name, const std::vector<std::string>& prefixes) {
  std::string longest;
  for (const std::string& prefix : prefixes) {
    if (prefix.size() > longest.size() && name.compare(0, prefix.size(), prefix) == 0) longest = prefix;
  }
  return longest;
}

// By prefix.
Result<std::map<std::string, ModelParameters>> read_models(const format::Json& json) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::Json* modules, format::array_field(json, "modules"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::Json* parameters, format::array_field(json, "parameters"));
  const std::vector<std::string> prefixes = model_prefixes(*modules);
  std::map<std::string, ModelParameters> models;
  for (const format::Json& parameter : *parameters) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::string name, format::string_field(parameter, "name"));
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool trainable, format::bool_field(parameter, "trainable"));
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool optimized, format::bool_field(parameter, "optimized"));
    if (!trainable) continue;
    ModelParameters& model = models[longest_prefix(name, prefixes)];
    ++model.trainable;
    if (optimized) continue;
    model.forgotten.push_back(name);
    if (const auto bits = parameter.find("bits"); bits != parameter.end() && *bits == 16) ++model.halves;
  }
  return models;
}

struct Finding {
  Severity severity = Severity::kInfo;
  bool stale = false;  // the optimizer has what was there before
  std::size_t trainable = 0;
  std::vector<std::string> forgotten;
};

Finding judge_model(const ModelParameters& model, std::uint64_t foreign) {
  const std::size_t forgotten = model.forgotten.size();
  // An optimizer that holds copies of 32 bits (master weights) has none of the model's own, on purpose.
  const bool are_copied = model.halves == forgotten && forgotten == model.trainable;
  const bool stale = foreign == forgotten && !are_copied;
  const bool few = static_cast<double>(forgotten) < kMostForgotten * static_cast<double>(model.trainable);
  return {stale || few ? Severity::kWarning : Severity::kInfo, stale, model.trainable, model.forgotten};
}

// The worst of the models; nothing when each is as it should be.
Result<std::optional<Finding>> find_forgotten(const format::Json& json) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto models, read_models(json));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint64_t foreign, format::uint_field(json, "foreign"));
  std::optional<Finding> worst;
  for (const auto& [prefix, model] : models) {
    if (model.forgotten.empty()) continue;
    Finding finding = judge_model(model, foreign);
    if (!worst || finding.severity > worst->severity) worst = std::move(finding);
  }
  return worst;
}

class ForgottenParameter final : public Rule {
 public:
  explicit ForgottenParameter(std::int64_t steps) : steps_(steps) {}

  Verdict evaluate(const StepWindow& window) override {
    const auto recorded = json_signals(window, signals::kModel);
    for (const auto& [spot, json] : recorded.signals) {
      auto finding = find_forgotten(json);
      if (!finding.ok()) {
        return Verdict::insufficient_data(
            fmt::format("{} cannot be judged: {}", spot.tensor, finding.status().to_string()));
      }
      if (workers_.contains(spot.worker) && json == workers_.at(spot.worker).json) continue;
      workers_[spot.worker] = {json, spot, *std::move(finding)};
      waited_ = 0;
    }
    if (workers_.empty()) return nothing_to_judge(recorded.gaps, "signal trainwarden/model", window);
    if (waited_++ < steps_) {
      return Verdict::insufficient_data(
          fmt::format("{} steps with the same models and optimizers are waited for", steps_));
    }
    return verdict(window);
  }

  std::vector<Collection> needs() const override { return {need_signals()}; }

 private:
  struct Known {
    format::Json json;
    TensorSpot spot;
    std::optional<Finding> finding;
  };

  Verdict verdict(const StepWindow& window) const {
    const Known* worst = nullptr;
    for (const auto& [worker, known] : workers_) {
      if (!known.finding) continue;
      if (worst == nullptr || known.finding->severity > worst->finding->severity) worst = &known;
    }
    if (worst == nullptr) return Verdict::ok();
    const Finding& finding = *worst->finding;
    std::vector<Evidence> evidence;
    for (const std::string& name : finding.forgotten) {
      evidence.push_back({name, worst->spot.shown_worker, "optimizers", 0, 1, window.global_step()});
      if (evidence.size() == Verdict::kMaxEvidence) break;
    }
    std::string message =
        fmt::format("{} of the model's {} trainable parameters are in no optimizer at {}, among them \"{}\"{}.",
                    finding.forgotten.size(), finding.trainable, describe_step(window), finding.forgotten.front(),
                    finding.stale ? "; the optimizers hold as many tensors that are in no model" : "");
    Verdict verdict =
        fired(std::move(message), finding.stale ? kStaleAdvice : kAdvice, std::move(evidence), finding.severity);
    verdict.confidence = finding.stale ? 0.95 : (finding.severity == Severity::kInfo ? 0.3 : 0.8);
    return verdict;
  }

  const std::int64_t steps_;
  std::int64_t waited_ = 0;
  std::map<std::string, Known> workers_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const std::int64_t steps = read.integer("steps", 0, kMostSteps);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new ForgottenParameter(steps));
}

}  // namespace
}  // namespace forgotten_parameter_rule

RuleKind forgotten_parameter() {
  return {{.name = "ForgottenParameter",
           .summary = "Fires when parameters that ask for gradients are in no optimizer.",
           .parameters = {{"steps", "20", "steps for which models and optimizers must have been the same"}},
           .topic = "training",
           .details =
               "Looks at each model of the program (`trainwarden/model`). Fires when fewer than half of its trainable "
               "parameters are in no optimizer that has stepped; and, however many they are, when the optimizers hold "
               "exactly as many tensors of no model, which is what is left of a model or a head that was made anew "
               "after the optimizer.\n\n"
               "Where half of a model or more is in no optimizer that may be meant (only the head is trained; a target "
               "network; a teacher): this is a note. Frozen parameters are not forgotten. It cannot see tensors that "
               "the program trains without an optimizer. Evidence: `optimizers`, the number of optimizers that have "
               "the parameter, which is 0.",
           .source = "ours, after common errors in the making of optimizers",
           .by_default = true,
           .in_process = false,
           .consequences = {"LossNotDecreasing", "UnchangedTensor"}},
          forgotten_parameter_rule::create};
}

}  // namespace trainwarden::rules
