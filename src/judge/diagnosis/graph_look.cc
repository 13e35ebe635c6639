// What the graph of the loss shows as a whole: parts that no gradient joins, a recurrence over many steps, a ratio that
// is minimised as it is.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "judge/diagnosis/finding.h"
#include "judge/diagnosis/graph_walk.h"
#include "judge/diagnosis/names.h"

namespace trainwarden::diagnosis {
namespace {

// Operators that a scalar loss is put together by.
bool combines(std::string_view operation) {
  return is_one_of(operation, {"Add", "Sub", "Mul", "Div", "Neg", "Rsub"});
}

// The nodes whose sum, with factors, the loss is.
std::vector<std::size_t> terms_of(const Graph& graph) {
  std::vector<std::size_t> terms, open = {0};
  std::set<std::size_t> seen;
  while (!open.empty() && terms.size() < 32) {
    const std::size_t at = open.back();
    open.pop_back();
    if (!seen.insert(at).second) continue;
    if (combines(graph.nodes[at].operation)) {
      for (const std::size_t from : graph.nodes[at].from) open.push_back(from);
    } else {
      terms.push_back(at);
    }
  }
  return terms;
}

std::set<std::size_t> parameters_below(const Graph& graph, std::size_t root) {
  std::set<std::size_t> parameters, seen = {root};
  std::vector<std::size_t> open = {root};
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    if (graph.nodes[at].number >= 0) parameters.insert(static_cast<std::size_t>(graph.nodes[at].number));
    for (const std::size_t from : graph.nodes[at].from) {
      if (seen.insert(from).second) open.push_back(from);
    }
  }
  return parameters;
}

// What is drawn by torch.normal() passes no gradient to the mean and the deviation that it was drawn with.
void look_for_drawn_values(const Case& seen, const Graph& graph, Findings& findings) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].operation != "Normal" || parameters_below(graph, i).empty()) continue;
    findings.push_back({"graph_cut",
                        0.92,
                        "A sample is drawn by torch.normal(), and no gradient of the loss gets past it",
                        {fmt::format("{} parameters lie before it", parameters_below(graph, i).size()),
                         "mean + std * torch.randn_like(std) is the same sample, with gradients"},
                        {},
                        0,
                        seen.place("backward")});
    return;
  }
}

struct Widths {
  std::set<std::int64_t> in, out;
};

Widths widths_of(const Case& seen, const std::set<std::size_t>& parameters) {
  Widths widths;
  for (const std::size_t each : parameters) {
    const auto& known = seen.structure().parameters;
    if (each >= known.size() || known[each].shape.size() != 2) continue;
    widths.out.insert(known[each].shape[0]);
    widths.in.insert(known[each].shape[1]);
  }
  return widths;
}

// A part of the loss that takes what another part gives, as a decoder takes a code, and shares no parameter with it:
// the gradient ends between them. Parts that read the same input side by side are fine.
void look_for_parts(const Case& seen, const Graph& graph, Findings& findings) {
  if (!graph.is_complete || seen.symptoms.is_adversarial) return;
  std::vector<std::set<std::size_t>> parts;
  for (const std::size_t term : terms_of(graph)) {
    auto below = parameters_below(graph, term);
    for (auto part = parts.begin(); part != parts.end();) {
      const bool shares =
          std::any_of(part->begin(), part->end(), [&](std::size_t each) { return below.count(each) > 0; });
      if (shares) below.insert(part->begin(), part->end());
      part = shares ? parts.erase(part) : part + 1;
    }
    if (!below.empty()) parts.push_back(std::move(below));
  }
  for (const auto& giving : parts) {
    const Widths given = widths_of(seen, giving);
    for (const auto& taking : parts) {
      if (&taking == &giving) continue;
      const Widths taken = widths_of(seen, taking);
      const auto joint = std::find_if(taken.in.begin(), taken.in.end(), [&](std::int64_t width) {
        return width > 1 && taken.out.count(width) == 0 && given.in.count(width) == 0 && given.out.count(width) > 0;
      });
      if (joint == taken.in.end()) continue;
      const auto& parameters = seen.structure().parameters;
      findings.push_back(
          {"graph_cut",
           0.8,
           fmt::format("No gradient goes from {} back to {}, whose output it takes", parameters[*taking.begin()].name,
                       parameters[*giving.begin()].name),
           {fmt::format("the loss is a sum of parts that share no parameter; one gives {} numbers, and the other takes "
                        "as many",
                        *joint),
            "sample() of a distribution, detach() or argmax end the gradient; rsample() does not"},
           {},
           0,
           seen.place("backward")});
      return;
    }
  }
}

struct Recurrence {
  std::size_t parameter = 0;
  std::size_t times = 0;
};

// The square weight that is applied again and again.
Recurrence recurrence_in(const Case& seen, const Graph& graph) {
  std::map<std::size_t, std::size_t> times;
  for (const GraphNode& node : graph.nodes) {
    if (!is_linear_map(node.operation)) continue;
    for (const std::size_t from : node.from) {
      const std::int64_t number = graph.nodes[past_views(graph, from)].number;
      if (number >= 0) ++times[static_cast<std::size_t>(number)];
    }
  }
  Recurrence found;
  for (const auto& [parameter, count] : times) {
    const auto& known = seen.structure().parameters;
    const bool is_square = parameter < known.size() && known[parameter].shape.size() == 2 &&
                           known[parameter].shape[0] == known[parameter].shape[1];
    if (is_square && count > found.times) found = {parameter, count};
  }
  return found;
}

