// The start: initialisation, and the activations that come of it.
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "judge/diagnosis/finding.h"
#include "judge/diagnosis/graph_walk.h"
#include "judge/diagnosis/layer_rows.h"
#include "judge/diagnosis/names.h"

namespace trainwarden::diagnosis {
namespace {

// Scales and learned rates, which the program multiplies with element by element, may well begin alike.
bool is_scale(const Case& seen, std::size_t number) {
  const Graph* const graph = seen.graph();
  if (graph == nullptr) return false;
  bool scales = false;
  for (const GraphNode& node : graph->nodes) {
    for (const std::size_t from : node.from) {
      if (graph->nodes[past_views(*graph, from)].number != static_cast<std::int64_t>(number)) continue;
      if (!is_one_of(node.operation, {"Mul", "Add", "Sub", "Div", "T", "Transpose"})) return false;
      scales = scales || is_one_of(node.operation, {"Mul", "Div"});
    }
  }
  return scales;
}

// The weight as it was when it was first measured: of what no optimizer of torch steps that is after a step.
double first_weight(const Case& seen, std::size_t number) {
  for (const Snapshot& snapshot : seen.snapshots()) {
    if (const double weight = snapshot.at("weight", number); std::isfinite(weight)) return weight;
  }
  return std::nan("");
}

// Weights that begin at zero and stay there, with a gradient that is there and zero: each is multiplied by another one.
bool stays_zero(const Case& seen, std::size_t parameter) {
  constexpr int kEnough = 3;
  int looks = 0;
  for (const Snapshot& snapshot : seen.snapshots()) {
    const double weight = snapshot.at("weight", parameter), gradient = snapshot.at("gradient", parameter);
    if (weight > 0 || gradient > 0) return false;
    looks += weight == 0 && gradient == 0 ? 1 : 0;
  }
  return looks >= kEnough;
}

void look_for_zeros_that_stay(const Case& seen, Findings& findings) {
  const auto& parameters = seen.structure().parameters;
  std::vector<std::string> zero;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const bool is_meant_to_learn = parameters[i].trainable && !parameters[i].optimizers.empty();
    if (is_meant_to_learn && parameters[i].shape.size() >= 2 && stays_zero(seen, i)) zero.push_back(parameters[i].name);
  }
  if (zero.size() < 2) return;
  findings.push_back(
      {"constant_initialisation",
       0.9,
       fmt::format("{} begin at zero and stay there", listed(zero)),
       {"their gradients were zero in every step that was looked at: each is multiplied by another zero"},
       {},
       0,
       seen.place("optimizer")});
}

void look_for_symmetry(const Case& seen, Findings& findings) {
  if (seen.snapshots().empty()) return;
  const Snapshot& first = seen.snapshots().front();
  const auto& parameters = seen.structure().parameters;
  std::vector<std::string> constant, zero;
  std::size_t maps = 0, moved = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const double spread = first.at("unit_spread", i), weight = first_weight(seen, i);
    const bool is_table = seen.kind_of_owner(parameters[i]).find("Embedding") != std::string::npos;
    if (!(seen.is_map(parameters[i]) || (is_table && weight > 1e-9)) || !(spread >= 0) || parameters[i].shape[0] < 2 ||
        parameters[i].fan_in() < 2 || is_scale(seen, i))
      continue;
    ++maps;
    if (spread < 1e-5 && weight > 1e-9) constant.push_back(parameters[i].name);
    if (weight <= 1e-9) {
      zero.push_back(parameters[i].name);
      moved += seen.snapshots().back().at("weight", i) > 1e-9 ? 1 : 0;
    }
  }
  // A single map has no units behind it that could not be told apart.
  if (!constant.empty() && maps > 1) {
    // Parameters of the program's own may be constants on purpose: scales, learned rates.
    const bool is_own = constant.size() * 2 <= maps && seen.symptoms.learns_well;
    findings.push_back(
        {"constant_initialisation",
         is_own ? 0.4 : 0.93,
         fmt::format("All units of {} begin with the same weights", listed(constant)),
         {fmt::format("{} of {} weights have units that are all alike at the first step", constant.size(), maps)},
         {},
         0,
         seen.place("optimizer")});
  }
  const bool ill = seen.symptoms.learns_nothing || !seen.symptoms.learns_well;
  if (zero.size() >= 2 || (zero.size() == maps && maps > 0 && ill)) {
    // The last layers of flows and residual branches begin at zero on purpose. Other layers do not, so these get
    // gradients and move.
    const bool is_meant = zero.size() < maps && moved == zero.size();
    findings.push_back({"constant_initialisation",
                        ill && !is_meant ? 0.9 : 0.45,
                        fmt::format("The weights {} begin at zero", listed(zero)),
                        {fmt::format("{} of {} weights are zero at the first step", zero.size(), maps)},
                        {},
                        0,
                        seen.place("optimizer")});
  }
}

