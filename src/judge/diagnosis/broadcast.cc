// Broadcast: predictions and targets whose shapes differ, so that each sample is compared with every other.
#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "judge/diagnosis/finding.h"
#include "judge/diagnosis/graph_walk.h"
#include "judge/diagnosis/names.h"

namespace trainwarden::diagnosis {
namespace {

// How many columns a linear map gives; 0 where it is none, of two activations for instance.
std::int64_t columns_of(const Case& seen, const Graph& graph, std::size_t at) {
  for (const std::size_t from : graph.nodes[at].from) {
    const std::int64_t number = graph.nodes[past_views(graph, from)].number;
    const auto& parameters = seen.structure().parameters;
    if (number < 0 || static_cast<std::size_t>(number) >= parameters.size()) continue;
    const auto& shape = parameters[static_cast<std::size_t>(number)].shape;
    if (shape.size() == 2) return shape[0];
  }
  return 0;
}

// A matrix of products of all with all, as contrastive losses have it, is one on purpose; so is one of as many outputs
// as there are samples.
bool is_product(const Case& seen, const Graph& graph, std::size_t at, std::int64_t rows) {
  for (const std::size_t from : graph.nodes[at].from) {
    std::size_t source = past_views(graph, from);
    for (int step = 0; step < 4 && is_one_of(graph.nodes[source].operation, {"Div", "Mul", "Add", "Rsub", "Exp"}) &&
                       !graph.nodes[source].from.empty();
         ++step) {
      source = past_views(graph, graph.nodes[source].from.front());
    }
    const std::string& operation = graph.nodes[source].operation;
    if (is_one_of(operation, {"Bmm", "Cdist", "CosineSimilarity"})) return true;
    const std::int64_t columns = columns_of(seen, graph, source);
    if (is_one_of(operation, {"Mm", "Addmm"}) && (columns == 0 || columns == rows)) return true;
  }
  return false;
}

// Is that many rows what other tensors of the graph have, too? Then it is a number of samples.
bool has_rows(const Graph& graph, std::int64_t rows) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const GraphNode& node) {
    return node.sizes.size() == 2 && node.sizes[0] == rows && node.sizes[1] != rows;
  });
}

// One number for each sample, in a column: a linear map to one output, or one picked answer, as of the action that was
// taken.
bool is_column(const Case& seen, const Graph& graph, std::size_t at) {
  const GraphNode& node = graph.nodes[at];
  if (node.from.size() != 1) return false;  // two of the graph: each may have the other's shape
  const std::size_t source = past_views(graph, node.from.front());
  const auto along = graph.nodes[source].settings.find("dim");
  const bool picks =
      graph.nodes[source].operation == "Gather" && along != graph.nodes[source].settings.end() && along->second == 1;
  return picks || columns_of(seen, graph, source) == 1;
}

// Who writes unsqueeze() compares each with every other on purpose.
bool is_pairwise(const Graph& graph, std::size_t at) {
  for (std::size_t source : graph.nodes[at].from) {
    for (int step = 0; step < 6; ++step) {
      const GraphNode& node = graph.nodes[source];
      if (is_one_of(node.operation, {"Unsqueeze", "Expand", "T", "Transpose"})) return true;
      if (!(hands_on(node.operation) || is_one_of(node.operation, {"Neg", "Exp", "Log", "Mul", "Div"})) ||
          node.from.empty())
        break;
      source = node.from.front();
    }
  }
  return false;
}

// Triplets are made on purpose: of distances of pairs, along an axis more. Is there such an axis before the distances?
bool are_triplets(const Graph& graph, std::size_t loss) {
  constexpr std::size_t kMaxNodes = 64;
  std::vector<std::size_t> open = {loss};
  std::set<std::size_t> seen_nodes;
  while (!open.empty() && seen_nodes.size() < kMaxNodes) {
    const std::size_t at = open.back();
    open.pop_back();
    if (!seen_nodes.insert(at).second) continue;
    const std::string& operation = graph.nodes[at].operation;
    if (is_one_of(operation, {"Unsqueeze", "Expand", "View", "ReshapeAlias", "Reshape"})) return true;
    const bool are_pairs =
        is_one_of(operation, {"Sqrt", "Clamp", "ClampMin", "Cdist", "Mm", "Bmm", "Norm", "LinalgVectorNorm"}) ||
        (at != loss && is_one_of(operation, {"Sum", "Mean"}));
    if (!are_pairs) open.insert(open.end(), graph.nodes[at].from.begin(), graph.nodes[at].from.end());
  }
  return false;
}

