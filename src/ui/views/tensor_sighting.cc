#include "ui/views/tensor_sighting.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>

#include "read/trial/trial_access.h"

namespace trainwarden::views {
namespace {

constexpr std::array<std::string_view, format::kRecordFormCount> kFormNames = {"value", "statistics", "scalar", "shape",
                                                                               "reductions"};
static_assert(static_cast<int>(journal::RecordForm::kReductions) == 4);

// Trial's own words for what is not there.
Status why_not(Trial& trial, std::string_view tensor, std::int64_t step, std::string_view worker) {
  const auto statistics = trial.statistics(tensor, step, Mode::kGlobal, worker);
  if (!statistics.ok()) return statistics.status();
  return {Code::kInternal, "a tensor that can be read was not found"};
}

using Steps = std::vector<std::int64_t>;

// Keeps `steps` rising; nearly always at the end.
void add_step(Steps& steps, std::int64_t step) {
  if (steps.empty() || step > steps.back()) {
    steps.push_back(step);
    return;
  }
  const auto place = std::lower_bound(steps.begin(), steps.end(), step);
  if (*place != step) steps.insert(place, step);
}

// What was gathered of one tensor, and how far each worker's journal was read for it.
class Gathered {
 public:
  const TensorPresence& presence() const { return presence_; }

  void extend(Trial& trial, const trial::CatalogTensor& tensor) {
    const auto journals = TrialAccess::journals(trial);
    const bool any_repeats = read_on(journals);
    if (any_repeats) {
      *this = Gathered();
      read_on(journals);
    }
    for (trial::WorkerJournal* journal : journals) {
      if (journal->readable()) take_in(trial, *journal, tensor);
    }
  }

 private:
  struct Progress {
    std::size_t steps = 0;
    std::int64_t highest_step = std::numeric_limits<std::int64_t>::min();
    std::size_t postings = 0;
  };

  bool read_on(const std::vector<trial::WorkerJournal*>& journals) {
    bool any_repeats = false;
    for (trial::WorkerJournal* journal : journals) any_repeats = repeats(*journal) || any_repeats;
    return any_repeats;
  }

  // Has the worker ended a step again that it had ended before? Then what was gathered of it holds no more.
  bool repeats(trial::WorkerJournal& journal) {
    if (!journal.readable()) return false;
    Progress& progress = progress_[&journal];
    const auto steps = journal.reader().steps();
    const bool any = progress.steps > 0 && std::any_of(steps.begin() + static_cast<std::ptrdiff_t>(progress.steps),
                                                       steps.end(), [&](const journal::StepEntry& step) {
                                                         return step.global_step <= progress.highest_step;
                                                       });
    for (; progress.steps < steps.size(); ++progress.steps) {
      progress.highest_step = std::max(progress.highest_step, steps[progress.steps].global_step);
    }
    return any;
  }

  void take_in(Trial& trial, trial::WorkerJournal& journal, const trial::CatalogTensor& tensor) {
    const auto index = journal.tensor(tensor);
    if (!index) return;
    const auto all = journal.tensor_index().of(*index);
    Progress& progress = progress_[&journal];
    if (progress.postings == 0 && !all.empty()) presence_.workers.push_back(journal.name());
    for (const trial::Posting& posting : all.subspan(progress.postings)) {
      const journal::StepEntry& step = journal.reader().steps()[posting.step_index];
      if (journal.step_index(step.global_step) == posting.step_index) add(trial, step.global_step, posting);
    }
    progress.postings = all.size();
  }

  void add(Trial& trial, std::int64_t step, const trial::Posting& posting) {
    const auto mode = trial.mode_of(step);
    if (!mode) return;
    add_step(presence_.steps, step);
    add_step(list_of(presence_.modes, *mode, &StepsOfMode::mode), step);
    for (std::size_t i = 0; i < kFormNames.size(); ++i) {
      const auto form = static_cast<journal::RecordForm>(i);
      if (posting.has(form)) add_step(list_of(presence_.forms, form, &StepsOfForm::form), step);
    }
  }

  template <class List, class Key>
  static Steps& list_of(std::vector<List>& lists, Key key, Key List::*member) {
    const auto found = std::find_if(lists.begin(), lists.end(), [&](const List& list) { return list.*member == key; });
    if (found != lists.end()) return found->steps;
    lists.push_back({key, {}});
    return lists.back().steps;
  }

  TensorPresence presence_;
  std::map<const trial::WorkerJournal*, Progress> progress_;
};

struct PresenceMemory {
  std::map<std::string, Gathered, std::less<>> tensors;
  std::size_t steps = 0;  // in all of them, at most as many as were counted when they were asked for
};

constexpr std::size_t kMostRememberedSteps = 4'000'000;  // steps, of 24 bytes each

}  // namespace

std::string_view name(journal::RecordForm form) {
  return kFormNames[static_cast<std::size_t>(form)];
}

std::span<const std::int64_t> TensorPresence::steps_in(journal::RecordForm form) const {
  const auto found = std::find_if(forms.begin(), forms.end(), [&](const StepsOfForm& of) { return of.form == form; });
  return found == forms.end() ? std::span<const std::int64_t>() : found->steps;
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

Result<const TensorPresence*> tensor_presence(OpenRun::Use& use, std::string_view tensor) {
  const trial::CatalogTensor* known = TrialAccess::catalog(use.trial()).find(tensor);
  if (known == nullptr) return use.trial().tensor_info(tensor).status();
  auto& memory = use.memory<PresenceMemory>();
  if (memory.steps > kMostRememberedSteps) memory = PresenceMemory();
  Gathered& gathered = memory.tensors[std::string(tensor)];
  const std::size_t before = gathered.presence().steps.size();
  gathered.extend(use.trial(), *known);
  memory.steps += std::max(gathered.presence().steps.size(), before) - before;
  return &gathered.presence();
}

}  // namespace trainwarden::views
