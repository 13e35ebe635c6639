// State: weights that something else than the optimizer changes.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "judge/diagnosis/finding.h"
#include "judge/diagnosis/names.h"

namespace trainwarden::diagnosis {
namespace {

void look_for_foreign_changes(const Case& seen, Findings& findings) {
  const auto& parameters = seen.structure().parameters;
  std::vector<std::string> names;
  std::size_t steps = 0, looked = 0;
  std::int64_t first = -1;
  double largest = 0;
  bool is_limit = true;
  for (const Snapshot& snapshot : seen.snapshots()) {
    const Values* share = snapshot.find("changed_share");
    const Values* outside = snapshot.find("changed_outside");
    if (share == nullptr || outside == nullptr || share->size() != parameters.size()) continue;
    ++looked;
    bool here = false;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i].optimizers.empty() || !((*share)[i] > 0)) continue;
      here = true;
      const double weight = snapshot.at("weight", i);
      largest = std::max(largest, (*outside)[i] / std::max(weight, 1e-12));
      if (std::find(names.begin(), names.end(), parameters[i].name) == names.end()) names.push_back(parameters[i].name);
    }
    if (!here) continue;
    ++steps;
    if (first < 0) first = snapshot.step;
    const double high = snapshot.at("changed_edge", 0), low = snapshot.at("changed_edge", 1);
    is_limit = is_limit && std::abs(high - low) <= 1e-6 * std::max(high, 1e-12);
  }
  // A critic of Wasserstein's keeps its weights within a limit on purpose.
  const auto& compared = seen.structure().compared;
  const std::string function = compared.empty() ? std::string() : lower_case(compared.front().function);
  const bool has_critic = seen.symptoms.is_adversarial && !contains(function, "cross") && !contains(function, "bce");
  if (steps == 0 || largest < 1e-5 || (is_limit && has_critic)) return;
  const bool is_slight = largest < 3e-4 && steps == looked;  // as by a decay of the program's own
  // Moved for the second of two passes, and moved back for the step: a search for flat minima.
  const bool is_moved_back = !is_limit && steps == looked && median_of(seen.history, "calls", 0) >= 2;
  findings.push_back(
      {"weights_changed_outside_step",
       is_slight || is_moved_back ? 0.4
       : is_limit                 ? 0.8
                                  : 0.85,
       fmt::format("Between two steps of the optimizer something else changes {}", listed(names)),
       {fmt::format("at {} of {} looked-at steps, by up to {:.3g} % of their size", steps, looked, 100 * largest)},
       {},
       first,
       {}});
}

// In each evaluation, as by an average of weights that is put in for it and not taken out, or a state that is loaded.
void look_for_changes_in_evaluations(const Case& seen, Findings& findings) {
  constexpr double kEnough = 2;
  const double changed = seen.history.evaluated_changed, compared = seen.history.evaluated_seen;
  const double elsewhere = seen.history.outside_changed - changed;
  if (changed < kEnough || changed < compared || elsewhere > 0 || seen.symptoms.is_adversarial) return;
  findings.push_back(
      {"weights_changed_outside_step",
       0.82,
       "The weights after an evaluation are not those of before: something else than the optimizer has "
       "changed them",
       {fmt::format("in {} of {} evaluations before and after which the weights were compared", changed, compared),
        "averages of weights that are put in for an evaluation have to be taken out again"},
       {},
       0,
       {}});
}

// Now and then, as by an average of weights that is put in and not taken out.
void look_for_rare_changes(const Case& seen, Findings& findings) {
  const double changed = seen.history.outside_changed, compared = seen.history.outside_seen;
  if (changed < 3 || changed > 0.5 * compared || seen.symptoms.is_adversarial) return;
  if (seen.symptoms.train.not_finite > 0) return;  // NaN is never what it was
  // Workers that average their weights now and then.
  const bool are_averaged = std::any_of(seen.history.rules.begin(), seen.history.rules.end(),
                                        [](const RuleFinding& each) { return each.rule == "ReplicaDivergence"; });
  findings.push_back({"weights_changed_outside_step",
                      are_averaged || median_of(seen.history, "calls", 0) >= 2 ? 0.4 : 0.7,
                      "Now and then something else than the optimizer changes the weights between two steps",
                      {fmt::format("before {} of {} steps that were compared", changed, compared)},
                      {},
                      0,
                      {}});
}

// state_dict() hands out the parameters themselves: what was the best once goes on to be trained.
void look_for_state_that_is_the_model(const Case& seen, Findings& findings) {
  for (const LoadedState& state : seen.structure().loaded) {
    if (state.itself == 0 || state.itself * 2 < state.wanted - state.missing) continue;
    findings.push_back({"bad_checkpoint",
                        0.88,
                        fmt::format("A state was loaded into {} that is its own weights of that moment, not those that "
                                    "were kept: state_dict() makes no copy",
                                    state.kind),
                        {fmt::format("{} of its parameters lie where those of the state lie", state.itself),
                         "copy.deepcopy(model.state_dict()) keeps what they are"},
                        {},
                        0,
                        {}});
    return;
  }
}

