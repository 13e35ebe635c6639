#include "views/tensor_sighting.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "trial/trial_access.h"

namespace trainwarden::views {
namespace {

constexpr std::array<std::string_view, format::kRecordFormCount> kFormNames = {"value", "statistics", "scalar", "shape",
                                                                               "reductions"};
static_assert(static_cast<int>(store::RecordForm::kReductions) == 4);

// Trial's own words for what is not there.
Status why_not(Trial& trial, std::string_view tensor, std::int64_t step, std::string_view worker) {
  const auto statistics = trial.statistics(tensor, step, Mode::kGlobal, worker);
  if (!statistics.ok()) return statistics.status();
  return {Code::kInternal, "a tensor that can be read was not found"};
}

using StepSet = std::set<std::int64_t>;

std::vector<std::int64_t> to_vector(const StepSet& steps) {
  return {steps.begin(), steps.end()};
}

}  // namespace

std::string_view name(store::RecordForm form) {
  return kFormNames[static_cast<std::size_t>(form)];
}

Result<TensorSighting> see_tensor(Trial& trial, std::string_view tensor, std::int64_t step, std::string_view worker) {
  const trial::CatalogTensor* known = TrialAccess::catalog(trial).find(tensor);
  if (known == nullptr) return why_not(trial, tensor, step, worker);
  for (trial::WorkerJournal* journal : TrialAccess::journals(trial)) {
    if (!journal->readable() || (!worker.empty() && journal->name() != worker)) continue;
    const auto index = journal->tensor(*known);
    if (!index) continue;
    const auto records = journal->records_at(step, *index);
    if (!records.ok()) continue;
    trial::Sighting sighting(*journal, *index, *records);
    if (!sighting.empty()) return TensorSighting{sighting, journal->name()};
  }
  return why_not(trial, tensor, step, worker);
}

Result<TensorPresence> tensor_presence(Trial& trial, std::string_view tensor) {
  const trial::CatalogTensor* known = TrialAccess::catalog(trial).find(tensor);
  if (known == nullptr) return trial.tensor_info(tensor).status();
  TensorPresence presence;
  StepSet all;
  std::array<StepSet, format::kRecordFormCount> forms;
  std::map<Mode, StepSet> modes;
  for (trial::WorkerJournal* journal : TrialAccess::journals(trial)) {
    const auto index = journal->readable() ? journal->tensor(*known) : std::nullopt;
    if (!index) continue;
    const auto postings = journal->tensor_index().of(*index);
    if (!postings.empty()) presence.workers.push_back(journal->name());
    for (const trial::Posting& posting : postings) {
      const std::int64_t step = journal->reader().steps()[posting.step_index].global_step;
      const auto mode = trial.mode_of(step);
      if (!mode || journal->step_index(step) != posting.step_index) continue;  // ended again later
      all.insert(step);
      modes[*mode].insert(step);
      for (std::size_t form = 0; form < forms.size(); ++form) {
        if (posting.has(static_cast<store::RecordForm>(form))) forms[form].insert(step);
      }
    }
  }
  presence.steps = to_vector(all);
  for (std::size_t form = 0; form < forms.size(); ++form) {
    if (!forms[form].empty()) presence.forms.push_back({static_cast<store::RecordForm>(form), to_vector(forms[form])});
  }
  for (const auto& [mode, steps] : modes) presence.modes.push_back({mode, to_vector(steps)});
  return presence;
}

}  // namespace trainwarden::views
