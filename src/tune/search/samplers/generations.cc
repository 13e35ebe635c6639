#include "tune/search/samplers/generations.h"

namespace trainwarden::tune {

std::vector<std::vector<std::size_t>> generations_of(const History& history, const std::string& note,
                                                     std::int64_t but) {
  std::vector<std::vector<std::size_t>> generations;
  for (std::size_t i = 0; i < history.trials.size(); ++i) {
    const StudyTrial& trial = history.trials[i];
    const bool is_finished = trial.state == TrialState::kComplete || trial.counts_by_last_value();
    if (!is_finished || trial.number == but || trial.point.size() != history.space.size()) continue;
    const auto found = trial.notes.find(note);
    if (found == trial.notes.end()) continue;
    // Notes come from files: there are no more generations than trials.
    const double generation = found->second;
    if (!(generation >= 0 && generation <= static_cast<double>(history.trials.size()))) continue;
    const auto index = static_cast<std::size_t>(generation);
    if (index >= generations.size()) generations.resize(index + 1);
    generations[index].push_back(i);
  }
  return generations;
}

}  // namespace trainwarden::tune
