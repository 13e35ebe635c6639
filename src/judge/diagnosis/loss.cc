// The loss: what it compares, what comes right before it, which way it is turned.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "judge/diagnosis/finding.h"
#include "judge/diagnosis/graph_walk.h"
#include "judge/diagnosis/names.h"

namespace trainwarden::diagnosis {
namespace {

// Is one of these operators right before this node?
std::string_view activation_before(const Graph& graph, std::size_t at) {
  for (const std::size_t input : inputs_of(graph, at)) {
    const std::string& operation = graph.nodes[input].operation;
    if (is_one_of(operation, {"Softmax", "Sigmoid", "Relu", "Tanh", "LogSoftmax", "Softplus"})) return operation;
  }
  return {};
}

// Is this difference the only thing that is squared somewhere, as in an error that the program computes itself?
bool is_squared(const Graph& graph, std::size_t difference) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const GraphNode& node) {
    const auto exponent = node.settings.find("exponent");
    return node.operation == "Pow" && exponent != node.settings.end() && exponent->second == 2 &&
           node.from.size() == 1 && past_views(graph, node.from.front()) == difference;
  });
}

// A squared error that the program computes itself: mean, power and difference are the first nodes of its graph.
constexpr std::size_t kOwnError = 3;

void look_for_output_activation(const Case& seen, Findings& findings) {
  const Graph* graph = seen.graph();
  if (graph == nullptr) return;
  for (std::size_t i = 0; i < graph->nodes.size(); ++i) {
    const std::string& operation = graph->nodes[i].operation;
    const std::string_view before = activation_before(*graph, i);
    if (before.empty()) continue;
    const auto report = [&](double confidence, std::string statement) {
      findings.push_back({"output_activation",
                          confidence,
                          std::move(statement),
                          {fmt::format("the graph of the loss has {} right before {}", before, operation)},
                          {},
                          0,
                          seen.place("loss")});
    };
    const bool at_nll = std::any_of(graph->nodes.begin(), graph->nodes.end(), [&](const GraphNode& node) {
      return starts_with(node.operation, "NllLoss") && !node.from.empty() && past_views(*graph, node.from.front()) == i;
    });
    if (operation == "LogSoftmax" && at_nll) {
      if (before == "Softmax")
        report(0.95, "Cross entropy gets probabilities: softmax is taken twice");
      else if (before == "LogSoftmax")
        report(0.55, "Cross entropy gets logarithms of probabilities: log_softmax is taken twice");
      else if (before == "Sigmoid")
        report(0.93, "Cross entropy gets the outputs of a sigmoid, between 0 and 1");
      else if (before == "Relu")
        report(0.88, "A ReLU stands between the last layer and cross entropy, so no score can be negative");
      else if (before == "Tanh")
        report(0.7, "A tanh stands between the last layer and cross entropy, so scores stay between -1 and 1");
    }
    // As a distribution computes them from its logits.
    if (before == "Softmax" && (operation == "Logsumexp" || (operation == "LogSoftmax" && !at_nll)))
      report(0.92, "Logarithms of probabilities are computed from the outputs of a softmax: it is taken twice");
    if (operation == "BinaryCrossEntropyWithLogits") {
      if (before == "Sigmoid")
        report(0.95, "The sigmoid is taken twice: binary_cross_entropy_with_logits applies it itself");
      else if (before == "Relu")
        report(0.9, "A ReLU stands between the last layer and the loss, so no score can be negative");
      else if (before == "Softmax")
        report(0.93, "binary_cross_entropy_with_logits gets the outputs of a softmax");
      else if (before == "Tanh")
        report(0.7, "A tanh stands between the last layer and the loss");
    }
    // Of a rate that a softplus keeps positive the loss takes the exponential again.
    const bool is_poisson = !seen.structure().compared.empty() &&
                            contains(lower_case(seen.structure().compared.front().function), "poisson");
    if (operation == "Exp" && is_poisson && (before == "Softplus" || before == "Relu" || before == "Sigmoid"))
      report(0.9, fmt::format("poisson_nll_loss gets the outputs of a {}, and takes its inputs for logarithms of rates "
                              "(log_input=True)",
                              lower_case(std::string(before))));
    if (operation == "BinaryCrossEntropy" && before == "Softmax")
      report(0.6, "binary_cross_entropy gets the outputs of a softmax");
    if (starts_with(operation, "NllLoss") && before == "Softmax")
      report(0.94, "nll_loss gets probabilities, where it takes logarithms of them");
    const bool is_own_error =
        operation == "Sub" && seen.structure().compares_squares() && (i <= kOwnError || is_squared(*graph, i));
    if (is_own_error || starts_with(operation, "MseLoss") || starts_with(operation, "SmoothL1") ||
        starts_with(operation, "L1Loss")) {
      const double lowest = median_of(seen.history, "target", 2), highest = median_of(seen.history, "target", 3);
      if (before == "Relu" && lowest < -0.05)
        report(0.93, fmt::format("The last activation is a ReLU, but targets go down to {}", number(lowest)));
      if (before == "Sigmoid" && (lowest < -0.05 || highest > 1.05))
        report(0.93, fmt::format("The last activation is a sigmoid, but targets go from {} to {}", number(lowest),
                                 number(highest)));
      if (before == "Tanh" && (lowest < -1.1 || highest > 1.1))
        report(0.93, fmt::format("The last activation is a tanh, but targets go from {} to {}", number(lowest),
                                 number(highest)));
      if (before == "Softmax") report(0.4, "A squared error gets the outputs of a softmax");
    }
  }
  // nll_loss takes logarithms of probabilities: those of a row sum to 1.
  const double log_sum = median_of(seen.history, "log_sum");
  if (log_sum > 0.05) {
    const bool is_normalised = std::any_of(graph->nodes.begin(), graph->nodes.end(),
                                           [](const GraphNode& node) { return node.operation == "LogSoftmax"; });
    findings.push_back(
        {is_normalised ? "softmax_dimension" : "output_activation",
         0.93,
         is_normalised ? "log_softmax is taken over another dimension than that of the classes"
                       : "nll_loss gets scores, where it takes logarithms of probabilities",
         {fmt::format("the logarithm of the sum over classes is {}, where it should be 0", number(log_sum))},
         {},
         0,
         seen.place("loss")});
  }
  // What the graph does not show: a loss that gets what sums to 1.
  const double sums = median_of(seen.history, "rows_sum_to_1");
  const bool is_cross_entropy =
      !seen.structure().compared.empty() && contains(lower_case(seen.structure().compared.front().function), "cross");
  if (sums > 0.95 && is_cross_entropy && median_of(seen.history, "predicted", 2) >= 0 &&
      median_of(seen.history, "classes") > 1) {
    findings.push_back({"output_activation",
                        0.9,
                        "Cross entropy gets rows that sum to 1: probabilities in place of scores",
                        {"softmax is taken twice"},
                        {},
                        0,
                        seen.place("loss")});
  }
}

