// Signs: which way a loss pulls what it is made of. Read off its graph, where every step on the way has a known sign.
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "judge/diagnosis/finding.h"
#include "judge/diagnosis/graph_walk.h"
#include "judge/diagnosis/names.h"

namespace trainwarden::diagnosis {
namespace {

constexpr std::size_t kMaxVisited = 400;

struct Signed {
  std::size_t node = 0;
  int sign = 1;  // +1: what is behind it grows with this
};

// The sources of an operator that hand on the sign, or turn it; nothing where that is not known.
std::vector<Signed> sources_of(const Graph& graph, const Signed& here) {
  const GraphNode& node = graph.nodes[here.node];
  const auto all = [&](int sign) {
    std::vector<Signed> sources;
    for (const std::size_t from : node.from) sources.push_back({from, sign});
    return sources;
  };
  if (hands_on(node.operation) ||
      is_one_of(node.operation, {"Mean", "Sum", "MeanDim", "SumDim", "Add", "Stack", "Cat", "Gather", "Diagonal",
                                 "MaskedFill", "FillDiagonal", "CopySlices", "NanToNum"}))
    return all(here.sign);
  if (is_one_of(node.operation, {"Neg", "Rsub", "RsubScalar"})) return all(-here.sign);
  if (node.operation == "Sub" && node.from.size() == 2) return {{node.from[0], here.sign}, {node.from[1], -here.sign}};
  if (is_one_of(node.operation, {"Mul", "Div"})) {
    const auto factor = node.settings.find("factor");
    if (factor != node.settings.end() && factor->second != 0) return all(here.sign * (factor->second > 0 ? 1 : -1));
  }
  return {};
}

// All that is reached from `begin` with a known sign, the nearest first.
std::vector<Signed> reached_from(const Graph& graph, Signed begin) {
  std::vector<Signed> reached = {begin};
  std::set<std::pair<std::size_t, int>> known = {{begin.node, begin.sign}};
  for (std::size_t at = 0; at < reached.size() && reached.size() < kMaxVisited; ++at) {
    for (const Signed& each : sources_of(graph, reached[at])) {
      if (known.insert({each.node, each.sign}).second) reached.push_back(each);
    }
  }
  return reached;
}

bool is_log_likelihood(const Graph& graph, const GraphNode& node) {
  if (is_one_of(node.operation, {"LogSigmoid", "LogSoftmax"})) return true;
  if (node.operation != "Log" || node.from.empty()) return false;
  return is_one_of(graph.nodes[past_views(graph, node.from.front())].operation, {"Sigmoid", "Softmax"});
}

// Who trains makes log-likelihoods larger: they go into a loss with a minus.
void look_for_minimised_likelihood(const Case& seen, const Graph& graph, Findings& findings) {
  std::size_t smaller = 0, larger = 0;
  std::string name;
  for (const Signed& each : reached_from(graph, {0, 1})) {
    if (!is_log_likelihood(graph, graph.nodes[each.node])) continue;
    ++(each.sign > 0 ? smaller : larger);
    name = graph.nodes[each.node].operation;
  }
  if (smaller == 0 || larger > 0) return;
  findings.push_back({"loss_sign",
                      0.9,
                      "The loss is a log-likelihood without its minus: the training makes the data less likely",
                      {fmt::format("{} goes into the loss with a plus", name),
                       fmt::format("the loss goes from {} to {}", number(seen.symptoms.train.first),
                                   number(seen.symptoms.train.late))},
                      {},
                      0,
                      seen.place("backward")});
}

// The signs with which likelihoods of what was chosen, each weighted by an advantage of either sign, go into the loss.
std::set<int> signs_of_choices(const Graph& graph) {
  std::set<int> signs;
  for (const Signed& weighted : reached_from(graph, {0, 1})) {
    const GraphNode& node = graph.nodes[weighted.node];
    const auto factor = node.settings.find("factor");
    if (node.operation != "Mul" || factor == node.settings.end() || factor->second != 0 || node.from.empty()) continue;
    for (const Signed& each : reached_from(graph, {node.from.front(), weighted.sign})) {
      if (graph.nodes[each.node].operation == "Gather") signs.insert(each.sign);
    }
  }
  return signs;
}

// Who trains a policy makes what had an advantage more likely. Some turn the advantage's sign themselves, which the
// graph does not show.
void look_for_reversed_policy(const Case& seen, const Graph& graph, Findings& findings) {
  if (signs_of_choices(graph) != std::set<int>{1}) return;
  findings.push_back({"loss_sign",
                      0.6,
                      "The loss of the policy has no minus: what had an advantage becomes less likely",
                      {"the likelihood of what was chosen, times its advantage, goes into the loss with a plus"},
                      {"a program that turns the sign of its advantages before looks the same"},
                      0,
                      seen.place("backward")});
}

// Past what adds a constant, or multiplies with a positive one.
std::size_t past_constants(const Graph& graph, std::size_t at) {
  for (std::size_t step = 0; step < graph.nodes.size(); ++step) {
    at = past_views(graph, at);
    const GraphNode& node = graph.nodes[at];
    const auto factor = node.settings.find("factor");
    const bool is_scaled = node.operation == "Mul" && factor != node.settings.end() && factor->second == 1;
    if (node.from.size() != 1 || !(node.operation == "Add" || is_scaled)) return at;
    at = node.from.front();
  }
  return at;
}

bool is_sum(const GraphNode& node) {
  return is_one_of(node.operation, {"Sum", "SumDim", "Mean", "MeanDim"}) && node.from.size() == 1;
}

// A sum of predictions where the target is, over a sum of all of them: the coefficient of Dice, or of Jaccard.
bool is_overlap(const Graph& graph, const GraphNode& node) {
  if (node.operation != "Div" || node.from.size() != 2) return false;
  const GraphNode& shared = graph.nodes[past_constants(graph, node.from[0])];
  if (!is_sum(shared)) return false;
  const std::size_t product = past_views(graph, shared.from.front());
  const std::size_t predicted = past_constants(graph, product);
  if (predicted == product) return false;  // it is not with a target
  const auto all = reached_from(graph, {node.from[1], 1});
  return std::any_of(all.begin(), all.end(), [&](const Signed& each) {
    const GraphNode& sum = graph.nodes[each.node];
    return is_sum(sum) && past_views(graph, sum.from.front()) == predicted;
  });
}

void look_for_minimised_overlap(const Case& seen, const Graph& graph, Findings& findings) {
  const auto reached = reached_from(graph, {0, 1});
  const bool is_minimised = std::any_of(reached.begin(), reached.end(), [&](const Signed& each) {
    return each.sign > 0 && is_overlap(graph, graph.nodes[each.node]);
  });
  if (!is_minimised) return;
  findings.push_back(
      {"loss_sign",
       0.92,
       "The loss is an overlap of predictions and targets without a minus: the training makes it smaller",
       {"what is minimised is 1 - overlap, or its negative logarithm", seen.course().front()},
       {},
       0,
       seen.place("backward")});
}

bool is_distance(std::string_view operation) {
  return is_one_of(operation, {"Cdist", "EuclideanDist", "LinalgVectorNorm", "Norm"});
}

// Of two batches of embeddings, each with each: neither side is a parameter.
bool is_similarity(const Graph& graph, const GraphNode& node) {
  if (!is_one_of(node.operation, {"Mm", "Bmm"}) || node.from.size() != 2) return false;
  return std::none_of(node.from.begin(), node.from.end(),
                      [&](std::size_t from) { return is_of_parameters(graph, past_views(graph, from)); });
}

bool is_negated(const Graph& graph, std::size_t at) {
  const auto reached = reached_from(graph, {at, 1});
  return std::any_of(reached.begin(), reached.end(), [](const Signed& each) { return each.sign < 0; });
}

// A softmax over distances takes the farthest for the most likely; over negated similarities, the least alike.
void look_for_reversed_scores(const Case& seen, const Graph& graph, Findings& findings) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& softmax = graph.nodes[i];
    if (softmax.operation != "LogSoftmax" || softmax.from.empty()) continue;
    for (const Signed& each : reached_from(graph, {softmax.from.front(), 1})) {
      const GraphNode& node = graph.nodes[each.node];
      const bool is_far = is_distance(node.operation) && each.sign > 0;
      const bool is_turned = is_similarity(graph, node) &&
                             (each.sign < 0) != (is_negated(graph, node.from[0]) != is_negated(graph, node.from[1]));
      if (!is_far && !is_turned) continue;
      findings.push_back(
          {"loss_sign",
           0.88,
           is_far ? "Distances are taken for scores without a minus: the farthest is the most likely"
                  : "Similarities are negated before a softmax: the least alike is the most likely",
           {fmt::format("{} goes into log_softmax with a {}", node.operation, is_far ? "plus" : "minus")},
           {},
           0,
           seen.place("loss").empty() ? seen.place("backward") : seen.place("loss")});
      return;
    }
  }
}

