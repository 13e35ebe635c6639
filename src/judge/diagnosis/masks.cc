// Masks: whom an attention leaves out. One that is turned around shows what it should hide.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "judge/diagnosis/finding.h"
#include "judge/diagnosis/graph_walk.h"
#include "judge/diagnosis/names.h"

namespace trainwarden::diagnosis {
namespace {

constexpr double kNearlyAll = 0.95, kHardlyAny = 0.05;
// Of shares that padding adds to.
constexpr double kMostlyHidden = 0.9, kAlike = 0.1;

// Padding is alike in all samples, and what is not padding differs: which of the two does the mask hide?
void look_for_reversed_key_mask(const Case& seen, Findings& findings) {
  const double share = median_of(seen.history, "mask_keys", 0), hidden = median_of(seen.history, "mask_keys", 1),
               shown = median_of(seen.history, "mask_keys", 2);
  if (!(share > 0.02) || !(share < 0.98) || !(shown < kHardlyAny * hidden)) return;
  findings.push_back(
      {"attention_mask",
       0.9,
       "The mask of an attention's keys is turned around: it hides what differs between samples, and shows padding",
       {fmt::format("{:.0f} % of the places are hidden; samples vary by {} there, and by {} at those that are shown",
                    100 * share, number(hidden), number(shown)),
        "in key_padding_mask, True hides a place"},
       {},
       0,
       seen.place("backward")});
}

double setting(const GraphNode& node, std::string_view key) {
  const auto found = node.settings.find(key);
  return found == node.settings.end() ? kUnknown : found->second;
}

bool is_over_keys(const GraphNode& softmax) {
  const double dim = setting(softmax, "dim");
  return dim == -1 || dim == setting(softmax, "axes") - 1;
}

// The shares that are hidden, of padding and of other places.
struct HiddenKeys {
  double padding = kUnknown, others = kUnknown;
};
// The same of pairs whose key comes after the query, is at its place, comes before it, and is the next one after it.
struct HiddenPairs {
  double above = kUnknown, own = kUnknown, below = kUnknown, next = kUnknown;
};

HiddenKeys keys_hidden_by(const GraphNode& node) {
  if (node.operation == "Softmax") return {setting(node, "hidden_keys/0"), setting(node, "hidden_keys/1")};
  const bool is_of_keys = node.operation == "MaskedFill" && setting(node, "filled/0") > 0.5;
  return is_of_keys ? HiddenKeys{setting(node, "filled/1"), setting(node, "filled/2")} : HiddenKeys{};
}

HiddenPairs pairs_hidden_by(const GraphNode& node) {
  if (node.operation == "Softmax")
    return {setting(node, "pairs/0"), setting(node, "pairs/1"), setting(node, "pairs/2"), setting(node, "pairs/3")};
  const bool is_of_pairs = node.operation == "MaskedFill" && setting(node, "filled/0") < 0.5;
  if (!is_of_pairs) return {};
  return {setting(node, "filled/1"), setting(node, "filled/2"), setting(node, "filled/3"), setting(node, "filled/4")};
}

std::string percent(double share) {
  return fmt::format("{:.0f} %", 100 * share);
}

std::optional<CauseFinding> reversed(const HiddenKeys& hidden) {
  if (!(hidden.padding < kHardlyAny) || !(hidden.others > kNearlyAll)) return std::nullopt;
  return CauseFinding{"attention_mask",
                      0.92,
                      "The mask of an attention is turned around: it hides the tokens, and shows the padding",
                      {fmt::format("{} of the tokens are hidden, and {} of the padding that fills rows up",
                                   percent(hidden.others), percent(hidden.padding))}};
}

std::optional<CauseFinding> reversed(const HiddenPairs& hidden) {
  if (hidden.above < kHardlyAny && hidden.below > kNearlyAll) {
    return CauseFinding{"attention_mask",
                        0.9,
                        "The causal mask of an attention is turned around: each place sees what follows, not what was",
                        {fmt::format("{} of the pairs are hidden where a key comes before its query, {} where it comes "
                                     "after",
                                     percent(hidden.below), percent(hidden.above))}};
  }
  const double others = (hidden.above + hidden.below) / 2;
  if (hidden.own > kNearlyAll && others > 0.02 && others < 0.6) {
    return CauseFinding{"attention_mask",
                        0.65,
                        "The mask of an attention may be turned around: it hides each place from itself, and most "
                        "others it shows",
                        {fmt::format("hidden are {} of the places from themselves, and {} of all other pairs",
                                     percent(hidden.own), percent(others))}};
  }
  return std::nullopt;
}

// Distances of pairs are masked, too, as in a loss of triplets; an attention has a softmax.
bool has_softmax(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const GraphNode& node) { return node.operation == "Softmax"; });
}