// Have these two been the same at each look, to the last digit, though they change?
bool are_copies(const Case& seen, std::size_t one, std::size_t other) {
  constexpr std::size_t kCopyLooks = 5;
  std::set<double> weights;
  for (const Snapshot& snapshot : seen.snapshots()) {
    const double weight = snapshot.at("weight", one), gradient = snapshot.at("gradient", one);
    if (!std::isfinite(weight)) continue;
    if (!(gradient > 0) || weight != snapshot.at("weight", other) || gradient != snapshot.at("gradient", other))
      return false;
    weights.insert(weight);
  }
  return weights.size() >= kCopyLooks;
}

// Modules that are to differ, such as experts, and begin as copies of one: the same gradients keep them the same.
void look_for_copies(const Case& seen, Findings& findings) {
  constexpr double kMinElements = 16;
  if (seen.snapshots().empty()) return;
  const auto& parameters = seen.structure().parameters;
  std::vector<std::string> copies;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!seen.is_map(parameters[i]) || static_cast<double>(parameters[i].elements()) < kMinElements ||
        !(seen.snapshots().front().at("unit_spread", i) > 1e-5))
      continue;
    for (std::size_t before = 0; before < i; ++before) {
      if (parameters[before].shape != parameters[i].shape || !are_copies(seen, before, i)) continue;
      if (copies.empty()) copies.push_back(parameters[before].name);
      copies.push_back(parameters[i].name);
      break;
    }
  }
  if (copies.size() < 2) return;
  findings.push_back({"constant_initialisation",
                      0.92,
                      fmt::format("{} begin as copies of each other, and stay copies", listed(copies)),
                      {fmt::format("weights and gradients of {} parameters were the same at each look", copies.size()),
                       "what gets the same gradients from the same start never differs"},
                      {},
                      0,
                      seen.place("optimizer")});
}

// Layers that normalise begin by multiplying with zero. Of the last ones of residual branches that is usual.
void look_for_norms_of_zero(const Case& seen, Findings& findings) {
  if (seen.snapshots().empty() || !seen.history.has_seen_start) return;
  const Snapshot &first = seen.snapshots().front(), &last = seen.snapshots().back();
  const auto& parameters = seen.structure().parameters;
  std::vector<std::string> zero;
  std::size_t norms = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& parameter = parameters[i];
    if (parameter.optimizers.empty() || !parameter.name.ends_with("weight") ||
        !contains(seen.kind_of_owner(parameter), "Norm"))
      continue;
    ++norms;
    if (first.at("weight", i) == 0 && last.at("weight", i) == 0) zero.push_back(parameter.name);
  }
  if (zero.empty() || zero.size() < norms) return;
  findings.push_back({"constant_initialisation",
                      0.93,
                      fmt::format("All layers that normalise multiply with zero, and stay so: {}", listed(zero)),
                      {"nothing passes through them, neither a signal nor a gradient"},
                      {},
                      0,
                      seen.place("optimizer")});
}