// A random matrix of n rows with entries of this size has a spectral radius of about size * sqrt(n) (Girko's circular
// law), and what goes through it many times grows or fades by that factor each time (Pascanu et al. 2013).
void look_for_recurrence(const Case& seen, const Graph& graph, Findings& findings) {
  constexpr std::size_t kMany = 12;
  const Recurrence found = recurrence_in(seen, graph);
  if (found.times < kMany || seen.snapshots().empty()) return;
  const Parameter& weight = seen.structure().parameters[found.parameter];
  const double size = seen.snapshots().front().at("weight", found.parameter);
  const double radius = size * std::sqrt(static_cast<double>(weight.shape[0]));
  const double factor = std::pow(radius, static_cast<double>(found.times));
  const bool fades = factor < 1e-4 && !seen.symptoms.learns_well;
  const bool grows = factor > 1e6 && (seen.is_ill() || !seen.symptoms.learns_well);
  if (!fades && !grows) return;
  findings.push_back({fades ? "vanishing_gradients" : "exploding_gradients",
                      fades ? 0.75 : 0.9,
                      fmt::format("{} is applied {} times in a row, and gradients {} by about {} each time",
                                  weight.name, found.times, fades ? "fade" : "grow", number(radius)),
                      {fmt::format("its entries are about {}, in {} rows: a factor of {} over all steps", number(size),
                                   weight.shape[0], number(factor)),
                       fmt::format("the loss went from {} to {}", number(seen.symptoms.train.first),
                                   number(seen.symptoms.train.late))},
                      {},
                      0,
                      {}});
}

// Past operators that neither turn a sign nor divide.
std::size_t past_scaling(const Graph& graph, std::size_t at) {
  for (int i = 0; i < 12; ++i) {
    const GraphNode& node = graph.nodes[at];
    if (node.from.empty() ||
        !(hands_on(node.operation) || is_one_of(node.operation, {"Mean", "Sum", "MeanDim", "Add", "Mul"})))
      return at;
    at = node.from.front();
  }
  return at;
}

bool has_sum_near(const Graph& graph, std::size_t at) {
  std::vector<std::size_t> open = {at};
  for (int i = 0; i < 8 && !open.empty(); ++i) {
    const std::size_t here = open.back();
    open.pop_back();
    const std::string& operation = graph.nodes[here].operation;
    if (starts_with(operation, "Sum")) return true;
    if (!is_one_of(operation, {"Add", "Mul", "Sub"})) continue;
    open.insert(open.end(), graph.nodes[here].from.begin(), graph.nodes[here].from.end());
  }
  return false;
}

// Dice and Jaccard coefficients say how well two sets agree: 1 less them is a loss, not they themselves.
void look_for_minimised_ratio(const Case& seen, const Graph& graph, Findings& findings) {
  if (graph.nodes.empty() || seen.symptoms.is_adversarial) return;
  const GraphNode& node = graph.nodes[past_scaling(graph, 0)];
  if (node.operation != "Div" || node.from.size() != 2) return;
  if (!has_sum_near(graph, node.from[0]) || !has_sum_near(graph, node.from[1])) return;
  if (!(seen.symptoms.train.late < seen.symptoms.train.first)) return;
  findings.push_back(
      {"loss_sign",
       0.75,
       "The loss is a ratio of two sums, as a Dice coefficient or an IoU is, and is made smaller as it is",
       {fmt::format("it went from {} to {}", number(seen.symptoms.train.first), number(seen.symptoms.train.late)),
        "such a ratio is 1 where both agree: the loss is 1 less it"},
       {},
       0,
       seen.place("backward")});
}

// The Kullback-Leibler divergence takes log-probabilities: t (log t - x). With probabilities for x nothing holds it
// back but their sum, and it goes below zero. As KlDiv, or as PyTorch puts it together: Sub of a product with what is
// no log.
void look_for_divergence_of_probabilities(const Case& seen, const Graph& graph, Findings& findings) {
  const auto is_probability = [&](std::size_t at) {
    return is_one_of(graph.nodes[past_views(graph, at)].operation, {"Softmax", "Sigmoid"});
  };
  const bool is_there = std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const GraphNode& node) {
    if (node.from.empty()) return false;
    if (node.operation == "KlDiv") return is_probability(node.from.front());
    if (node.operation != "Sub" || node.from.size() != 1) return false;
    const GraphNode& product = graph.nodes[node.from.front()];
    const auto factor = product.settings.find("factor");
    return product.operation == "Mul" && product.from.size() == 1 && factor != product.settings.end() &&
           factor->second == 1 && is_probability(product.from.front());
  });
  if (!is_there) return;
  const bool is_below = seen.symptoms.train.best < 0;
  findings.push_back(
      {"wrong_loss_function",
       is_below ? 0.93 : 0.82,
       "kl_div gets probabilities where it takes log-probabilities",
       {fmt::format("the loss goes from {} to {}", number(seen.symptoms.train.first), number(seen.symptoms.train.late)),
        "use log_softmax for its first argument"},
       {},
       0,
       seen.place("backward")});
}

}  // namespace

void look_at_graph(const Case& seen, Findings& findings) {
  const Graph* const graph = seen.graph();
  if (graph == nullptr || graph->nodes.empty()) return;
  look_for_parts(seen, *graph, findings);
  look_for_drawn_values(seen, *graph, findings);
  look_for_recurrence(seen, *graph, findings);
  look_for_minimised_ratio(seen, *graph, findings);
  look_for_divergence_of_probabilities(seen, *graph, findings);
}

}  // namespace trainwarden::diagnosis
