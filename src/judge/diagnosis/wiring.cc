// Wiring: what is trained, by which gradients, and whether they arrive. Nearly all of it is exact.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "judge/diagnosis/finding.h"
#include "judge/diagnosis/gradient_facts.h"
#include "judge/diagnosis/names.h"

namespace trainwarden::diagnosis {
namespace {

// Full examinations that must agree before something is called never.
constexpr std::size_t kEnough = 3;

void look_for_unregistered(const Case& seen, Findings& findings) {
  const auto& lost = seen.structure().unregistered;
  if (lost.empty()) return;
  std::vector<std::string> evidence;
  for (const Unregistered& each : lost) {
    evidence.push_back(fmt::format("{} \"{}\" holds {} {} in a plain container",
                                   each.module.empty() ? "the model's" : each.module + "'s", each.attribute, each.count,
                                   each.kind));
  }
  const Module* owner = seen.structure().module(lost.front().module);
  findings.push_back({"layers_not_registered",
                      0.96,
                      fmt::format("{} {} in the attribute \"{}\" {} not registered, so no optimizer trains {}",
                                  lost.front().count, lost.front().kind, lost.front().attribute,
                                  lost.front().count == 1 ? "is" : "are", lost.front().count == 1 ? "it" : "them"),
                      std::move(evidence),
                      {},
                      0,
                      owner != nullptr ? short_place(owner->place) : seen.place("optimizer")});
}

void look_for_forgotten(const Case& seen, const std::vector<GradientFacts>& facts, Findings& findings) {
  const auto& parameters = seen.structure().parameters;
  std::vector<std::string> names;
  std::int64_t elements = 0, all = 0, stale = 0;
  std::size_t moved = 0,
              others = 0;  // of those that get gradients and are in no optimizer, those that change all the same
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].trainable || !parameters[i].optimizers.empty() || facts[i].nonzero == 0) continue;
    ++others;
    moved += median_of(seen.history, "changed_share", i) > 0 ? 1 : 0;
  }
  // One look may have found what another training had left, unless the optimizer has nothing of a model that is there.
  const auto strangers =
      static_cast<std::size_t>(std::count_if(parameters.begin(), parameters.end(), [](const auto& each) {
        return each.name.empty() && !each.optimizers.empty();
      }));
  const std::size_t enough = strangers > 0 || seen.snapshots().size() < 4 ? 1 : 2;
  // A forgotten one gets a new gradient in each step; others may be those of a model that was trained before.
  const auto gets = [&](std::size_t i) {
    // What was frozen before had none then.
    const bool is_thawed = seen.history.once_frozen.count(parameters[i].name) > 0;
    const bool was_stepped = seen.history.once_stepped.count(parameters[i].name) > 0;
    const std::size_t looks = was_stepped ? 2 : is_thawed ? 1 : enough;
    return facts[i].nonzero >= looks && (is_thawed || facts[i].nonzero * 3 >= facts[i].seen);
  };
  const bool are_copied = moved * 2 > others;  // from masters in another precision
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].trainable) all += parameters[i].elements();
    const bool is_there = !parameters[i].name.empty();                 // else its model is gone
    const bool is_stepped = median_of(seen.history, "update", i) > 0;  // by an optimizer that is gone, perhaps
    if (is_there && parameters[i].trainable && parameters[i].optimizers.empty() && gets(i) && !are_copied &&
        !is_stepped) {
      names.push_back(parameters[i].name);
      elements += parameters[i].elements();
    }
    if (parameters[i].name.empty() && facts[i].seen >= 1 && facts[i].present == 0) ++stale;
  }
  if (names.empty()) return;
  const bool is_old = seen.structure().foreign > 0 && (stale > 0 || strangers >= names.size());
  stale = std::max(stale, static_cast<std::int64_t>(strangers));
  std::vector<std::string> evidence = {
      fmt::format("{} parameters get gradients and are in no optimizer: {}", names.size(), listed(names)),
      fmt::format("they are {:.0f} % of what could be trained",
                  100.0 * static_cast<double>(elements) / static_cast<double>(std::max<std::int64_t>(all, 1)))};
  if (is_old)
    evidence.push_back(fmt::format("{} tensors of the optimizer belong to no model, and get no gradient", stale));
  findings.push_back({is_old ? "optimizer_of_old_parameters" : "parameters_not_in_optimizer",
                      is_old                      ? 0.95
                      : seen.symptoms.skill > 0.9 ? 0.45  // the head alone is fine-tuned, perhaps
                                                  : 0.9,
                      is_old ? fmt::format("The optimizer holds {} tensors that no model uses any more, in place of {}",
                                           stale, listed(names))
                             : fmt::format("{} get gradients, but no optimizer has them", listed(names)),
                      std::move(evidence),
                      {},
                      0,
                      seen.place("optimizer").empty() ? seen.place("step") : seen.place("optimizer")});
}