// A generator that ends in a sigmoid or tanh cannot make what its data hold.
void look_for_bounded_generator(const Case& seen, Findings& findings) {
  constexpr double kSlack = 1e-3, kNoiseReach = 4;
  std::int64_t last_step = 0;
  double real_low = 0, real_high = 0, low = 0, high = 0;
  std::size_t looks = 0;
  for (const Snapshot& snapshot : seen.snapshots()) {
    const Values* ranges = snapshot.find("adversary_ranges");
    if (ranges == nullptr || ranges->size() < 4) continue;
    // Noise that is added to the samples of both widens the range of the data, by hardly more than this.
    const double widened = ranges->size() > 4 ? kNoiseReach * (*ranges)[4] : 0;
    real_low = looks == 0 ? (*ranges)[0] + widened : std::min(real_low, (*ranges)[0] + widened);
    real_high = looks == 0 ? (*ranges)[1] - widened : std::max(real_high, (*ranges)[1] - widened);
    low = looks == 0 ? (*ranges)[2] : std::min(low, (*ranges)[2]);
    high = looks == 0 ? (*ranges)[3] : std::max(high, (*ranges)[3]);
    ++looks;
    last_step = snapshot.step;
  }
  const auto has = [&](std::string_view kind) {
    const auto& modules = seen.structure().modules;
    const Graph* const graph = seen.graph();
    return std::any_of(modules.begin(), modules.end(), [&](const Module& each) { return each.kind == kind; }) ||
           (graph != nullptr && std::any_of(graph->nodes.begin(), graph->nodes.end(),
                                            [&](const GraphNode& each) { return each.operation == kind; }));
  };
  if (looks < 2) return;
  // Or until late nothing has been below zero, which a layer that nothing bounds would give from the start.
  constexpr std::size_t kManyLooks = 6;
  const bool is_never_negative = low >= 0 && looks >= kManyLooks && 2 * last_step > seen.symptoms.steps;
  const bool fills = (low < 0.05 && high > 0.9) || is_never_negative;
  const bool is_sigmoid =
      (has("Sigmoid") || fills) && low >= -kSlack && high <= 1 + kSlack && (real_low < -0.2 || real_high > 1.3);
  const bool is_tanh =
      has("Tanh") && low >= -1 - kSlack && high <= 1 + kSlack && high > 0.5 && (real_low < -1.3 || real_high > 1.3);
  if (!is_sigmoid && !is_tanh) return;
  findings.push_back({"output_activation",
                      0.85,
                      fmt::format("The generator ends in a {}, and cannot make samples like those of the data",
                                  is_sigmoid ? "sigmoid" : "tanh"),
                      {fmt::format("what it makes lies between {} and {}, the data between {} and {}", number(low),
                                   number(high), number(real_low), number(real_high))},
                      {},
                      0,
                      {}});
}