void look_for_unmatched_state(const Case& seen, Findings& findings) {
  for (const LoadedState& state : seen.structure().loaded) {
    const bool is_lost = state.wanted >= 2 && state.unexpected > 0 && state.missing * 10 >= state.wanted * 8;
    if (!is_lost) continue;
    findings.push_back({"bad_checkpoint",
                        0.93,
                        fmt::format("A state was loaded into {}, and nearly none of its names fitted", state.kind),
                        {fmt::format("{} of {} parameters and buffers were not in it, {} of its names are unknown to "
                                     "the model (strict=False says nothing)",
                                     state.missing, state.wanted, state.unexpected)},
                        {},
                        0,
                        {}});
    return;
  }
}

// A state of parameters alone: what batch norm has averaged over is not among them.
void look_for_lost_statistics(const Case& seen, Findings& findings) {
  for (const LoadedState& state : seen.structure().loaded) {
    if (state.statistics == 0 || state.statistics != state.missing || state.unexpected > 0) continue;
    findings.push_back(
        {"bad_checkpoint",
         0.9,
         fmt::format("A state without the running statistics of batch norm was loaded into {}", state.kind),
         {fmt::format("{} of its {} names were not in it, all of them running statistics (strict=False says nothing)",
                      state.missing, state.wanted),
          "state_dict() has them, named_parameters() has not"},
         {},
         0,
         {}});
    return;
  }
}

// The moments of an optimizer are half of where a training stands.
void look_for_forgotten_moments(const Case& seen, Findings& findings) {
  const ResumedOptimizers& resumed = seen.structure().resumed;
  if (resumed.found == 0 || resumed.given > 0) return;
  const auto& loaded = seen.structure().loaded;
  const bool goes_on = std::any_of(loaded.begin(), loaded.end(), [](const LoadedState& each) {
    return each.wanted > 0 && each.missing == 0 && each.unexpected == 0;
  });
  const auto& optimizers = seen.structure().optimizers;
  const bool has_moments = std::any_of(optimizers.begin(), optimizers.end(), [](const Optimizer& each) {
    return std::any_of(each.groups.begin(), each.groups.end(), [](const OptimizerGroup& group) {
      const auto momentum = group.settings.find("momentum");
      return group.settings.count("betas/0") > 0 || (momentum != group.settings.end() && momentum->second > 0);
    });
  });
  if (!goes_on || !has_moments) return;
  findings.push_back({"bad_checkpoint",
                      resumed.fits ? 0.85 : 0.5,  // a model that is trained anew on something else is meant to forget
                      "The model goes on from a checkpoint, and its optimizer begins anew, though its state is there",
                      {fmt::format("{} of optimizers were read, none was given to load_state_dict() of an optimizer",
                                   resumed.found == 1 ? "1 state" : fmt::format("{} states", resumed.found))},
                      {},
                      0,
                      seen.place("optimizer")});
}

// What is kept is not the best but the worst: a comparison that is turned around.
void look_for_the_worst_state(const Case& seen, Findings& findings) {
  constexpr double kLearned = 1.5, kStillGood = 1.2, kSame = 0.2;
  const auto& evaluations = seen.history.evaluations;
  if (evaluations.size() < 3) return;
  const double loaded = evaluations.back().numbers.at("eval_loaded");
  Values losses;
  for (const Evaluated& each : evaluations) {
    const double loss = each.numbers.at("eval_loss");
    if (loss > 0 && loss != each.numbers.at("eval_loaded")) losses.push_back(loss);
  }
  if (!(loaded > 0) || losses.size() < 3) return;
  const auto [best, worst] = std::minmax_element(losses.begin(), losses.end());
  if (!(*worst > kLearned * *best) || !(losses.back() < kStillGood * *best)) return;
  if (std::abs(loaded / *worst - 1) > kSame) return;
  findings.push_back({"bad_checkpoint",
                      0.86,
                      "The state that was loaded after the training is that of its worst evaluation, not of its best",
                      {fmt::format("with it the evaluation has a loss of {}", number(loaded)),
                       fmt::format("before, the evaluations had {} at first or worst, {} at best, {} at last",
                                   number(*worst), number(*best), number(losses.back()))},
                      {},
                      0,
                      {}});
}

}  // namespace

void look_at_state(const Case& seen, Findings& findings) {
  look_for_foreign_changes(seen, findings);
  look_for_changes_in_evaluations(seen, findings);
  look_for_rare_changes(seen, findings);
  look_for_unmatched_state(seen, findings);
  look_for_state_that_is_the_model(seen, findings);
  look_for_lost_statistics(seen, findings);
  look_for_forgotten_moments(seen, findings);
  look_for_the_worst_state(seen, findings);
}

}  // namespace trainwarden::diagnosis