// Has it had gradients at each look, and never changed by a bit?
bool stands_still(const Case& seen, std::size_t number) {
  constexpr std::size_t kStillLooks = 6;
  std::size_t looks = 0;
  double weight = std::nan("");
  for (const Snapshot& snapshot : seen.snapshots()) {
    const double now = snapshot.at("weight", number);
    if (!std::isfinite(now)) continue;
    if (!(snapshot.at("gradient", number) > 0) || (looks > 0 && now != weight)) return false;
    weight = now;
    ++looks;
  }
  return looks >= kStillLooks && weight > 0;
}

// Tensors of a program that steps them itself: some get gradients and are left as they are, while others move.
void look_for_still_tensors(const Case& seen, Findings& findings) {
  const auto& optimizers = seen.structure().optimizers;
  if (!std::all_of(optimizers.begin(), optimizers.end(), [](const auto& each) { return each.kind.empty(); })) return;
  const auto& parameters = seen.structure().parameters;
  std::vector<std::string> still;
  std::size_t moving = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!contains(parameters[i].dtype, "float32") && !contains(parameters[i].dtype, "float64")) continue;
    if (stands_still(seen, i))
      still.push_back(parameters[i].name.empty() ? shape(parameters[i].shape) : parameters[i].name);
    else if (median_of(seen.history, "update", i) > 0)
      ++moving;
  }
  if (still.empty() || moving == 0) return;
  findings.push_back({"parameters_not_in_optimizer",
                      0.96,
                      fmt::format("The tensors {} get gradients at each step, and no step changes them", listed(still)),
                      {fmt::format("{} other tensors are changed by the program's own steps", moving),
                       "what is computed of a tensor with requires_grad, as its transpose, is no leaf: its .grad stays "
                       "None"},
                      {},
                      0,
                      seen.place("step")});
}

bool has_momentum(const Case& seen) {
  return std::any_of(seen.structure().optimizers.begin(), seen.structure().optimizers.end(), [](const Optimizer& each) {
    return each.kind != "SGD" || std::any_of(each.groups.begin(), each.groups.end(), [](const OptimizerGroup& group) {
             const auto momentum = group.settings.find("momentum");
             return momentum != group.settings.end() && momentum->second > 0;
           });
  });
}

// Two optimizers, each of which clears its gradients, and one backward pass for both.
void look_for_idle_optimizer(const Case& seen, const std::vector<GradientFacts>& facts, Findings& findings) {
  const auto& parameters = seen.structure().parameters;
  if (seen.structure().optimizers.size() != 2 || median_of(seen.history, "calls", 0) != 1 ||
      median_of(seen.history, "calls", 1) != 2)
    return;
  std::array<std::size_t, 2> looked{}, moved{};
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].optimizers.size() != 1 || facts[i].seen < kEnough) continue;
    const auto owner = static_cast<std::size_t>(parameters[i].optimizers.front());
    if (owner >= 2) continue;
    ++looked[owner];
    moved[owner] += facts[i].nonzero > 0 ? 1 : 0;
  }
  // Else it is cut off: what it is to train is in no loss.
  std::array<bool, 2> is_used{};
  for (const GraphNode& node : seen.graph() == nullptr ? std::vector<GraphNode>{} : seen.graph()->nodes) {
    const auto number = static_cast<std::size_t>(node.number);
    if (node.number < 0 || number >= parameters.size() || parameters[number].optimizers.size() != 1) continue;
    const auto owner = static_cast<std::size_t>(parameters[number].optimizers.front());
    if (owner < 2) is_used[owner] = true;
  }
  for (std::size_t owner = 0; owner < 2; ++owner) {
    if (!is_used[owner] || looked[owner] == 0 || moved[owner] > 0 || moved[1 - owner] == 0) continue;
    findings.push_back({"backward_missing",
                        0.85,
                        fmt::format("One of the two optimizers ({}) steps without a backward pass for it",
                                    seen.structure().optimizers[owner].kind),
                        {"each step has one backward pass and two calls of zero_grad()",
                         fmt::format("none of its {} parameters ever had a gradient when it stepped", looked[owner])},
                        {},
                        0,
                        seen.place("step")});
    return;
  }
}

