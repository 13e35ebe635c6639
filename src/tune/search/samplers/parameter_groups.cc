#include "tune/search/samplers/parameter_groups.h"

#include <algorithm>

namespace trainwarden::tune {
namespace {

bool have_same_condition(const Hyperparameter& one, const Hyperparameter& other) {
  if (!one.when || !other.when) return !one.when && !other.when;
  return one.when->parameter == other.when->parameter && one.when->values == other.when->values;
}

}  // namespace

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