void look_for_reversed_fill(const Case& seen, Findings& findings) {
  if (seen.graph() == nullptr) return;
  const bool attends = has_softmax(*seen.graph());
  for (const GraphNode& node : seen.graph()->nodes) {
    auto finding = reversed(keys_hidden_by(node));
    if (!finding && attends) finding = reversed(pairs_hidden_by(node));
    if (!finding) continue;
    finding->place = seen.place("backward");
    findings.push_back(*std::move(finding));
    return;
  }
}

// Do the scores come from a product of queries and keys, with nothing that leaves pairs out?
bool is_unmasked(const Graph& graph, std::size_t at) {
  constexpr int kFar = 8;
  for (int i = 0; i < kFar; ++i) {
    at = past_views(graph, at);
    const GraphNode& node = graph.nodes[at];
    if (node.operation == "Bmm") return true;
    const bool is_scaled = is_one_of(node.operation, {"Mul", "Div"}) && node.from.size() == 1;
    if (!is_scaled) return false;  // a mask, a bias of positions, or something unknown
    at = node.from.front();
  }
  return false;
}

// Does it show as much of what follows as of what was, whatever else it leaves out?
bool shows_what_follows(const HiddenPairs& hidden) {
  return hidden.above < kMostlyHidden && hidden.above - hidden.below < kAlike;
}

// Does it hide the next place no more than a place from itself?
bool shows_the_next(const HiddenPairs& hidden) {
  return hidden.next < kMostlyHidden && hidden.next - hidden.own < kAlike;
}

// Is each target what the input has one place on, a token or a number?
bool is_next_of_input(const Case& seen) {
  constexpr double kAll = 0.97;
  return median_of(seen.history, "shift_match", 1) > kAll || median_of(seen.history, "forecast") > kAll;
}

// The targets are what follows in the input, and an attention lets each place see it.
void look_for_missing_causal_mask(const Case& seen, Findings& findings) {
  const Graph* const graph = seen.graph();
  if (graph == nullptr || !is_next_of_input(seen)) return;
  const double length = median_of(seen.history, "input_shape", 1);
  std::size_t open = 0, late = 0, all = 0;
  for (const GraphNode& node : graph->nodes) {
    if (node.operation.rfind("ScaledDotProduct", 0) == 0) {
      ++all;
      open += setting(node, "hides") == 0 ? 1 : 0;
    } else if (node.operation == "Softmax" && setting(node, "keys") == length && setting(node, "queries") == length) {
      ++all;
      if (!is_over_keys(node) || node.from.empty()) continue;
      const HiddenPairs hidden = pairs_hidden_by(node);
      const bool shows_all =
          std::isfinite(hidden.above) ? shows_what_follows(hidden) : is_unmasked(*graph, node.from.front());
      open += shows_all ? 1 : 0;
      late += !shows_all && shows_the_next(hidden) ? 1 : 0;
    }
  }
  if (open + late == 0) return;
  findings.push_back(
      {"attention_mask",
       0.92,
       open > 0 ? "The model sees what it must predict: its attention has no causal mask"
                : "The model sees what it must predict: its causal mask begins one place late",
       {open > 0 ? fmt::format("{} of {} attentions of the loss show what follows as much as what was", open, all)
                 : fmt::format("{} of {} attentions of the loss show each place the next one", late, all),
        "each target is what the input has one place on"},
       {},
       0,
       seen.place("backward")});
}

// Is each target fed to the model, one place on, as to the decoder of a translation?
bool is_fed_with_targets(const Case& seen) {
  constexpr double kAll = 0.97;
  return median_of(seen.history, "fed", 1) > kAll;
}

// So many targets has a sample.
double targets_of_a_sample(const Case& seen) {
  const auto& compared = seen.structure().compared;
  const double samples = seen.snapshots().empty() ? kUnknown : seen.snapshots().front().at("input_shape", 0);
  if (compared.empty() || !(samples > 0)) return kUnknown;
  double elements = 1;
  for (const std::int64_t size : compared.front().target) elements *= static_cast<double>(size);
  return elements / samples;
}