void look_for_missing_calls(const Case& seen, Findings& findings) {
  const Counts& counts = seen.history.counts;
  if (counts.backward >= 3 && counts.step == 0) {
    const bool has_optimizer = !seen.structure().optimizers.empty();  // else the program may change the weights itself
    findings.push_back({"optimizer_step_missing",
                        has_optimizer ? 0.96 : 0.4,
                        "Losses are computed and backward() is called, but no optimizer ever steps",
                        {fmt::format("{} backward passes were seen, and no step of an optimizer", counts.backward)},
                        {},
                        0,
                        seen.place("backward")});
  } else if (counts.step >= 5 && counts.step * 16 <= counts.backward && counts.backward >= 64 &&
             seen.symptoms.learns_nothing) {
    findings.push_back({"optimizer_step_missing",
                        0.5,
                        "The optimizer steps far more rarely than backward() is called",
                        {fmt::format("{} backward passes, {} steps", counts.backward, counts.step)},
                        {},
                        0,
                        seen.place("step")});
  }
  const std::vector<GradientFacts> facts = gradients_of(seen);
  const bool has_gradients =
      std::any_of(facts.begin(), facts.end(), [](const GradientFacts& each) { return each.nonzero > 0; });
  if (counts.step >= 3 && counts.backward == 0 && counts.forward > 0 && !has_gradients) {
    findings.push_back({"backward_missing",
                        0.93,
                        "The optimizer steps, but no backward pass is made",
                        {fmt::format("{} steps were seen, and no backward pass", counts.step)},
                        {},
                        0,
                        seen.place("step")});
  }
  look_for_idle_optimizer(seen, facts, findings);
  if (counts.optimizers_made >= 3) {
    // Else for each epoch, or episode. SGD without momentum has nothing to forget.
    const bool is_gone = seen.structure().optimizers.empty();  // by the time of a look, and nothing is known of it
    const bool has_state = is_gone || has_momentum(seen),
               is_each_step = counts.optimizers_made > 0.5 * counts.step && has_state;
    findings.push_back(
        {"optimizer_recreated",
         is_each_step                              ? 0.92
         : seen.symptoms.skill > 0.9 || !has_state ? 0.4
                                                   : 0.6,
         fmt::format("The optimizer was made anew {} times while the training went on", counts.optimizers_made),
         {fmt::format("{} optimizers were made after the first step, in {} steps", counts.optimizers_made,
                      seen.symptoms.steps)},
         {},
         0,
         seen.place("optimizer")});
  }
}

// Several backward passes belong to a step, and before each the gradients of those before are cleared.
void look_for_cleared_passes(const Case& seen, Findings& findings) {
  const double passes = median_of(seen.history, "calls", 0), cleared = median_of(seen.history, "calls", 1);
  if (!(passes >= 2) || !(cleared >= passes) || seen.symptoms.is_adversarial) return;
  findings.push_back(
      {"gradients_cleared_too_early",
       passes >= 3 ? 0.7 : 0.5,  // attacks on the inputs make such passes on purpose
       fmt::format("Each step makes {} backward passes, and the gradients are cleared before each of them", passes),
       {fmt::format("zero_grad() is called {} times in a step: only the last pass counts", cleared)},
       {},
       0,
       seen.place("zero_grad")});
}