void look_for_scale(const Case& seen, Findings& findings) {
  if (seen.snapshots().empty() || !seen.history.has_seen_start) return;
  const Snapshot& first = seen.snapshots().front();
  const auto& parameters = seen.structure().parameters;
  std::vector<std::string> large, small, huge;
  Values gains;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!seen.is_map(parameters[i]) || parameters[i].optimizers.empty()) continue;
    const double weight = first.at("weight", i);
    if (!(weight > 1e-9)) continue;
    const double gain = weight * std::sqrt(parameters[i].fan_in());  // 0.58 for torch's own, 1.41 for He's
    gains.push_back(gain);
    if (gain > 4.5) large.push_back(parameters[i].name);
    if (gain > 12 && parameters[i].fan_in() >= 8) huge.push_back(parameters[i].name);
    if (gain < 0.08) small.push_back(parameters[i].name);
  }
  if (gains.empty()) return;
  const bool ill =
      seen.is_ill() || !seen.symptoms.learns_well || seen.symptoms.train.first > 4 * seen.symptoms.constant;
  const bool begins_far = seen.symptoms.train.first > 20 * std::abs(seen.symptoms.train.late);
  if (huge.size() * 4 >= gains.size() && large.size() * 2 < gains.size() && !huge.empty() && (ill || begins_far)) {
    findings.push_back(
        {"initialisation_scale",
         0.85,
         fmt::format("The weights of {} begin far too large", listed(huge)),
         {"root mean square times the square root of the inputs is more than 12 there (about 0.6 to 1.4 is "
          "usual)",
          fmt::format("the first loss is {}, the last one {}", number(seen.symptoms.train.first),
                      number(seen.symptoms.train.late))},
         {},
         0,
         seen.place("optimizer")});
  }
  if (large.size() * 2 >= gains.size() && !large.empty()) {
    findings.push_back(
        {"initialisation_scale",
         ill ? 0.9 : 0.6,
         fmt::format("The weights begin {} times too large: {}", number(median(gains)), listed(large)),
         {fmt::format("root mean square times the square root of the inputs is {} (about 0.6 to 1.4 is usual)",
                      number(median(gains))),
          fmt::format("the first loss is {}", number(seen.symptoms.train.first))},
         {},
         0,
         seen.place("optimizer")});
  }
  if (small.size() * 2 >= gains.size() && !small.empty()) {
    findings.push_back(
        {"initialisation_scale",
         ill ? 0.88 : 0.4,
         fmt::format("The weights begin {} times too small: {}", number(1 / std::max(median(gains), 1e-12)),
                     listed(small)),
         {fmt::format("root mean square times the square root of the inputs is {} (about 0.6 to 1.4 is usual)",
                      number(median(gains)))},
         {},
         0,
         seen.place("optimizer")});
  }
}

// Before anything is learned, a model of classes is far surer than it can be.
void look_for_sure_beginners(const Case& seen, Findings& findings) {
  if (seen.snapshots().empty() || !seen.symptoms.is_classifier || !seen.history.has_seen_start) return;
  const Snapshot& first = seen.snapshots().front();
  const double spread = first.at("predicted", 1);
  // Of tokens the size says nothing.
  const bool are_numbers = std::isfinite(first.at("input_scales", 0)) || first.at("input_shape", 2) > 0;
  const double input = are_numbers ? std::max(std::abs(first.at("input", 0)), first.at("input", 1)) : 0;
  if (!(spread > 8) || !(seen.symptoms.compared_early > 5 * seen.symptoms.yardstick) || input > 15) return;
  const bool is_seen_late = std::isfinite(seen.symptoms.constant) || seen.symptoms.is_seen_late;
  const double late = is_seen_late ? seen.symptoms.compared_late : seen.symptoms.eval_late;
  findings.push_back(
      {"initialisation_scale",
       late > 2 * seen.symptoms.yardstick ? 0.82 : 0.5,
       fmt::format("The model begins with answers of a spread of {}, as if it were certain", number(spread)),
       {fmt::format("the first loss is {}, that of a constant answer {}", number(seen.symptoms.compared_early),
                    number(seen.symptoms.yardstick)),
        fmt::format("its inputs are around {}", number(input))},
       {},
       0,
       seen.place("optimizer")});
}

// The weights from one step in time to the next multiply again and again: what they are too large by becomes a power of
// the length. Of gated layers the gates hold that back.
void look_for_recurrent_scale(const Case& seen, Findings& findings) {
  constexpr double kTooLarge = 1.8;  // of weights drawn at random, the factor of a step; 1 of orthogonal ones
  if (seen.snapshots().empty() || !seen.history.has_seen_start) return;
  const auto& parameters = seen.structure().parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& parameter = parameters[i];
    if (!contains(parameter.name, "weight_hh") || parameter.optimizers.empty() ||
        !is_one_of(seen.kind_of_owner(parameter), {"RNN", "RNNCell"}))
      continue;
    const double gain = seen.snapshots().front().at("weight", i) * std::sqrt(parameter.fan_in());
    if (!(gain > kTooLarge)) continue;
    findings.push_back(
        {"initialisation_scale",
         0.82,
         fmt::format("The recurrent weights {} begin {} times too large", parameter.name, number(gain)),
         {"root mean square times the square root of the inputs is 1 where a signal keeps its size from step to step",
          fmt::format("the first loss is {}, the last one {}", number(seen.symptoms.train.first),
                      number(seen.symptoms.train.late))},
         {},
         0,
         seen.place("optimizer")});
    return;
  }
}

