#include "ui/cli/commands/events_of_job.h"

#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "ui/cli/commands/events_follow.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/reports/event_view.h"
#include "ui/cli/running/job_backend.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/views/event_log.h"
#include "work/job_events/event_folder.h"
#include "work/job_events/job_event.h"

namespace trainwarden::cli {
namespace {

constexpr std::chrono::milliseconds kJobEventInterval{200};
constexpr int kJobEventLooks = 10;  // until it is looked whether somebody keeps the job

// What became of its events at standing subscriptions, by the transitions' numbers.
struct DeliveriesOfJob {
  StandingsOfEvents standings;
  bool kept = false;
};

Result<DeliveriesOfJob> deliveries_of(const jobs::JobRecord& job) {
  DeliveriesOfJob deliveries;
  const job_events::EventFolder folder(job.place().absolute().path().parent_path());
  if (!folder.exists()) return deliveries;
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto log, views::EventLog::open(folder.place()));
  deliveries.kept = log->kept();
  const std::string prefix = job_events::job_identity(job.order()) + "-";
  for (const views::DeliveryStanding& standing : log->standings()) {
    const events::DeliveryRecord& last = standing.last;
    const auto& all = log->contents().events;
    if (!last.event_id.starts_with(prefix) || last.seq == 0 || last.seq > all.size()) continue;
    deliveries.standings[all[last.seq - 1].number()].push_back(standing);
  }
  return deliveries;
}

// Those from transition number `after` on that are wanted.
Result<std::vector<events::Event>> wanted_events(const jobs::JobRecord& job, const EventFilter& filter,
                                                 std::int64_t after) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<jobs::Transition> all, job.transitions());
  const job_events::JobEventMaker maker(job.order());
  std::vector<events::Event> events;
  for (std::size_t place = 0; place < all.size(); ++place) {
    if (all[place].seq <= after) continue;
    events::Event event = maker.event(all, place);
    TRAINWARDEN_ASSIGN_OR_RETURN(const bool taken, filter.takes(event));
    if (taken) events.push_back(std::move(event));
  }
  return events;
}

void print_one(const events::Event& event, const DeliveriesOfJob& deliveries, const EventForm& form) {
  const auto found = deliveries.standings.find(event.seq);
  if (form.raw) {
    print_json_text(form.choice.document(event));
  } else if (form.json) {
    print_json_line(
        json_of(event, found == deliveries.standings.end() ? std::vector<views::DeliveryStanding>() : found->second));
  } else {
    emit("{}\n", event_line(event));
  }
}

Status follow_job(jobs::JobRecord& job, const EventFilter& filter, const EventForm& form) {
  JobBackends backends;
  std::int64_t printed = 0;
  for (int looks = 0;; ++looks) {
    if (looks % kJobEventLooks == 0) backends.keep(job);
    TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::Transition now, backends.settle(job));
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto events, wanted_events(job, filter, printed));
    TRAINWARDEN_ASSIGN_OR_RETURN(const DeliveriesOfJob deliveries, deliveries_of(job));
    for (const events::Event& event : events) print_one(event, deliveries, form);
    printed = now.seq;
    std::fflush(stdout);
    if (jobs::is_terminal(now.status) || reader_is_gone()) return Status();
    std::this_thread::sleep_for(kJobEventInterval);
  }
}

Status list_job(const jobs::JobRecord& job, const EventFilter& filter, const EventForm& form) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto events, wanted_events(job, filter, 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(const DeliveriesOfJob deliveries, deliveries_of(job));
  if (form.raw) {
    for (const events::Event& event : events) print_one(event, deliveries, form);
  } else if (form.json) {
    OrderedJson list = OrderedJson::array();
    for (const events::Event& event : events) {
      const auto found = deliveries.standings.find(event.seq);
      list.push_back(
          json_of(event, found == deliveries.standings.end() ? std::vector<views::DeliveryStanding>() : found->second));
    }
    print_json({{"job", job.order().name}, {"kept", deliveries.kept}, {"events", list}});
  } else if (events.empty()) {
    emit("none of the events of job {} is meant\n", job.order().name);
  } else {
    emit("{}", Lines{event_table(events, deliveries.standings, deliveries.kept)});
  }
  return Status();
}

}  // namespace

int show_events_of_job(const JobChoice& choice, const EventFilter& filter, const EventForm& form) {
  Result<jobs::JobRecord> job = choice.open();
  if (!job.ok()) return report_error(job.status());
  const Status status = form.follow ? follow_job(*job, filter, form) : list_job(*job, filter, form);
  return status.ok() ? kExitFine : report_error(status);
}

}  // namespace trainwarden::cli