// Parameters that get gradients when the first optimizer steps, have an optimizer of their own, and never change: by
// the time that one steps their gradients are gone, or it never does.
void look_for_unmoved(const Case& seen, Findings& findings) {
  constexpr std::size_t kMinLooks = 8, kMinLooksOfIdle = 3;
  constexpr std::int64_t kMinSteps = 50;
  const auto& optimizers = seen.structure().optimizers;
  if (optimizers.size() < 2) return;
  const auto& parameters = seen.structure().parameters;
  std::map<std::int64_t, std::pair<std::size_t, std::size_t>> of;  // by optimizer: parameters, those that never change
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!is_trained(parameters[i]) || parameters[i].optimizers.size() != 1) continue;
    std::size_t looks = 0, pulled = 0, moved = 0;
    for (const Snapshot& snapshot : seen.snapshots()) {
      const Values* share = snapshot.find("update_share");
      const Values* gradient = snapshot.find("gradient");
      if (share == nullptr || gradient == nullptr || share->size() != parameters.size() ||
          gradient->size() != parameters.size())
        continue;
      ++looks;
      pulled += (*gradient)[i] > 0 ? 1 : 0;
      moved += (*share)[i] > 0 ? 1 : 0;
    }
    const auto owner = static_cast<std::size_t>(parameters[i].optimizers.front());
    const bool is_idle =
        owner < optimizers.size() && !optimizers[owner].has_stepped && seen.symptoms.steps >= kMinSteps;
    if (looks < (is_idle ? kMinLooksOfIdle : kMinLooks) || pulled * 2 < looks) continue;
    auto& [count, unmoved] = of[parameters[i].optimizers.front()];
    ++count;
    unmoved += moved == 0 ? 1 : 0;
  }
  for (const auto& [optimizer, counts] : of) {
    const auto number = static_cast<std::size_t>(optimizer);
    if (counts.second < 2 || counts.second < counts.first || number >= optimizers.size()) continue;
    const auto& [kind, groups, has_stepped] = optimizers[number];
    const bool is_cleared = has_stepped && median_of(seen.history, "calls", 1) >= 2;
    findings.push_back(
        {is_cleared ? "gradients_cleared_too_early" : "optimizer_step_missing",
         0.85,
         fmt::format("The {} parameters of one of the optimizers ({}) get gradients and never change", counts.first,
                     kind),
         {is_cleared    ? "zero_grad() is called several times in a step: their gradients may be gone when it steps"
          : has_stepped ? "it finds no gradients when it steps, or steps no more"
                        : "it has never stepped, while others have"},
         {},
         0,
         is_cleared ? seen.place("zero_grad") : seen.place("step")});
    return;
  }
}

// Tensors that the loss of each step is computed from, that want gradients, and that no optimizer and no model has.
void look_for_stray_leaves(const Case& seen, Findings& findings) {
  if (seen.history.graphs.size() < 2 || seen.structure().optimizers.empty()) return;
  std::size_t strays = 0;
  for (const GraphNode& node : seen.history.graphs.back().nodes) {
    const auto again = node.settings.find("again");
    strays += node.operation == "leaf" && again != node.settings.end() && again->second > 0 ? 1 : 0;
  }
  if (strays == 0) return;
  findings.push_back(
      {"parameters_not_in_optimizer",
       seen.structure().modules.empty() ? 0.85 : 0.6,  // else perhaps inputs, of which derivatives are wanted

       fmt::format("{} tensors that want gradients are in no optimizer, although each step computes with them", strays),
       {"they lie in no module: the program keeps them itself"},
       {},
       0,
       seen.place("optimizer").empty() ? seen.place("step") : seen.place("optimizer")});
}

// One that finds used gradients is enough: of several optimizers each has numbers of its own ("stale_gradients#1").
bool find_stale_gradients(const Case& seen, std::string_view name, Findings& findings) {
  const auto found = seen.history.signals.find(name);
  if (found == seen.history.signals.end() || found->second.size() < kEnough) return false;
  std::map<std::int64_t, double> stale;
  for (std::size_t i = 0; i < found->second.size(); ++i)
    stale[found->second.steps[i]] = std::max(stale[found->second.steps[i]], found->second.values[i]);
  const auto count = static_cast<std::size_t>(
      std::count_if(stale.begin(), stale.end(), [](const auto& each) { return each.second > 0; }));
  // Optimizers that step by turns have the same name for it.
  const double turns = static_cast<double>(std::max<std::size_t>(seen.structure().optimizers.size(), 1));
  if (static_cast<double>(count) < 0.8 / turns * static_cast<double>(stale.size())) return false;
  findings.push_back({"gradients_not_cleared",
                      0.95,
                      "Each step adds its gradients to those of all steps before, as they are never cleared",
                      {fmt::format("at {} of {} looked-at steps the optimizer found gradients again that it had used",
                                   count, stale.size()),
                       fmt::format("zero_grad() was seen {} times", seen.history.counts.zero)},
                      {},
                      found->second.steps.front(),
                      seen.place("backward")});
  return true;
}

void look_for_stale_gradients(const Case& seen, Findings& findings) {
  for (const char* name : {"stale_gradients", "stale_gradients#1", "stale_gradients#2", "stale_gradients#3"}) {
    if (find_stale_gradients(seen, name, findings)) return;
  }
}