// What a discriminator says of a generator's samples is compared with the same number in both of their steps.
void look_for_helped_discriminator(const Case& seen, Findings& findings) {
  const double real = median_of(seen.history, "adversary", 0), fake = median_of(seen.history, "adversary", 1),
               made = median_of(seen.history, "adversary", 2);
  if (!std::isfinite(made) || made != fake || real == fake) return;
  findings.push_back(
      {"loss_sign",
       0.9,
       fmt::format("The generator learns to have its samples taken for false: its own step compares "
                   "them with {}, as the discriminator's does",
                   number(made)),
       {fmt::format("the discriminator compares real samples with {}, made ones with {}", number(real), number(fake))},
       {},
       0,
       seen.place("loss")});
}

// Which way a loss pulls the answers of a discriminator, over all looks: -1 up, 1 down, 0 where that varies.
int pull_of(const Case& seen, std::size_t place) {
  constexpr double kMost = 0.9;
  std::size_t up = 0, down = 0;
  for (const Snapshot& snapshot : seen.snapshots()) {
    const double pull = snapshot.at("adversary_pull", place);
    if (pull < 0) ++up;
    if (pull > 0) ++down;
  }
  const double most = kMost * static_cast<double>(up + down);
  if (up + down == 0) return 0;
  return static_cast<double>(up) >= most ? -1 : static_cast<double>(down) >= most ? 1 : 0;
}