// The embeddings that a node is computed from.
std::set<std::size_t> embeddings_of(const Graph& graph, std::size_t from) {
  std::set<std::size_t> found;
  std::vector<bool> seen(graph.nodes.size());
  std::vector<std::size_t> waiting = {from};
  while (!waiting.empty()) {
    const std::size_t at = waiting.back();
    waiting.pop_back();
    if (seen[at]) continue;
    seen[at] = true;
    if (graph.nodes[at].operation == "Embedding") found.insert(at);
    waiting.insert(waiting.end(), graph.nodes[at].from.begin(), graph.nodes[at].from.end());
  }
  return found;
}

// Are queries and keys of an attention made from the same sequences? Else it looks at an encoder, of which all is
// shown.
bool is_of_one_sequence(const Graph& graph, const GraphNode& softmax) {
  constexpr int kMaxSteps = 16;  // scaling, masks
  if (softmax.from.empty()) return true;
  std::size_t at = softmax.from.front();
  for (int i = 0; i < kMaxSteps && graph.nodes[at].operation != "Bmm"; ++i) {
    if (graph.nodes[at].from.empty()) return true;
    at = graph.nodes[at].from.front();
  }
  const GraphNode& scores = graph.nodes[at];
  if (scores.operation != "Bmm" || scores.from.size() < 2) return true;
  const auto queries = embeddings_of(graph, scores.from[0]), keys = embeddings_of(graph, scores.from[1]);
  return queries.empty() || keys.empty() || queries == keys;
}

// A decoder is fed with what it must predict, and none of its attentions over these places hides what follows.
void look_for_decoder_without_causal_mask(const Case& seen, Findings& findings) {
  constexpr double kMinPlaces = 4;
  const Graph* const graph = seen.graph();
  const double length = targets_of_a_sample(seen);
  if (graph == nullptr || is_next_of_input(seen) || !is_fed_with_targets(seen) || !(length >= kMinPlaces)) return;
  std::size_t open = 0, all = 0;
  for (const GraphNode& node : graph->nodes) {
    if (node.operation != "Softmax" || setting(node, "keys") != length || setting(node, "queries") != length) continue;
    if (!is_of_one_sequence(*graph, node)) continue;
    ++all;
    const HiddenPairs hidden = pairs_hidden_by(node);
    open += is_over_keys(node) && std::isfinite(hidden.above) && shows_what_follows(hidden) ? 1 : 0;
  }
  if (open == 0 || open < all) return;
  findings.push_back({"attention_mask",
                      0.88,
                      "The decoder sees what it must predict: none of its attentions has a causal mask",
                      {fmt::format("{} of {} attentions over the {} places of the targets show what follows as much as "
                                   "what was",
                                   open, all, length),
                       "each target is fed to the decoder one place on"},
                      {},
                      0,
                      seen.place("backward")});
}

// At the first step queries and keys mean nothing yet, and attention is spread over all keys.
void look_for_sharp_attention(const Case& seen, Findings& findings) {
  constexpr double kFewKeys = 6, kSharp = 0.85;
  if (seen.graph() == nullptr) return;
  Values peaks;
  for (const GraphNode& node : seen.graph()->nodes) {
    if (node.operation == "Softmax" && is_over_keys(node) && setting(node, "keys") >= kFewKeys)
      peaks.push_back(setting(node, "peak"));
  }
  if (!(median(peaks) > kSharp)) return;
  findings.push_back({"attention_collapse",
                      0.85,
                      "The attention begins as if certain: each query looks at one key only, and no gradient comes "
                      "back through its scores",
                      {fmt::format("the largest weight is {:.2f} on average at the first step", median(peaks)),
                       "scores are divided by the square root of the size of a head"},
                      {},
                      0,
                      {}});
}

}  // namespace

void look_at_masks(const Case& seen, Findings& findings) {
  look_for_reversed_key_mask(seen, findings);
  look_for_reversed_fill(seen, findings);
  look_for_missing_causal_mask(seen, findings);
  look_for_decoder_without_causal_mask(seen, findings);
  look_for_sharp_attention(seen, findings);
}

}  // namespace trainwarden::diagnosis