// A sigmoid before a softmax leaves scores between 0 and 1: no class can be much likelier than another.
void look_for_squashed_scores(const Case& seen, Findings& findings) {
  const Graph* graph = seen.graph();
  if (graph == nullptr) return;
  for (const GraphNode& node : graph->nodes) {
    if (!is_one_of(node.operation, {"Softmax", "LogSoftmax"}) || node.from.empty()) continue;
    const GraphNode& before = graph->nodes[past_views(*graph, node.from.front())];
    if (before.operation != "Sigmoid") continue;
    findings.push_back(
        {"output_activation",
         0.82,
         "A softmax gets what a sigmoid has squashed between 0 and 1, so that it can hardly prefer anything",
         {fmt::format("{} takes its scores directly from a sigmoid", node.operation)},
         {},
         0,
         seen.place("backward")});
    return;
  }
}

void look_for_softmax_dimension(const Case& seen, Findings& findings) {
  const Graph* graph = seen.graph();
  if (graph == nullptr) return;
  for (std::size_t i = 0; i < graph->nodes.size(); ++i) {
    const GraphNode& node = graph->nodes[i];
    if (node.operation != "Softmax" && node.operation != "LogSoftmax") continue;
    const auto dimension = node.settings.find("dim");
    if (dimension == node.settings.end() || dimension->second != 0) continue;
    findings.push_back({"softmax_dimension",
                        0.85,
                        fmt::format("{} is taken over dimension 0, the samples of the batch",
                                    node.operation == "Softmax" ? "softmax" : "log_softmax"),
                        {"the probabilities of a sample do not sum to 1"},
                        {},
                        0,
                        seen.place("loss").empty() ? seen.place("backward") : seen.place("loss")});
    return;
  }
}

// Does it fall no less in the last third than in the one before?
bool falls_faster(const Case& seen) {
  const Values& losses = seen.history.losses.values;
  const std::size_t n = losses.size(), third = n / 3;
  if (third < 3) return false;
  const auto at = [&](std::size_t end) {
    return median(Values(losses.begin() + static_cast<std::ptrdiff_t>(end - 3),
                         losses.begin() + static_cast<std::ptrdiff_t>(end)));
  };
  const double middle = at(third) - at(2 * third), last = at(2 * third) - at(n);
  return last > 0 && last >= 0.9 * middle;
}

