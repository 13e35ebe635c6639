#include "tune/study/asked_value.h"

#include "tune/search/space_extension.h"

namespace trainwarden::tune {

Result<TriedValue> asked_value(const StudyState& state, std::int64_t trial, const Hyperparameter& asked) {
  TRAINWARDEN_RETURN_IF_ERROR(Space::make({asked}).status());
  const History& history = state.history();
  const auto index = static_cast<std::size_t>(trial);
  if (index < history.trials.size()) {
    const TriedValues values = history.space.values_of(history.trials[index].point);
    for (const TriedValues* const each : {&values, &state.record(index).wished}) {
      const auto found = each->find(asked.name);
      const auto fitted = found == each->end() ? std::nullopt : fitted_value(asked, found->second);
      if (fitted) return *fitted;
    }
  }
  return drawn_value(asked, history.seed, trial);
}

bool has_value(const StudyState& state, std::int64_t trial, const Hyperparameter& asked, const TriedValue& value) {
  const History& history = state.history();
  const auto i = history.space.find(asked.name);
  if (!i) return false;
  const Hyperparameter& known = history.space[*i];
  const auto both = united_parameter(known, asked);
  const bool is_same = both.ok() && both->min == known.min && both->max == known.max && both->step == known.step;
  return is_same && as_coordinate(known, value) == history.trials[static_cast<std::size_t>(trial)].point[*i];
}

}  // namespace trainwarden::tune
