// Cuts: parts of a model that no gradient reaches, from the start or from some step on.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "judge/diagnosis/finding.h"
#include "judge/diagnosis/gradient_facts.h"
#include "judge/diagnosis/layer_rows.h"
#include "judge/diagnosis/names.h"

namespace trainwarden::diagnosis {
namespace {

// Full examinations that must agree before no gradient is called none.
constexpr std::size_t kMinCutLooks = 3;

bool are_all_zero(const Case& seen) {
  const auto& parameters = seen.structure().parameters;
  bool any = false;
  for (const Snapshot& snapshot : seen.snapshots()) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (!is_trained(parameters[i])) continue;
      const double weight = snapshot.at("weight", i);
      if (weight > 0) return false;
      any = any || weight == 0;
    }
  }
  return any;
}

// Does a layer give nothing but zeros, so that nothing comes back through it?
bool is_silent_somewhere(const Case& seen) {
  const std::vector<LayerRow> rows = last_layers(seen);
  return std::any_of(rows.begin(), rows.end(), [](const LayerRow& each) { return each.zeros == 1; });
}

// "blocks.3.res.weight" → "blocks.#.res.weight" and 3; -1 where no part of the name is a number.
std::pair<std::string, int> without_number(const std::string& name) {
  const std::size_t at = name.find_first_of("0123456789");
  const bool is_part = at != std::string::npos && (at == 0 || name[at - 1] == '.');
  if (!is_part) return {name, -1};
  const std::size_t end = name.find('.', at);
  const std::string number = name.substr(at, end - at);
  constexpr std::size_t kMaxDigits = 4;
  if (number.size() > kMaxDigits || number.find_first_not_of("0123456789") != std::string::npos) return {name, -1};
  return {name.substr(0, at) + "#" + (end == std::string::npos ? "" : name.substr(end)), std::stoi(number)};
}

// Of blocks that are alike, what the last one gives to a next one that there is not: its fellows have gradients.
bool are_of_the_last_block(const Case& seen, const std::vector<GradientFacts>& facts,
                           const std::vector<std::string>& cut) {
  const auto& parameters = seen.structure().parameters;
  return std::all_of(cut.begin(), cut.end(), [&](const std::string& name) {
    const auto [pattern, number] = without_number(name);
    bool has_fellow = false, is_last = number >= 0;
    for (std::size_t i = 0; i < parameters.size() && is_last; ++i) {
      const auto [other, place] = without_number(parameters[i].name);
      if (other != pattern || place == number) continue;
      has_fellow = has_fellow || facts[i].nonzero > 0;
      is_last = place < number;
    }
    return is_last && has_fellow;
  });
}

void look_for_cuts(const Case& seen, const std::vector<GradientFacts>& facts, Findings& findings) {
  const auto& parameters = seen.structure().parameters;
  const std::set<std::string> called(seen.structure().layers.begin(), seen.structure().layers.end());
  std::vector<std::string> cut, silent;
  const bool had_before = std::any_of(seen.snapshots().begin(), seen.snapshots().end(), [&](const Snapshot& each) {
    const Values* gradient = each.find("gradient");
    return gradient != nullptr && gradient->size() != parameters.size() &&
           std::any_of(gradient->begin(), gradient->end(), [](double size) { return size > 0; });
  });
  std::size_t trained = 0, steady = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!is_trained(parameters[i]) || facts[i].seen < kMinCutLooks) continue;
    ++trained;
    if (facts[i].nonzero > 0) ++steady;
    if (facts[i].present == 0 && called.count(name_of_owner(parameters[i].name)) > 0) cut.push_back(parameters[i].name);
    if (facts[i].present > 0 && facts[i].nonzero == 0) silent.push_back(parameters[i].name);
  }
  const bool backward_seen = seen.history.counts.backward > 0;
  if (!cut.empty() && steady > 0) {
    // A loss of differences, or of gradients, has none for a last bias.
    const bool is_one_bias = cut.size() == 1 && cut[0].size() > 4 && cut[0].compare(cut[0].size() - 4, 4, "bias") == 0;
    constexpr std::size_t kMaxSpare = 16;
    const bool is_spare =
        cut.size() <= kMaxSpare && cut.size() * 8 < trained && are_of_the_last_block(seen, facts, cut);
    findings.push_back({"graph_cut",
                        is_one_bias || is_spare ? 0.35 : 0.91,  // some stages of a training leave parts out on purpose
                        fmt::format("No gradient reaches {}, although {} called in every forward pass", listed(cut),
                                    cut.size() == 1 ? "it is" : "they are"),
                        {fmt::format("{} of {} trained parameters never had a gradient in {} examined steps",
                                     cut.size(), trained, facts[0].seen),
                         fmt::format("{} other parameters get gradients in the same steps", steady)},
                        {},
                        0,
                        seen.place("backward")});
  } else if (trained > 0 && steady == 0 && are_all_zero(seen)) {
    findings.push_back({"constant_initialisation",
                        0.93,
                        "All weights are zero, and so are their gradients: nothing can ever move",
                        {fmt::format("{} trained parameters are zero at all examined steps", trained)},
                        {},
                        0,
                        seen.place("optimizer")});
  } else if (trained > 0 && steady == 0 && backward_seen && seen.symptoms.train.peak != 0 && !had_before) {
    const bool none = cut.size() + silent.size() >= trained && silent.empty();
    const bool zeroed = seen.history.counts.zero > 0;
    const bool in_graph =
        seen.graph() != nullptr &&
        std::any_of(seen.graph()->nodes.begin(), seen.graph()->nodes.end(), [&](const GraphNode& node) {
          const auto number = static_cast<std::size_t>(node.number);
          return node.number >= 0 && number < parameters.size() && is_trained(parameters[number]);
        });
    findings.push_back({zeroed && in_graph ? "gradients_cleared_too_early" : "graph_cut",
                        in_graph && zeroed ? (is_silent_somewhere(seen) ? 0.5 : 0.93) : 0.8,
                        zeroed && in_graph
                            ? "Whenever the optimizer steps, all gradients are gone: they are cleared after backward()"
                            : "No parameter that the optimizer has ever gets a gradient",
                        {fmt::format("{} of {} trained parameters had {} gradient at each of {} examined steps",
                                     trained, trained, none ? "no" : "a zero", facts.empty() ? 0 : facts[0].seen),
                         fmt::format("backward() was seen {} times, zero_grad() {} times", seen.history.counts.backward,
                                     seen.history.counts.zero)},
                        {},
                        0,
                        zeroed && in_graph ? seen.place("zero_grad") : seen.place("backward")});
  }
  if (!silent.empty() && steady > 0 && silent.size() * 4 >= trained && seen.symptoms.learns_nothing) {
    findings.push_back(
        {"graph_cut",
         0.4,
         fmt::format("The gradients of {} are exactly zero at all examined steps", listed(silent)),
         {fmt::format("{} of {} trained parameters have gradients of exactly zero", silent.size(), trained)},
         {},
         0,
         seen.place("backward")});
  }
}

