#include "tune/search/samplers/parameter_groups.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace trainwarden::tune {
namespace {

bool have_same_condition(const Hyperparameter& one, const Hyperparameter& other) {
  if (!one.when || !other.when) return !one.when && !other.when;
  return one.when->parameter == other.when->parameter && one.when->values == other.when->values;
}

// Of each trial that one learns from: has it this parameter?
std::vector<bool> presence_of(const History& history, std::size_t parameter) {
  std::vector<bool> presence;
  for (const StudyTrial& trial : history.trials) {
    const bool is_finished = trial.state == TrialState::kComplete || trial.state == TrialState::kPruned;
    if (is_finished && parameter < trial.point.size()) presence.push_back(!std::isnan(trial.point[parameter]));
  }
  return presence;
}

}  // namespace

std::vector<std::vector<std::size_t>> parameter_groups(const History& history, bool together) {
  auto groups = parameter_groups(history.space, together);
  if (!history.space.has_optional()) return groups;
  std::vector<std::vector<std::size_t>> split;
  for (const std::vector<std::size_t>& group : groups) {
    std::map<std::vector<bool>, std::size_t> places;
    for (const std::size_t i : group) {
      const auto [place, is_new] = places.emplace(presence_of(history, i), split.size());
      if (is_new) split.emplace_back();
      split[place->second].push_back(i);
    }
  }
  return split;
}

std::vector<std::vector<std::size_t>> parameter_groups(const Space& space, bool together) {
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < space.size(); ++i) {
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const std::vector<std::size_t>& members) {
      return together && have_same_condition(space[members[0]], space[i]);
    });
    if (group == groups.end()) {
      groups.push_back({i});
    } else {
      group->push_back(i);
    }
  }
  return groups;
}

std::vector<std::size_t> groups_of_constraints(const Space& space,
                                               const std::vector<std::vector<std::size_t>>& groups) {
  std::vector<std::size_t> last;
  for (const Constraint& constraint : space.constraints()) {
    std::size_t& own = last.emplace_back(0);
    for (std::size_t group = 0; group < groups.size(); ++group) {
      const bool has_one = std::any_of(groups[group].begin(), groups[group].end(),
                                       [&](std::size_t i) { return constraint.weights.contains(space[i].name); });
      if (has_one) own = group;
    }
  }
  return last;
}

}  // namespace trainwarden::tune
