#include "ui/work_answers/open_studies.h"

#include <algorithm>

#include "core/base/clock.h"

namespace trainwarden::work_answers {

Status OpenStudies::with(const std::string& name, const std::function<void(const tune::Study&)>& look) {
  if (!tune::is_study_name(name)) return tune::Study::open(folder_, name, system_clock()).status();  // says so
  const std::shared_ptr<Kept> kept = take(name);
  std::size_t trials = 0;
  {
    const std::lock_guard lock(kept->mutex);
    const Status looked = look_again(name, *kept);
    if (!looked.ok()) {
      kept->study.reset();
      forget(name);
      return looked;
    }
    look(*kept->study);
    trials = kept->study->state().history().trials.size();
  }
  give_back(name, trials);
  return Status();
}

Status OpenStudies::look_again(const std::string& name, Kept& kept) const {
  const auto file = folder_.storage().info(name + "/study.json");
  const std::uint64_t identity = file.ok() ? file->identity : 0;
  if (kept.study && file.ok() && identity == kept.identity) return kept.study->refresh();
  TRAINWARDEN_ASSIGN_OR_RETURN(tune::Study study, tune::Study::open(folder_, name, system_clock()));
  kept.study = std::make_unique<tune::Study>(std::move(study));
  kept.identity = identity;
  return Status();
}

std::shared_ptr<OpenStudies::Kept> OpenStudies::take(const std::string& name) {
  const std::lock_guard lock(mutex_);
  Place& place = places_[name];
  place.used = ++questions_;
  return place.kept;
}

// The one that was asked for just now stays, however large it is.
void OpenStudies::give_back(const std::string& name, std::size_t trials) {
  const std::lock_guard lock(mutex_);
  const auto own = places_.find(name);
  if (own != places_.end()) own->second.trials = trials + 1;
  std::size_t sum = 0;
  for (const auto& [_, place] : places_) sum += place.trials;
  while (sum > most_trials_ && places_.size() > 1) {
    const auto oldest = std::min_element(places_.begin(), places_.end(),
                                         [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
    sum -= oldest->second.trials;
    places_.erase(oldest);
  }
}

void OpenStudies::forget(const std::string& name) {
  const std::lock_guard lock(mutex_);
  places_.erase(name);
}

}  // namespace trainwarden::work_answers
