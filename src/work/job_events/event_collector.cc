#include "work/job_events/event_collector.h"

#include <utility>

#include "work/sagemaker/job_description.h"

namespace trainwarden::job_events {
namespace {

// "4f...-12" → "4f..."
std::string without_number(const std::string& id) {
  return id.substr(0, id.rfind('-'));
}

}  // namespace

EventCollector::Followed::Followed(jobs::JobRecord opened)
    : record(std::move(opened)), maker(record.order()), run(storage::Location(record.order().run)) {}

bool EventCollector::Followed::has_ended() const {
  return !transitions.empty() && jobs::is_terminal(transitions.back().status);
}

EventCollector::EventCollector(storage::Location jobs, events::Ledger& ledger)
    : jobs_(std::move(jobs)), ledger_(ledger) {
  for (std::uint64_t seq = 1; seq <= ledger_.last_seq(); ++seq) {
    const events::Event event = ledger_.event(seq);
    taken_[without_number(event.id)].insert(event.number());
  }
}

// One that has ended may have been removed, and another one submitted under its name.
Result<EventCollector::Followed*> EventCollector::follow(const std::string& job) {
  std::unique_ptr<Followed>& followed = followed_[job];
  if (followed != nullptr && !followed->has_ended()) return followed.get();
  Result<jobs::JobRecord> record = jobs::JobRecord::open(jobs_, job);
  if (!record.ok()) {
    followed_.erase(job);
    return record.status();
  }
  const bool is_same = followed != nullptr && followed->record.order() == record->order();
  if (!is_same) followed = std::make_unique<Followed>(*std::move(record));
  return followed.get();
}

Result<bool> EventCollector::collect(const std::string& job) {
  TRAINWARDEN_ASSIGN_OR_RETURN(Followed * followed, follow(job));
  Status taken = take_transitions(*followed);
  if (taken.code() == Code::kNotFound) {  // removed before we saw its end; another one may have its name now
    forget(job);
    TRAINWARDEN_ASSIGN_OR_RETURN(followed, follow(job));
    taken = take_transitions(*followed);
  }
  TRAINWARDEN_RETURN_IF_ERROR(taken);
  // Asked before the look: what was written until then is taken in.
  const bool is_over = followed->has_ended() && followed->run.is_closed();
  TRAINWARDEN_RETURN_IF_ERROR(take_run(*followed));
  return is_over;
}

Status EventCollector::take_transitions(Followed& job) {
  std::vector<jobs::Transition>& known = job.transitions;
  if (!known.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::Transition newest, job.record.newest_after(known.back()));
    if (newest.seq == known.back().seq) return {};
  }
  const std::size_t looked_at = known.size();
  TRAINWARDEN_ASSIGN_OR_RETURN(known, job.record.transitions());  // the first is its submission
  for (std::size_t place = looked_at; place < known.size(); ++place) take(job.maker.event(known, place));
  return {};
}

// A run's folder is what its training wrote. Whose events they are is said by the job; keys of a run are its own, so
// that here the id takes their place.
Status EventCollector::take_run(Followed& job) {
  return job.run.poll([&](events::Event event) {
    event.own_seq = event.number();
    event.key = event.id;
    event.data["TrainingJobName"] = job.record.order().name;
    event.data["TrainingJobArn"] = sagemaker::training_job_arn(sagemaker::kLocalRegion, job.record.order().name);
    event.data["RunFolder"] = job.record.order().run;
    take(std::move(event));
  });
}

void EventCollector::take(events::Event event) {
  if (event.type == events::kLostType) return;
  if (taken_[without_number(event.id)].insert(event.number()).second) ledger_.append(std::move(event));
}

}  // namespace trainwarden::job_events