void look_for_sign(const Case& seen, Findings& findings) {
  const Course& train = seen.symptoms.train;
  if (train.count < 10 || seen.symptoms.is_adversarial) return;
  const Graph* graph = seen.graph();
  bool negated = false;
  if (graph != nullptr && !graph->nodes.empty()) {
    for (std::size_t i = 0; i < std::min<std::size_t>(graph->nodes.size(), 4); ++i) {
      if (graph->nodes[i].operation != "Neg") continue;
      for (const std::size_t from : graph->nodes[i].from) {
        const std::string& inner = graph->nodes[past_views(*graph, from)].operation;
        negated = negated || is_one_of(inner, {"NllLoss", "NllLoss2D", "MseLoss", "BinaryCrossEntropy",
                                               "BinaryCrossEntropyWithLogits", "SmoothL1Loss", "KlDiv", "L1Loss"});
      }
    }
  }
  const bool worsens = seen.symptoms.part < 0 && train.late < train.first &&
                       seen.symptoms.compared_late > 1.5 * seen.symptoms.compared_early;
  const bool accuracy_below = seen.symptoms.accuracy < 0.5 * seen.symptoms.chance;
  double confidence = 0;
  if (negated)
    confidence = 0.95;
  else if (train.best < -1e3 * std::max(1.0, std::abs(train.first)))
    confidence = 0.9;
  else if (train.first > 0 && train.late < -3 * train.first && train.trend > 4)
    confidence = falls_faster(seen) ? 0.75 : 0.4;  // below 0, as far as it likes
  else if (train.first < 0 && train.late < -20 * std::max(1.0, -train.first) && train.trend > 4 && falls_faster(seen))
    confidence = 0.75;
  else if (worsens || (accuracy_below && train.late < 0))
    confidence = 0.8;
  if (confidence == 0) return;
  findings.push_back(
      {"loss_sign",
       confidence,
       "The loss has its sign turned: the training makes the error larger",
       {fmt::format("what backward() is called on goes from {} to {}", number(train.first), number(train.late)),
        fmt::format("what the loss function gives goes from {} to {}", number(seen.symptoms.compared_early),
                    number(seen.symptoms.compared_late))},
       {},
       0,
       seen.place("backward")});
}

// The loss is a sum that the program takes itself, with nothing that divides it.
bool sums_over_samples(const Case& seen) {
  const Graph* graph = seen.graph();
  // Of a loss that compares nothing, as the differences of energies, it is not known how large it should be.
  if (graph == nullptr || seen.snapshots().empty() || seen.structure().compared.empty()) return false;
  const double samples = seen.snapshots().front().at("input_shape", 0);
  for (std::size_t at = 0; at < std::min<std::size_t>(graph->nodes.size(), 3); ++at) {
    const GraphNode& node = graph->nodes[at];
    if (node.operation == "Sum" && !node.sizes.empty() && node.settings.count("dim/0") == 0)
      return samples > 1 && static_cast<double>(node.sizes.front()) == samples;
    if (node.operation != "Neg" || node.from.size() != 1 || node.from.front() != at + 1) return false;
  }
  return false;
}

// A loss function of the framework that is told to sum, with nothing that scales what it gives.
bool sums_by_reduction(const Graph& graph) {
  const std::size_t looked_at = std::min<std::size_t>(graph.nodes.size(), 4);
  const auto is_scaled = [&](std::size_t at) {
    return std::any_of(graph.nodes.begin(), graph.nodes.begin() + static_cast<std::ptrdiff_t>(at),
                       [&](const GraphNode& node) {
                         return is_one_of(node.operation, {"Div", "Mul"}) &&
                                std::any_of(node.from.begin(), node.from.end(),
                                            [&](std::size_t from) { return past_views(graph, from) == at; });
                       });
  };
  for (std::size_t at = 0; at < looked_at; ++at) {
    const auto reduction = graph.nodes[at].settings.find("reduction");
    if (reduction != graph.nodes[at].settings.end() && reduction->second == 2 && !is_scaled(at)) return true;
  }
  return false;
}