// Gradients came, and from some step on none comes any more: the program trains another model by then, or a part of the
// old one was cut off.
void look_for_late_cut(const Case& seen, Findings& findings) {
  constexpr std::size_t kQuiet = 4, kQuietBesideOthers = 2;
  const auto& snapshots = seen.snapshots();
  const auto& parameters = seen.structure().parameters;
  std::size_t had = 0, quiet = 0, forgotten = 0;
  std::int64_t step = 0;
  for (const Snapshot& snapshot : snapshots) {
    const Values* gradient = snapshot.find("gradient");
    if (gradient == nullptr) continue;
    // Those of models that came later stand behind.
    std::size_t there = 0, others = 0;
    for (std::size_t i = 0; i < std::min(gradient->size(), parameters.size()); ++i) {
      const bool is_nonzero = (*gradient)[i] > 0 || std::isnan((*gradient)[i]);
      if (!parameters[i].optimizers.empty())
        there += is_nonzero ? 1 : 0;
      else
        others += is_nonzero ? 1 : 0;
    }
    if (there > 0) {
      ++had;
      quiet = forgotten = 0;
    } else {
      if (quiet++ == 0) step = snapshot.step;
      forgotten = std::max(forgotten, others);
    }
  }
  if (had < 2 || quiet < (forgotten > 0 ? kQuietBesideOthers : kQuiet) || seen.symptoms.is_adversarial ||
      !(std::abs(seen.symptoms.train.late) > 1e-9))
    return;
  findings.push_back(
      {forgotten > 0 ? "optimizer_of_old_parameters" : "graph_cut",
       forgotten > 0 ? 0.93 : 0.8,
       forgotten > 0 ? fmt::format("Since step {} another model is trained than the one that the optimizer has", step)
                     : fmt::format("Since step {} no gradient reaches what the optimizer has", step),
       {fmt::format("in {} examined steps before that gradients came, in the {} since none", had, quiet),
        fmt::format("{} parameters that are in no optimizer get gradients now", forgotten)},
       {},
       step,
       seen.place("step")});
}

// A recurrent layer that is called several times in a step, and gets its state cut from what made it.
void look_for_cut_states(const Case& seen, Findings& findings) {
  constexpr std::size_t kEnoughLooks = 2;
  std::size_t cut = 0, looks = 0;
  for (const Snapshot& snapshot : seen.snapshots()) {
    if (!std::isfinite(snapshot.at("handed_states", 0))) continue;
    ++looks;
    cut += snapshot.at("handed_states", 1) >= 1 ? 1 : 0;
  }
  if (looks < std::min(kEnoughLooks, seen.snapshots().size()) || cut < looks || cut == 0) return;
  const double handed = median_of(seen.history, "handed_states", 0),
               without = median_of(seen.history, "handed_states", 1);
  const bool is_bad = !seen.symptoms.learns_well || seen.symptoms.skill < 0.5;
  findings.push_back(
      {"graph_cut",
       is_bad ? 0.85 : 0.4,  // or each part has a loss of its own
       "The state that a recurrent layer hands on within a step is detached: no gradient reaches what came before",
       {fmt::format("{:.0f} of {:.0f} calls of a step got the state of the call before without its graph", without,
                    handed)},
       {},
       0,
       {}});
}

}  // namespace

void look_at_cuts(const Case& seen, Findings& findings) {
  if (!seen.structure().is_known) return;
  look_for_cuts(seen, gradients_of(seen), findings);
  look_for_late_cut(seen, findings);
  look_for_cut_states(seen, findings);
}

}  // namespace trainwarden::diagnosis