// Before its first step a model of ordinary inputs gives answers of ordinary size.
void look_for_huge_answers(const Case& seen, Findings& findings) {
  constexpr double kHuge = 100, kOrdinary = 15;
  if (seen.snapshots().empty() || !seen.history.has_seen_start) return;
  const Snapshot& first = seen.snapshots().front();
  const double input = std::max(std::abs(first.at("input", 0)), first.at("input", 1)),
               spread = first.at("predicted", 1),
               wanted = std::max(std::abs(first.at("target", 0)), first.at("target", 1));
  if (first.step > 0 || !(input < kOrdinary) || !(wanted >= 0) || !(seen.weight_gain(first) > 2)) return;
  if (!(spread > kHuge * std::max(1.0, wanted))) return;
  findings.push_back({"initialisation_scale",
                      0.88,
                      fmt::format("Before the first step the model gives answers of a spread of {}", number(spread)),
                      {fmt::format("its inputs are around {}, its targets around {}", number(input), number(wanted)),
                       fmt::format("the weights are {} times as large as keeps the size (0.6 to 1.4 is usual)",
                                   number(seen.weight_gain(first))),
                       fmt::format("the first loss is {}", number(first.at("loss")))},
                      {},
                      0,
                      seen.place("optimizer")});
}

void look_for_dead_units(const Case& seen, Findings& findings) {
  if (seen.symptoms.train.not_finite > 0) return;  // of NaN no unit is alive
  std::vector<std::string> dead;
  double worst = 0, at_start = 0;
  std::int64_t step = 0;
  for (const LayerRow& layer : last_layers(seen)) {
    const bool is_relu = layer.kind == "ReLU" || layer.kind == "ReLU6" || layer.kind == "F.relu";
    if (!is_relu || !(layer.silent > 0.6) || !(layer.zeros > 0.9)) continue;
    dead.push_back(layer.name);
    worst = std::max(worst, layer.silent);
    step = layer.step;
    at_start = std::max(at_start, layer_at(seen, 0, layer.index).silent);
  }
  if (dead.empty()) return;
  const bool ill = seen.is_ill() || !seen.symptoms.learns_well;
  findings.push_back({"dead_relu",
                      seen.symptoms.is_adversarial ? 0.4  // what the other model drives it to
                      : worst > 0.95               ? 0.85
                      : ill                        ? 0.7
                                                   : 0.3,
                      fmt::format("{:.0f} % of the ReLUs of {} give zero for every sample", 100 * worst, listed(dead)),
                      {fmt::format("of {} it was {:.0f} % at the first step", dead.front(), 100 * at_start)},
                      {},
                      step,
                      {}});
}

void look_for_saturation(const Case& seen, Findings& findings) {
  const Graph* const graph = seen.graph();
  const bool has_tanh = graph != nullptr && std::any_of(graph->nodes.begin(), graph->nodes.end(),
                                                        [](const GraphNode& node) { return node.operation == "Tanh"; });
  std::vector<std::string> saturated;
  double worst = 0;
  for (const LayerRow& layer : last_layers(seen)) {
    const LayerRow start = layer_at(seen, 0, layer.index);
    // One of the program's own is known by its bounds.
    const bool is_bounded = has_tanh && layer.largest <= 1 && start.largest <= 1 && layer.largest > 0.999;
    const bool is_tanh = layer.kind == "Tanh" || (is_bounded && start.mean < 0.5), is_sigmoid = layer.kind == "Sigmoid";
    if (!is_tanh && !is_sigmoid) continue;
    const double share =
        is_tanh ? std::min(start.beyond, layer.beyond)
                : std::min(2 * std::abs(start.mean - 0.5) > 0.9 || start.deviation > 0.45 ? 1.0 : start.beyond, 1.0);
    if (share > 0.6 && layer.index + 1 < seen.structure().layers.size())
      saturated.push_back(layer.name), worst = std::max(worst, share);
  }
  if (saturated.empty()) return;
  findings.push_back(
      {"saturated_activations",
       0.7,
       fmt::format("{:.0f} % of the units of {} are saturated from the start", 100 * worst, listed(saturated)),
       {"their gradients are nearly zero"},
       {},
       0,
       {}});
}