void look_for_reduction(const Case& seen, Findings& findings) {
  const Graph* graph = seen.graph();
  const bool sums = graph != nullptr && (sums_by_reduction(*graph) || sums_over_samples(seen));
  // Of a loss without a yardstick it is not known how far it can fall.
  const bool falls_short =
      seen.history.has_ended && !seen.symptoms.learns_well && std::isfinite(seen.symptoms.yardstick);
  const bool fails = seen.is_ill() || seen.symptoms.is_rough || falls_short;
  if (!sums || !fails) return;
  findings.push_back(
      {"loss_reduction",
       0.8,
       "The loss is a sum over the batch, so that gradients are as many times too large as there are samples",
       {fmt::format("the first loss is {}", number(seen.symptoms.train.first))},
       {},
       0,
       seen.place("loss")});
}

void look_for_wrong_loss(const Case& seen, Findings& findings) {
  const Course& train = seen.symptoms.train;
  if (median_of(seen.history, "classes") == 1 ||
      (train.count >= 5 && train.first == 0 && train.late == 0 && !(train.peak > 0))) {
    findings.push_back({"wrong_loss_function",
                        0.93,
                        "The loss is 0 whatever the model gives: cross entropy over one class alone",
                        {"use binary_cross_entropy_with_logits for one score"},
                        {},
                        0,
                        seen.place("loss")});
  }
  if (const double sums = median_of(seen.history, "rows_of_target_sum_to_1"); sums < 0.9) {
    findings.push_back(
        {"wrong_loss_function",
         0.85,
         "Cross entropy gets targets whose rows do not sum to 1: several classes may hold at once, which "
         "binary cross entropy is for",
         {fmt::format("{:.0f} % of the rows of targets sum to 1", 100 * sums)},
         {},
         0,
         seen.place("loss")});
  }
  for (const Compared& each : seen.structure().compared) {
    const bool squared = contains(each.function, "mse") || contains(each.function, "MSE") ||
                         contains(each.function, "l1") || contains(each.function, "L1");
    const bool are_numbers_of_classes = contains(each.target_dtype, "int");
    const double zeros = median_of(seen.history, "target", 4), low = median_of(seen.history, "target", 2),
                 high = median_of(seen.history, "target", 3);
    if (squared && are_numbers_of_classes) {
      findings.push_back({"wrong_loss_function",
                          0.8,
                          fmt::format("{} compares outputs with whole numbers, which look like classes", each.function),
                          {fmt::format("targets are {} of shape {}", each.target_dtype, shape(each.target))},
                          {},
                          0,
                          seen.place("loss")});
    } else if (squared && each.target.size() == 2 && each.target.back() > 2 && low == 0 && high == 1 &&
               std::abs(zeros - (1 - 1.0 / static_cast<double>(each.target.back()))) < 0.01) {
      findings.push_back(
          {"wrong_loss_function",
           seen.symptoms.learns_well ? 0.35 : 0.6,
           fmt::format("{} compares outputs with one-hot vectors of {} classes", each.function, each.target.back()),
           {fmt::format("targets are 0 and 1, of shape {}", shape(each.target))},
           {},
           0,
           seen.place("loss")});
    }
  }
}

// What binary cross entropy gets as targets are probabilities; beyond 0 and 1 it has no lower bound.
void look_for_targets_that_are_no_probabilities(const Case& seen, Findings& findings) {
  constexpr double kRounding = 0.01;
  const double low = median_of(seen.history, "target", 2), high = median_of(seen.history, "target", 3);
  if (!(low < -kRounding) && !(high > 1 + kRounding)) return;
  for (const Compared& each : seen.structure().compared) {
    const std::string function = lower_case(each.function);
    if (!contains(function, "binary") && !contains(function, "bce")) continue;
    findings.push_back({"wrong_loss_function",
                        0.93,
                        fmt::format("{} gets targets that are no probabilities", each.function),
                        {fmt::format("they lie between {} and {}", number(low), number(high)), seen.course().front()},
                        {},
                        0,
                        seen.place("loss")});
    return;
  }
}

