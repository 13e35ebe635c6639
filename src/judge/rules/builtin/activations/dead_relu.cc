// DeadRelu: layers of ReLUs of which most give nothing but zero.
//
// Source: the documented rule of SageMaker Debugger: a ReLU that is active in less than threshold_inactivity percent is
// dead, and it fires when more than threshold_layer percent of a layer's are. Ours where the documentation is silent:
// active is an output above 0; what a unit and its samples are, and how statistics decide without values
// (unit_activity.h); samples are gathered over captured steps until there are min_samples of each unit, since a ReLU
// that is silent over a small batch is not dead; and a layer must be found so `patience` times in a row, since the deep
// layers of healthy networks begin with half of their ReLUs silent and recover. With num_steps it is the dead units
// over a window of TheDeepChecker (which takes 5 % in place of 1 %).
//
// State: a count for each unit of each layer.
#include <limits>
#include <utility>

#include "judge/rules/builtin/activations/activations_rules.h"
#include "judge/rules/builtin/activations/inactive_units.h"
#include "judge/rules/parameters.h"

namespace trainwarden::rules {
namespace dead_relu_rule {
namespace {

const InactiveWords& words() {
  static const InactiveWords kWords{
      "relu output",
      "of the ReLUs are dead",
      "active",
      "dead_percent",
      "Try a lower learning rate, biases that do not start far below 0, normalisation before the layer, or an "
      "activation with a slope below 0 (leaky ReLU, GELU), beginning with the first layer of the evidence.",
      "dead_relu"};
  return kWords;
}

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  WatchedKind outputs{{}, "", {0, std::numeric_limits<double>::infinity()}, false};
  outputs.selection.patterns = read.patterns("tensor_regex");
  if (read.boolean("use_relu_outputs")) outputs.selection.collections = {"relu_outputs"};
  const ActivityLimits limits = read_activity_limits(read);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  if (outputs.selection == TensorSelection{}) {
    return Status(Code::kInvalidArgument, "no tensor is chosen: give tensor_regex, or leave use_relu_outputs True");
  }
  return inactive_units_rule({outputs}, limits, words());
}

}  // namespace
}  // namespace dead_relu_rule

RuleKind dead_relu() {
  return {{.name = "DeadRelu",
           .summary = "Fires when most ReLUs of a layer give nothing but zero.",
           .parameters = with_activity_limits(
               {{"tensor_regex", ".*relu_output", "patterns of tensors that are judged as outputs of ReLUs"},
                {"use_relu_outputs", "True",
                 "True: the collection relu_outputs is judged too, which finds ReLUs by their kind"}}),
           .topic = "activations",
           .details =
               "A ReLU is dead when its output is above 0 in less than `threshold_inactivity` percent of its samples. "
               "Samples are gathered over captured steps, at least `num_steps` of them, until each unit has "
               "`min_samples`; then every layer is judged and a new window begins. It fires for a layer that is found "
               "so `patience` times in a row: the last layers of an eight-layer perceptron that learned well began "
               "with 53 to 56 % of their ReLUs dead, by PyTorch's initialisation, and had 28 % after 100 steps. The "
               "evidence is `dead_percent` of each layer that fires, the highest first.\n\n"
               "Statistics of the outputs decide at every step where they can: when the share of zeros is low enough "
               "there cannot be too many dead units, and when nearly everything is zero there must be (the evidence is "
               "then a lower bound). Between the two, values decide, which are asked for every 100 steps.\n\n"
               "It sees ReLUs by their kind where the adapter records kinds of layers, else by their names. What is "
               "computed by other functions, or fused into another layer, it does not see. Outputs with a NaN or an "
               "infinity are not judged.",
           .source = "SageMaker Debugger, dead_relu; window: TheDeepChecker (TOSEM 2023)",
           .by_default = true,
           .is_symptom = true,
           .in_process = true,
           .consequences = {"LossNotDecreasing", "VanishingGradient", "GradientByDepth", "NoOpUpdate",
                            "UnchangedTensor", "AllZero", "DegeneratePredictions", "RepresentationCollapse"}},
          dead_relu_rule::create};
}

}  // namespace trainwarden::rules