void look_for_vanishing(const Case& seen, Findings& findings) {
  const auto& parameters = seen.structure().parameters;
  std::vector<std::size_t> maps;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (seen.is_map(parameters[i]) && !parameters[i].optimizers.empty() && parameters[i].trainable) maps.push_back(i);
  }
  // Of several optimizers each has losses of its own: the models of the others get little gradient on purpose.
  // Once a training has diverged, its gradients say nothing about how they pass through the layers.
  if (maps.size() < 3 || seen.symptoms.is_adversarial || seen.symptoms.has_diverged) return;
  const double first = median_of(seen.history, "gradient", maps.front()),
               last = median_of(seen.history, "gradient", maps.back());
  if (!(first >= 0) || !(last > 0) || first > 1e-3 * last) return;
  const bool ill = seen.symptoms.learns_nothing || !seen.symptoms.learns_well;
  findings.push_back({"vanishing_gradients",
                      first < 1e-5 * last ? (ill ? 0.88 : 0.6)
                      : ill               ? 0.7
                                          : 0.35,
                      fmt::format("Gradients shrink from {} at {} to {} at {}", number(last),
                                  parameters[maps.back()].name, number(first), parameters[maps.front()].name),
                      {fmt::format("the first layer gets {} of what the last one gets", number(first / last))},
                      {},
                      0,
                      {}});
}

// Is there any nonlinear operator on the way from the loss to this node's parameters? Counts pairs of linear maps that
// follow each other directly.
void look_for_missing_nonlinearity(const Case& seen, Findings& findings) {
  const Graph* graph = seen.graph();
  if (graph == nullptr || !graph->is_complete) return;
  std::size_t maps = 0, pairs = 0, nonlinear = 0;
  std::vector<std::string> names;
  const auto name_of_weight = [&](std::size_t at) -> std::string {
    for (const std::size_t from : graph->nodes[at].from) {
      std::size_t source = past_views(*graph, from);
      if (!is_of_parameters(*graph, source)) continue;
      while (!graph->nodes[source].from.empty()) source = past_views(*graph, graph->nodes[source].from.front());
      const std::int64_t number = graph->nodes[source].number;
      if (number >= 0 && static_cast<std::size_t>(number) < seen.structure().parameters.size() &&
          seen.structure().parameters[static_cast<std::size_t>(number)].shape.size() >= 2) {
        return seen.structure().parameters[static_cast<std::size_t>(number)].name;
      }
    }
    return {};
  };
  for (std::size_t i = 0; i < graph->nodes.size(); ++i) {
    const std::string& operation = graph->nodes[i].operation;
    if (is_nonlinear(operation)) ++nonlinear;
    if (!is_linear_map(operation)) continue;
    const std::string own = name_of_weight(i);
    if (own.empty()) continue;
    ++maps;
    for (std::size_t input : inputs_of(*graph, i)) {
      for (int step = 0; step < 6 && stays_linear(graph->nodes[input].operation) && !graph->nodes[input].from.empty();
           ++step) {
        input = past_views(*graph, graph->nodes[input].from.front());
      }
      if (!is_linear_map(graph->nodes[input].operation)) continue;
      const std::string below = name_of_weight(input);
      if (below.empty()) continue;
      ++pairs;
      names.push_back(below + " → " + own);
    }
  }
  if (pairs == 0) return;
  const bool none = nonlinear == 0 || (pairs + 1 >= maps && maps >= 2);
  // An encoder and a decoder of one layer each are linear on purpose.
  const bool is_projection = seen.reconstructs() && maps == 2 && seen.symptoms.learns_well;
  const bool weak =
      !is_projection && (seen.symptoms.learns_nothing || seen.symptoms.skill < 0.6 || !seen.symptoms.learns_well);
  double confidence = 0;
  if (none && maps >= 3)
    confidence = weak ? 0.9 : 0.45;
  else if (none)
    confidence = weak ? 0.8 : 0.35;
  else if (pairs * 2 >= maps)
    confidence = weak ? 0.6 : 0.3;
  else if (weak || pairs >= 2)
    confidence = pairs >= 2 ? 0.5 : 0.3;
  findings.push_back({"missing_nonlinearity",
                      confidence,
                      fmt::format("There is no activation between {}", listed(names)),
                      {fmt::format("{} of {} linear maps take their input directly from another one", pairs, maps)},
                      {},
                      0,
                      {}});
}

}  // namespace

void look_at_start(const Case& seen, Findings& findings) {
  look_for_symmetry(seen, findings);
  look_for_zeros_that_stay(seen, findings);
  look_for_copies(seen, findings);
  look_for_norms_of_zero(seen, findings);
  look_for_scale(seen, findings);
  look_for_sure_beginners(seen, findings);
  look_for_huge_answers(seen, findings);
  look_for_recurrent_scale(seen, findings);
  look_for_dead_units(seen, findings);
  look_for_saturation(seen, findings);
  look_for_vanishing(seen, findings);
  look_for_missing_nonlinearity(seen, findings);
}

}  // namespace trainwarden::diagnosis