void look_for_target_scale(const Case& seen, Findings& findings) {
  if (seen.structure().compared.empty() || seen.snapshots().empty()) return;
  for (const char* number_of_loss : {"", "1"}) {
    const std::string target = std::string("target") + number_of_loss;
    const double deviation = median_of(seen.history, target, 1), mean = median_of(seen.history, target, 0);
    const double output = seen.snapshots().front().at(std::string("predicted") + number_of_loss, 1);
    const bool are_labels = seen.symptoms.is_classifier && *number_of_loss == '\0';
    if (are_labels || !std::isfinite(deviation) || !(output >= 0)) continue;
    const double size = std::max(deviation, std::abs(mean));
    if (size < 30 || size < 20 * std::max(output, 0.05)) continue;
    const bool is_fine = seen.symptoms.learns_well && seen.symptoms.skill > 0.8;
    findings.push_back({"target_scale",
                        is_fine || seen.symptoms.is_adversarial ? 0.4 : 0.88,
                        fmt::format("Targets are around {} with a spread of {}, while the model begins around {}",
                                    number(mean), number(deviation), number(output)),
                        {fmt::format("the first loss is {}", number(seen.symptoms.train.first)),
                         fmt::format("the loss at the end is {}, that of a constant answer {}",
                                     number(seen.symptoms.compared_late), number(seen.symptoms.constant))},
                        {},
                        0,
                        seen.place("loss")});
  }
}

void look_for_instability(const Case& seen, Findings& findings) {
  const Graph* graph = seen.graph();
  const Course& train = seen.symptoms.train;
  if (graph == nullptr || train.not_finite == 0 || train.best < -1e6) return;
  std::string danger;
  for (std::size_t i = 0; i < graph->nodes.size() && danger.empty(); ++i) {
    const GraphNode& node = graph->nodes[i];
    if (node.operation == "Log") {
      for (const std::size_t from : node.from) {
        const std::string& inner = graph->nodes[past_views(*graph, from)].operation;
        if (is_one_of(inner, {"Softmax", "Sigmoid", "RsubScalar", "Rsub", "Relu", "Div", "Exp", "Sum", "Mul", "Abs",
                              "Var", "Std"}))
          danger = "log of " + inner;
      }
    }
    if (is_one_of(node.operation, {"Sqrt", "Norm", "LinalgVectorNorm", "Acos", "Asin", "Rsqrt", "Log2", "Reciprocal"}))
      danger = node.operation;
    if (node.operation == "Std" || node.operation == "Var") danger = node.operation;
    if (node.operation == "Div" && node.from.size() == 2) danger = "Div";
    if (node.operation == "Pow" && node.settings.count("exponent") > 0 && node.settings.at("exponent") < 1)
      danger = "Pow";
    if (node.operation == "Exp") danger = "Exp";
  }
  if (danger.empty()) return;
  const double grown = train.peak / std::max(std::abs(train.first), 1e-9);
  findings.push_back(
      {"numerically_unstable_operation",
       grown >= 3 ? 0.5 : 0.85,  // also where the first loss is no number already
       fmt::format("The loss becomes NaN or infinite at step {}, and {} in its graph is undefined for some numbers",
                   train.first_bad_step, danger),
       {fmt::format("the loss was {} before that", number(train.best)),
        fmt::format("{} of {} looked-at losses are not finite", train.not_finite, train.count)},
       {},
       train.first_bad_step,
       seen.place("backward")});
}

}  // namespace

void look_at_loss(const Case& seen, Findings& findings) {
  look_for_output_activation(seen, findings);
  look_for_bounded_generator(seen, findings);
  look_for_squashed_scores(seen, findings);
  look_for_softmax_dimension(seen, findings);
  look_for_sign(seen, findings);
  look_for_reduction(seen, findings);
  look_for_wrong_loss(seen, findings);
  look_for_targets_that_are_no_probabilities(seen, findings);
  look_for_target_scale(seen, findings);
  look_for_instability(seen, findings);
}

}  // namespace trainwarden::diagnosis