// Frozen for a while, as a discriminator is for the step of its generator, and never let go again.
void look_for_frozen_since(const Case& seen, Findings& findings) {
  constexpr std::size_t kQuiet = 8;
  const auto& parameters = seen.structure().parameters;
  std::vector<std::string> names;
  std::size_t others = 0;
  std::int64_t since = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].optimizers.empty()) continue;
    std::size_t had = 0, quiet = 0;
    std::int64_t last = 0;
    double before = kUnknown;
    for (const Snapshot& snapshot : seen.snapshots()) {
      const Values* gradient = snapshot.find("gradient");
      if (gradient == nullptr || gradient->size() != parameters.size()) continue;
      const bool is_new = (*gradient)[i] > 0 && (*gradient)[i] != before;
      before = (*gradient)[i];
      had += is_new ? 1 : 0;
      quiet = is_new ? 0 : quiet + 1;
      if (is_new) last = snapshot.step;
    }
    others += quiet == 0 ? 1 : 0;
    if (parameters[i].trainable || had == 0 || quiet < kQuiet) continue;
    names.push_back(parameters[i].name);
    since = std::max(since, last);
  }
  if (names.empty() || others == 0) return;
  findings.push_back(
      {"frozen_parameters",
       0.85,
       fmt::format("{} have been frozen since step {}, and an optimizer is to train them", listed(names), since),
       {fmt::format("they had gradients until then, and requires_grad is False at the end; {} others still "
                    "get gradients",
                    others)},
       {},
       since,
       seen.place("optimizer")});
}

// `module.requires_grad = True` makes an attribute of that name, and its parameters stay frozen.
void look_for_unheard_wishes(const Case& seen, Findings& findings) {
  std::vector<std::string> modules;
  std::size_t frozen = 0;
  for (const Module& module : seen.structure().modules) {
    const auto wish = module.settings.find("asks_for_gradients");
    if (wish == module.settings.end() || wish->second != 1) continue;
    const std::string begin = module.name.empty() ? "" : module.name + ".";
    std::size_t here = 0;
    for (const Parameter& parameter : seen.structure().parameters)
      here += !parameter.name.empty() && !parameter.trainable && parameter.name.rfind(begin, 0) == 0 ? 1 : 0;
    if (here == 0) continue;
    modules.push_back(module.name.empty() ? module.kind : module.name);
    frozen += here;
  }
  if (modules.empty()) return;
  findings.push_back(
      {"frozen_parameters",
       0.93,
       fmt::format("{} were to be trained again, and their parameters are still frozen", listed(modules)),
       {fmt::format("requires_grad was set on modules, which makes an attribute of that name; {} "
                    "parameters in them have requires_grad=False",
                    frozen),
        "call module.requires_grad_(True)"},
       {},
       0,
       seen.place("optimizer")});
}

void look_for_frozen(const Case& seen, Findings& findings) {
  if (seen.symptoms.is_adversarial) return;  // who is not to be trained by a step is frozen for it
  std::int64_t frozen = 0, all = 0;
  std::vector<std::string> names;
  for (const Parameter& parameter : seen.structure().parameters) {
    if (parameter.name.empty()) continue;
    all += parameter.elements();
    if (parameter.trainable) continue;
    frozen += parameter.elements();
    names.push_back(parameter.name);
  }
  const bool are_embeddings = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const Module* owner = seen.structure().module(name_of_owner(name));
    return owner != nullptr && starts_with_embedding(owner->kind);
  });
  if (names.empty() || (frozen * 10 < all * 3 && !are_embeddings)) return;
  const bool is_bad = seen.symptoms.learns_nothing || (std::isfinite(seen.symptoms.skill) && seen.symptoms.skill < 0.5);
  findings.push_back(
      {"frozen_parameters",
       is_bad ? 0.6 : 0.3,
       fmt::format("{:.0f} % of the model is frozen: {}",
                   100.0 * static_cast<double>(frozen) / static_cast<double>(all), listed(names)),
       {fmt::format("{} parameters have requires_grad=False", names.size())},
       is_bad ? std::vector<std::string>() : std::vector<std::string>{"the rest learns well, as in fine-tuning"},
       0,
       seen.place("optimizer")});
}

}  // namespace

void look_at_wiring(const Case& seen, Findings& findings) {
  look_for_missing_calls(seen, findings);
  if (!seen.structure().is_known) return;
  look_for_unregistered(seen, findings);
  const std::vector<GradientFacts> facts = gradients_of(seen);
  look_for_forgotten(seen, facts, findings);
  look_for_still_tensors(seen, findings);
  look_for_stale_gradients(seen, findings);
  look_for_frozen(seen, findings);
  look_for_unheard_wishes(seen, findings);
  look_for_frozen_since(seen, findings);
  look_for_cleared_passes(seen, findings);
  look_for_stray_leaves(seen, findings);
  look_for_unmoved(seen, findings);
}

}  // namespace trainwarden::diagnosis
