// SaturatedActivation: layers of tanh or sigmoid of which most units are so far out that no gradient passes.
//
// Source: the documented rule of SageMaker Debugger, with its thresholds for the inputs of tanh and sigmoid, beyond
// which their slope is about 1e-7; a unit that is between them in less than threshold_inactivity percent is saturated,
// and it fires when more than threshold_layer percent of a layer's are. Ours where the documentation is silent: what a
// unit and its samples are, and how statistics decide without values (unit_activity.h); which of the two functions a
// tensor belongs to is known by the kind of the layer, else by its name; samples are gathered over captured steps until
// there are min_samples of each unit; a layer must be found so `patience` times in a row.
//
// State: a count for each unit of each layer.
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "judge/rules/builtin/activations/activations_rules.h"
#include "judge/rules/builtin/activations/inactive_units.h"
#include "judge/rules/parameters.h"

namespace trainwarden::rules {
namespace saturated_activation_rule {
namespace {

const InactiveWords& words() {
  static const InactiveWords kWords{
      "input of a tanh or sigmoid",
      "of the units are saturated",
      "between the thresholds",
      "saturated_percent",
      "Look at the scale of the weights and of what goes into the first layer of the evidence: try smaller initial "
      "weights, normalised inputs, a normalisation layer before it, or a lower learning rate.",
      "saturated_activation"};
  return kWords;
}

constexpr double kAnyNumber = std::numeric_limits<double>::lowest();

ActiveRange read_range(ParameterReader& read, const std::string& function) {
  return {read.number(fmt::format("threshold_{}_min", function), kAnyNumber),
          read.number(fmt::format("threshold_{}_max", function), kAnyNumber)};
}

Status check(const ActiveRange& range, const char* function) {
  if (range.lowest < range.highest) return {};
  return Status(Code::kInvalidArgument, fmt::format("threshold_{0}_min {1:g} is not below threshold_{0}_max {2:g}",
                                                    function, range.lowest, range.highest));
}

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const TensorSelection named{read.list("collection_names"), read.patterns("tensor_regex"), false};
  const ActiveRange tanh = read_range(read, "tanh");
  const ActiveRange sigmoid = read_range(read, "sigmoid");
  const bool by_kind = read.boolean("use_kinds");
  const ActivityLimits limits = read_activity_limits(read);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  TRAINWARDEN_RETURN_IF_ERROR(check(tanh, "tanh"));
  TRAINWARDEN_RETURN_IF_ERROR(check(sigmoid, "sigmoid"));
  std::vector<WatchedKind> kinds;
  if (by_kind)
    kinds = {{{{"tanh_inputs"}, {}, false}, "", tanh, true}, {{{"sigmoid_inputs"}, {}, false}, "", sigmoid, true}};
  if (!(named == TensorSelection{})) {
    kinds.push_back({named, "tanh", tanh, true});
    kinds.push_back({named, "sigmoid", sigmoid, true});
  }
  if (kinds.empty()) {
    return Status(Code::kInvalidArgument,
                  "no tensor is chosen: give collection_names or tensor_regex, or leave use_kinds True");
  }
  return inactive_units_rule(std::move(kinds), limits, words());
}

}  // namespace
}  // namespace saturated_activation_rule

RuleKind saturated_activation() {
  return {
      {.name = "SaturatedActivation",
       .summary = "Fires when most units of a tanh or sigmoid layer are saturated.",
       .parameters = with_activity_limits(
           {{"collection_names", "", "collections whose tensors are judged too, separated by commas"},
            {"tensor_regex", ".*tanh_input|.*sigmoid_input", "patterns of tensors that are judged too"},
            {"threshold_tanh_min", "-9.4999", "an input of tanh at or below this is saturated"},
            {"threshold_tanh_max", "9.4999", "an input of tanh at or above this is saturated"},
            {"threshold_sigmoid_min", "-23", "an input of sigmoid at or below this is saturated"},
            {"threshold_sigmoid_max", "16.99999", "an input of sigmoid at or above this is saturated"},
            {"use_kinds", "True",
             "True: the collections tanh_inputs and sigmoid_inputs are judged too, which find layers by their "
             "kind"}}),
       .topic = "activations",
       .details =
           "A unit is saturated when its input lies between the two thresholds of its function in less than "
           "`threshold_inactivity` percent of its samples. Samples are gathered over captured steps, at least "
           "`num_steps` of them, until each unit has `min_samples`; then every layer is judged and a new window "
           "begins. The evidence is `saturated_percent` of each layer that fires, the highest first.\n\n"
           "Smallest and largest input decide at nearly every step: when both lie between the thresholds nothing is "
           "saturated. Else the histogram bounds the share of saturated units, and where the bounds do not decide, "
           "values do, which are asked for every 100 steps.\n\n"
           "Which function a tensor belongs to is known by the kind of the layer, else by tanh or sigmoid in its "
           "name; what has neither is not judged. Gates inside a fused LSTM or GRU it does not see. Inputs with a "
           "NaN or an infinity are not judged.",
       .source = "SageMaker Debugger, saturated_activation",
       .by_default = true,
       .is_symptom = true,
       .in_process = true,
       .consequences = {"LossNotDecreasing", "VanishingGradient", "GradientByDepth", "NoOpUpdate", "UnchangedTensor",
                        "DegeneratePredictions"}},
      saturated_activation_rule::create};
}

}  // namespace trainwarden::rules