// The discriminator parts real samples from made ones; its generator pulls the answers to made ones the way it does.
void look_for_generator_that_pulls_along(const Case& seen, Findings& findings) {
  const int real = pull_of(seen, 0), fake = pull_of(seen, 1), made = pull_of(seen, 2);
  if (real == 0 || fake != -real || made != fake || !seen.symptoms.is_adversarial) return;
  findings.push_back(
      {"loss_sign",
       0.9,
       "The generator learns to have its samples taken for false: its own loss pulls the answers to them "
       "the same way as the discriminator's does",
       {fmt::format("the discriminator's loss pulls answers to real samples {}, to made ones {}",
                    real < 0 ? "up" : "down", fake < 0 ? "up" : "down"),
        fmt::format("the generator's loss pulls answers to made ones {}", made < 0 ? "up" : "down")},
       {},
       0,
       seen.place("loss").empty() ? seen.place("backward") : seen.place("loss")});
}

// A critic and its generator pull what they share in opposite directions. Where it falls without end they pull in the
// same one.
void look_for_agreeing_players(const Case& seen, Findings& findings) {
  const Course& train = seen.symptoms.train;
  if (!seen.symptoms.is_adversarial || !seen.structure().compared.empty() || train.count < 20) return;
  if (!(train.late < -1e3 * std::max(1.0, std::abs(train.first))) || train.not_finite > 0) return;
  findings.push_back(
      {"loss_sign",
       0.8,
       "The losses of both players fall without end: they pull in the same direction",
       {fmt::format("what backward() is called on goes from {} to {}", number(train.first), number(train.late))},
       {"a critic that nothing bounds looks the same"},
       0,
       seen.place("backward")});
}

double elements_of(const GraphNode& node) {
  double count = 1;
  for (const std::int64_t size : node.sizes) count *= static_cast<double>(std::max<std::int64_t>(1, size));
  return count;
}

// Of a score for each sample and scores of several others that are drawn for it, the one is to be the larger.
bool ranks_many_above_one(const Graph& graph, const GraphNode& likelihood) {
  if (likelihood.operation != "LogSigmoid" || likelihood.from.empty()) return false;
  const GraphNode& difference = graph.nodes[past_views(graph, likelihood.from.front())];
  if (difference.operation != "Sub" || difference.from.size() != 2) return false;
  const GraphNode& larger = graph.nodes[past_views(graph, difference.from[0])];
  const GraphNode& smaller = graph.nodes[past_views(graph, difference.from[1])];
  const auto is_product = [](const GraphNode& node) {
    return node.sizes.size() >= 2 && (node.operation == "SumDim" || node.settings.count("dim/0") > 0);
  };
  return is_product(larger) && is_product(smaller) && larger.sizes.size() > smaller.sizes.size() &&
         elements_of(larger) >= 2 * elements_of(smaller);
}

void look_for_reversed_ranking(const Case& seen, const Graph& graph, Findings& findings) {
  const auto reached = reached_from(graph, {0, 1});
  const bool is_reversed = std::any_of(reached.begin(), reached.end(), [&](const Signed& each) {
    return each.sign < 0 && ranks_many_above_one(graph, graph.nodes[each.node]);
  });
  if (!is_reversed) return;
  findings.push_back({"loss_sign",
                      0.85,
                      "The ranking is the wrong way round: the many scores that each sample's own is compared with are "
                      "to become larger than that",
                      {"what is made likely is that each of several scores exceeds the one of the sample",
                       "it is log(sigmoid(own - other)) that is to grow"},
                      {},
                      0,
                      seen.place("backward")});
}

}  // namespace

void look_at_signs(const Case& seen, Findings& findings) {
  look_for_helped_discriminator(seen, findings);
  look_for_generator_that_pulls_along(seen, findings);
  look_for_agreeing_players(seen, findings);
  const Graph* const graph = seen.graph();
  if (graph == nullptr || graph->nodes.empty()) return;
  look_for_minimised_likelihood(seen, *graph, findings);
  look_for_reversed_policy(seen, *graph, findings);
  look_for_minimised_overlap(seen, *graph, findings);
  look_for_reversed_scores(seen, *graph, findings);
  look_for_reversed_ranking(seen, *graph, findings);
}

}  // namespace trainwarden::diagnosis
