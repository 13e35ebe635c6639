// Axes: over which one a softmax is taken, and which one is then summed over; and models of series that see ahead.
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "judge/diagnosis/finding.h"
#include "judge/diagnosis/graph_walk.h"
#include "judge/diagnosis/names.h"

namespace trainwarden::diagnosis {
namespace {

std::optional<double> setting_of(const GraphNode& node, std::string_view key) {
  const auto found = node.settings.find(key);
  return found == node.settings.end() ? std::nullopt : std::optional(found->second);
}

struct SoftmaxBehind {
  const GraphNode* node = nullptr;
  bool is_swapped = false;  // its last two axes are exchanged on the way
};

// The softmax whose result this operand is, past what keeps or exchanges the last two axes.
SoftmaxBehind softmax_behind(const Graph& graph, std::size_t at) {
  SoftmaxBehind found;
  for (int i = 0; i < 10; ++i) {
    const GraphNode& node = graph.nodes[at];
    if (node.operation == "Softmax") {
      found.node = &node;
      return found;
    }
    if (node.from.empty()) return {};
    if (node.operation == "Transpose" || node.operation == "T")
      found.is_swapped = !found.is_swapped;
    else if (!is_one_of(node.operation, {"View", "UnsafeView", "ReshapeAlias", "Expand", "Clone", "Alias", "ToCopy",
                                         "NativeDropout", "FusedDropout", "MaskedFill"}) &&
             !(node.operation == "Mul" && node.from.size() == 1))  // dropout may be a product with what is kept
      return {};
    at = node.from.front();
  }
  return {};
}

// Attention: the weights of a matrix product must sum to 1 over what it sums over.
bool is_other_axis(const SoftmaxBehind& softmax, std::size_t operand) {
  const auto axes = setting_of(*softmax.node, "axes"), dim = setting_of(*softmax.node, "dim");
  if (!axes || !dim || *axes < 2) return false;
  const double taken = *dim < 0 ? *dim + *axes : *dim;
  const double last = *axes - 1, before = *axes - 2;
  // Over the heads, for instance. What is not as long as it is wide may be no attention.
  const auto queries = setting_of(*softmax.node, "queries");
  if (taken != last && taken != before)
    return *axes <= 3 || (queries && *queries > 1 && queries == setting_of(*softmax.node, "keys"));
  const bool sums_last = (operand == 0) != softmax.is_swapped;
  return taken != (sums_last ? last : before);
}

void look_for_attention_axis(const Case& seen, const Graph& graph, Findings& findings) {
  for (const GraphNode& node : graph.nodes) {
    if (!is_one_of(node.operation, {"Bmm", "Mm"}) || node.from.size() != 2) continue;
    for (std::size_t operand = 0; operand < 2; ++operand) {
      const SoftmaxBehind softmax = softmax_behind(graph, node.from[operand]);
      if (softmax.node == nullptr || !is_other_axis(softmax, operand)) continue;
      findings.push_back(
          {"softmax_dimension",
           0.85,
           "The weights of an attention sum to 1 over another axis than the one that is summed over",
           {fmt::format("softmax is taken over dimension {} of {}, and a matrix product sums over another",
                        *setting_of(*softmax.node, "dim"), *setting_of(*softmax.node, "axes"))},
           {},
           0,
           seen.place("backward")});
      return;
    }
  }
}

// What a CTC loss gets is taken for logarithms of probabilities, whatever it is.
void look_for_ctc_scores(const Case& seen, const GraphNode& given, Findings& findings) {
  const bool are_probabilities = given.operation == "Softmax";
  if (!are_probabilities && !is_linear_map(given.operation)) return;
  findings.push_back({"output_activation",
                      0.93,
                      fmt::format("A CTC loss gets {} for logarithms of probabilities",
                                  are_probabilities ? "probabilities" : "scores of a linear layer"),
                      {fmt::format("it wants log_softmax over the classes, and gets what {} gives", given.operation)},
                      {},
                      0,
                      seen.place("loss").empty() ? seen.place("backward") : seen.place("loss")});
}

// The logarithms that a CTC loss gets are those of the classes, which come last.
void look_for_ctc_axis(const Case& seen, const Graph& graph, Findings& findings) {
  for (const GraphNode& node : graph.nodes) {
    if (!starts_with(node.operation, "CtcLoss") && !starts_with(node.operation, "CudnnCtcLoss")) continue;
    if (node.from.empty()) continue;
    look_for_ctc_scores(seen, graph.nodes[past_views(graph, node.from.front())], findings);
    const GraphNode& logarithms = graph.nodes[past_views(graph, node.from.front())];
    const auto axes = setting_of(logarithms, "axes"), dim = setting_of(logarithms, "dim");
    if (logarithms.operation != "LogSoftmax" || !axes || !dim || *axes < 2) continue;
    const double taken = *dim < 0 ? *dim + *axes : *dim;
    if (taken == *axes - 1) continue;
    findings.push_back(
        {"softmax_dimension",
         0.93,
         "log_softmax is taken over another dimension than that of the classes",
         {fmt::format("it is dimension {} of {}, and a CTC loss takes classes from the last one", taken, *axes)},
         {},
         0,
         seen.place("loss").empty() ? seen.place("backward") : seen.place("loss")});
    return;
  }
}

// Classes of the pixels of an image are in dimension 1 of what a convolution gives; the last two are its rows and
// columns.
void look_for_pixel_axis(const Case& seen, const Graph& graph, Findings& findings) {
  for (const GraphNode& node : graph.nodes) {
    const auto axes = setting_of(node, "axes"), dim = setting_of(node, "dim");
    if (!is_one_of(node.operation, {"Softmax", "LogSoftmax"}) || node.from.empty() || !axes || !dim || *axes != 4)
      continue;
    const double taken = *dim < 0 ? *dim + *axes : *dim;
    if (taken < 2 || graph.nodes[node.from.front()].operation != "Convolution") continue;
    findings.push_back(
        {"softmax_dimension",
         0.85,
         fmt::format("Softmax is taken over the {} of an image, and not over the classes of a pixel",
                     taken == 2 ? "rows" : "columns"),
         {fmt::format("it is dimension {} of what a convolution gives, whose classes are in dimension 1", taken)},
         {},
         0,
         seen.place("loss").empty() ? seen.place("backward") : seen.place("loss")});
    return;
  }
}

// `(softmax(scores, dim).unsqueeze(-1) * values).sum(dim)`: the same axis, both times.
void look_for_pooling_axis(const Case& seen, const Graph& graph, Findings& findings) {
  for (const GraphNode& node : graph.nodes) {
    if (node.operation != "Sum" || node.from.size() != 1 || node.sizes.empty()) continue;
    const auto summed = setting_of(node, "dim/0");
    if (!summed || setting_of(node, "dim/1")) continue;
    const GraphNode& product = graph.nodes[node.from.front()];
    if (product.operation != "Mul" || product.from.size() != 2) continue;
    for (const std::size_t from : product.from) {
      const GraphNode* weights = &graph.nodes[from];
      int added = 0;
      while (weights->operation == "Unsqueeze" && !weights->from.empty() && added < 3) {
        const auto where = setting_of(*weights, "dim");
        if (!where || (*where >= 0 && *where < static_cast<double>(node.sizes.size()) - 1)) break;
        weights = &graph.nodes[weights->from.front()];
        ++added;
      }
      const auto axes = setting_of(*weights, "axes"), dim = setting_of(*weights, "dim");
      if (weights->operation != "Softmax" || !axes || !dim || *axes + added != static_cast<double>(node.sizes.size()))
        continue;
      const double taken = *dim < 0 ? *dim + *axes : *dim;
      const double over = *summed < 0 ? *summed + static_cast<double>(node.sizes.size()) : *summed;
      if (taken == over) continue;
      findings.push_back(
          {"softmax_dimension",
           0.85,
           "Weights that sum to 1 over one axis are used for a sum over another one",
           {fmt::format("softmax is taken over dimension {}, the weighted values are summed over {}", taken, over)},
           {},
           0,
           seen.place("backward")});
      return;
    }
  }
}

// A convolution over a series that is padded alike on both sides sees as far ahead as back.
bool sees_ahead(const Case& seen, const Graph& graph) {
  const auto& parameters = seen.structure().parameters;
  for (const GraphNode& node : graph.nodes) {
    if (!starts_with(node.operation, "Convolution") && node.operation != "MkldnnConvolution") continue;
    const auto padding = setting_of(node, "padding/0");
    const double dilation = setting_of(node, "dilation/0").value_or(1);
    const GraphNode& given = graph.nodes[node.from.empty() ? 0 : node.from.front()];
    const auto before = setting_of(given, "pad/0"), behind = setting_of(given, "pad/1");
    const bool is_even = given.operation == "ConstantPadNd" && before && behind && *before > 0 && *before == *behind;
    for (const std::size_t from : node.from) {
      const std::int64_t number = graph.nodes[from].number;
      if (number < 0 || static_cast<std::size_t>(number) >= parameters.size()) continue;
      const auto& shape = parameters[static_cast<std::size_t>(number)].shape;
      if (shape.size() != 3 || shape[2] < 3) continue;
      if (is_even) return true;
      if (padding && *padding > 0 && 2 * *padding == dilation * static_cast<double>(shape[2] - 1)) return true;
    }
  }
  return std::any_of(seen.structure().modules.begin(), seen.structure().modules.end(), [](const Module& each) {
    const auto both = each.settings.find("bidirectional");
    return both != each.settings.end() && both->second > 0;
  });
}

void look_for_sight_ahead(const Case& seen, const Graph& graph, Findings& findings) {
  const double forecast = median_of(seen.history, "forecast");
  if (!(forecast > 0.9) || !sees_ahead(seen, graph)) return;
  findings.push_back({"target_leak",
                      0.88,
                      "The model is to tell the next value of a series, and sees it: a layer looks ahead",
                      {fmt::format("{:.0f} % of the targets are the input one place on", 100 * forecast),
                       "a convolution is padded alike on both sides, or a recurrent layer runs in both directions"},
                      {},
                      0,
                      {}});
}

// Shapes tell it: a view keeps the order of the elements, and only permute() and transpose() change it.
void look_for_exchanged_axes(const Case& seen, Findings& findings) {
  for (const Exchange& each : seen.structure().exchanged) {
    const bool are_samples = each.what == "samples";
    const Module* const module = seen.structure().module(each.to);
    findings.push_back(
        {"inputs_scrambled",
         are_samples ? 0.93 : 0.9,
         fmt::format("{} gets {} with {} mixed up, as by view() or reshape() in place of transpose()", each.to,
                     each.from.empty() ? "a tensor" : each.from, are_samples ? "samples" : "axes"),
         {fmt::format("it is a view of shape {} of what has the shape {}, with the elements in the same order",
                      shape(each.taken), shape(each.given))},
         {},
         0,
         module == nullptr ? std::string() : short_place(module->place)});
    return;
  }
}

bool is_view(std::string_view operation) {
  return is_one_of(operation, {"View", "UnsafeView", "ReshapeAlias"});
}

// [samples, places, features] seen as [samples, heads, places, features of a head]: only a transpose brings the heads
// before the places, a view cuts pieces of other places.
bool mixes_heads(const std::vector<std::int64_t>& given, const std::vector<std::int64_t>& taken) {
  return given.size() == 3 && taken.size() == 4 && given[0] == taken[0] && given[1] == taken[2] &&
         given[2] == taken[1] * taken[3] && taken[1] > 1 && taken[2] > 1 && taken[1] != taken[2];
}

void look_for_mixed_heads(const Graph& graph, const Case& seen, Findings& findings) {
  for (const GraphNode& node : graph.nodes) {
    const bool tells_its_input =
        is_view(node.operation) || node.operation == "Expand" || starts_with(node.operation, "ScaledDotProduct");
    if (!tells_its_input || node.from.empty()) continue;
    const GraphNode& view = graph.nodes[node.from.front()];
    if (!is_view(view.operation) || !mixes_heads(view.sizes, node.sizes)) continue;
    findings.push_back(
        {"inputs_scrambled",
         0.92,
         "The heads of an attention get pieces of several places, as by view() without transpose()",
         {fmt::format("it is a view of shape {} of what has the shape {}, with the elements in the same order",
                      shape(node.sizes), shape(view.sizes))},
         {},
         0,
         seen.place("loss").empty() ? seen.place("backward") : seen.place("loss")});
    return;
  }
}

// Samples of a batch: as many as there are targets, unless those are of several places of each sample, made flat.
std::int64_t samples_in_batch(const Case& seen) {
  const auto& compared = seen.structure().compared;
  if (compared.empty() || compared.front().target.empty() || seen.snapshots().empty()) return 0;
  const std::int64_t targets = compared.front().target.front();
  const double first = seen.snapshots().front().at("input_shape", 0),
               second = seen.snapshots().front().at("input_shape", 1);
  const auto rows = static_cast<double>(targets);
  const bool are_flat = first >= 1 && rows != first && rows != second && std::fmod(rows, first) == 0;
  return are_flat ? static_cast<std::int64_t>(first) : targets;
}

// What a layer gets of [layers, samples, features], such as the last state of a recurrent one, is made flat as if the
// samples came first: each row is then of several samples.
void look_for_mixed_states(const Graph& graph, const Case& seen, Findings& findings) {
  const std::int64_t samples = samples_in_batch(seen);
  for (const GraphNode& node : graph.nodes) {
    if (!is_one_of(node.operation, {"Addmm", "Mm"}) || node.from.size() < 2) continue;
    const GraphNode& weight = graph.nodes[past_views(graph, node.from.back())];
    const GraphNode& view = graph.nodes[node.from[node.from.size() - 2]];
    const auto& parameters = seen.structure().parameters;
    if (weight.number < 0 || static_cast<std::size_t>(weight.number) >= parameters.size()) continue;
    const std::vector<std::int64_t>& given = view.sizes;
    if (!is_view(view.operation) || given.size() != 3 || given[1] != samples || given[0] == samples || given[0] < 2)
      continue;
    const auto& mapped = parameters[static_cast<std::size_t>(weight.number)].shape;
    if (mapped.size() != 2 || mapped[1] != given[0] * given[2]) continue;
    findings.push_back({"inputs_scrambled",
                        0.93,
                        "A layer gets states of several samples in one row, as by view() in place of transpose()",
                        {fmt::format("{} is made flat to rows of {}, though its {} samples are the second axis",
                                     shape(given), mapped[1], samples)},
                        {},
                        0,
                        seen.place("loss")});
    return;
  }
}

// How many places in time the inputs have; 0 where that is not known.
double length_of_inputs(const Case& seen) {
  const Snapshot& first = seen.snapshots().front();
  if (const double length = first.at("input_shape", 1); first.at("input_shape", 2) > 0) return length;
  const auto samples = static_cast<double>(samples_in_batch(seen));
  const double tokens = first.at("symbols", 0);
  return tokens > 0 && std::fmod(tokens, samples) == 0 ? tokens / samples : 0;
}

// nn.MultiheadAttention with batch_first=False takes the first axis for time: given the samples there, each looks at
// the others of its batch.
void look_for_attention_over_samples(const Case& seen, const Graph& graph, Findings& findings) {
  const auto& modules = seen.structure().modules;
  const bool takes_time_first = std::any_of(modules.begin(), modules.end(), [](const Module& each) {
    const auto found = each.settings.find("batch_first");
    return contains(each.kind, "MultiheadAttention") && found != each.settings.end() && found->second == 0;
  });
  if (!takes_time_first || samples_in_batch(seen) < 2) return;
  const double samples = static_cast<double>(samples_in_batch(seen)), length = length_of_inputs(seen);
  if (samples < 2 || length < 2 || length == samples) return;
  const bool looks_at_samples = std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const GraphNode& node) {
    return node.operation == "Softmax" && setting_of(node, "queries") == samples && setting_of(node, "keys") == samples;
  });
  if (!looks_at_samples) return;
  findings.push_back({"inputs_scrambled",
                      0.9,
                      fmt::format("An attention with batch_first=False gets the {} samples of the batch as its places "
                                  "in time",
                                  samples),
                      {fmt::format("its weights are [{}, {}], and the inputs are {} long", samples, samples, length)},
                      {},
                      0,
                      seen.place("loss")});
}

}  // namespace

void look_at_axes(const Case& seen, Findings& findings) {
  look_for_exchanged_axes(seen, findings);
  const Graph* const graph = seen.graph();
  if (graph == nullptr || graph->nodes.empty() || seen.snapshots().empty()) return;
  look_for_attention_axis(seen, *graph, findings);
  look_for_ctc_axis(seen, *graph, findings);
  look_for_pooling_axis(seen, *graph, findings);
  look_for_pixel_axis(seen, *graph, findings);
  look_for_sight_ahead(seen, *graph, findings);
  look_for_attention_over_samples(seen, *graph, findings);
  look_for_mixed_heads(*graph, seen, findings);
  look_for_mixed_states(*graph, seen, findings);
}

}  // namespace trainwarden::diagnosis