// A mean over [samples, samples, samples] of pairs: a mask that has an axis too many meets their distances.
void look_for_cube_of_pairs(const Case& seen, Findings& findings) {
  constexpr std::size_t kNear = 4;
  const Graph* const graph = seen.graph();
  if (graph == nullptr || seen.snapshots().empty()) return;
  const double batch = seen.snapshots().front().at("input_shape", 0);
  for (std::size_t i = 0; i < std::min(graph->nodes.size(), kNear); ++i) {
    const GraphNode& node = graph->nodes[i];
    const bool is_cube = is_one_of(node.operation, {"Mean", "Sum"}) && node.sizes.size() == 3 && node.sizes[0] >= 4 &&
                         node.sizes[0] == node.sizes[1] && node.sizes[1] == node.sizes[2];
    if (!is_cube || static_cast<double>(node.sizes[0]) != batch) continue;
    if (are_triplets(*graph, i)) return;
    findings.push_back(
        {"shapes_broadcast_in_loss",
         0.85,
         fmt::format("The loss is taken over {}, although it compares pairs of samples", shape(node.sizes)),
         {"a mask, or labels, of shape [samples, 1] have an axis too many, and are broadcast"},
         {},
         0,
         seen.place("backward")});
    return;
  }
}

void look_for_pairs_of_samples(const Case& seen, Findings& findings) {
  for (const Compared& each : seen.structure().compared) {
    const bool by_element = contains(each.function, "mse") || contains(each.function, "MSE") ||
                            contains(each.function, "l1") || contains(each.function, "L1") ||
                            contains(each.function, "huber") || contains(each.function, "Huber") ||
                            contains(each.function, "SmoothL1");
    if (!by_element || each.predicted == each.target || each.predicted.empty() || each.target.empty()) continue;
    findings.push_back(
        {"shapes_broadcast_in_loss",
         0.96,
         fmt::format("Predictions of shape {} are compared with targets of shape {}, each with every other",
                     shape(each.predicted), shape(each.target)),
         {fmt::format("{} broadcasts both", each.function)},
         {},
         0,
         seen.place("loss").empty() ? seen.place("backward") : seen.place("loss")});
    return;
  }
  if (const double elements = median_of(seen.history, "own_broadcast", 0); std::isfinite(elements)) {
    const double predicted = median_of(seen.history, "own_broadcast", 1),
                 samples = median_of(seen.history, "own_broadcast", 2);
    findings.push_back(
        {"shapes_broadcast_in_loss",
         0.9,
         fmt::format("{} predictions for {} samples become {} differences: each is compared with every other",
                     predicted, samples, elements),
         {"the shapes of predictions and targets differ, and are broadcast"},
         {},
         0,
         seen.place("backward")});
    return;
  }
  // A loss of one's own: the mean over a square, where the batch is one side of it.
  const Graph* graph = seen.graph();
  if (graph == nullptr || seen.snapshots().empty()) return;
  const double batch = seen.snapshots().front().at("input_shape", 0);
  for (std::size_t i = 0; i < std::min<std::size_t>(graph->nodes.size(), 8); ++i) {
    const GraphNode& node = graph->nodes[i];
    const bool averages = node.operation == "Mean" || node.operation == "Sum";
    if (!averages || node.sizes.size() != 2 || node.sizes[0] != node.sizes[1] || node.sizes[0] < 2) continue;
    std::size_t at = node.from.empty() ? i : past_views(*graph, node.from.front());
    for (int step = 0;
         step < 4 && is_one_of(graph->nodes[at].operation, {"Pow", "Abs", "Mul", "Sqrt", "Minimum", "Exp", "Where"}) &&
         !graph->nodes[at].from.empty();
         ++step) {
      at = past_views(*graph, graph->nodes[at].from.front());
    }
    if (!is_one_of(graph->nodes[at].operation, {"Sub", "Add"}) || is_product(seen, *graph, at, node.sizes[0]) ||
        is_pairwise(*graph, at))
      continue;
    // Is a side the number of samples?
    if (static_cast<double>(node.sizes[0]) != batch && !has_rows(*graph, node.sizes[0]) && !is_column(seen, *graph, at))
      continue;
    findings.push_back({"shapes_broadcast_in_loss",
                        0.85,
                        fmt::format("The loss is a mean over {}, each sample of the batch compared with every other",
                                    shape(node.sizes)),
                        {"a column of one shape and a row of another are broadcast"},
                        {},
                        0,
                        seen.place("backward")});
    return;
  }
}

}  // namespace

void look_at_broadcast(const Case& seen, Findings& findings) {
  look_for_cube_of_pairs(seen, findings);
  look_for_pairs_of_samples(seen, findings);
}

}  // namespace trainwarden::diagnosis
