#include "ui/work_answers/work_desk.h"

#include <chrono>
#include <utility>

#include "core/base/clock.h"
#include "work/experiments/run_metrics.h"
#include "work/queue/job_queue.h"

namespace trainwarden::work_answers {
namespace {

constexpr std::int64_t kFreshNs = 500'000'000;
constexpr std::int64_t kTendEveryNs = 5'000'000'000;
constexpr std::chrono::milliseconds kMetricPatience(200);  // of a look; the next one goes on with the rest

}  // namespace

WorkDesk::WorkDesk(WorkPlaces places, JobActions actions)
    : places_(std::move(places)),
      actions_(std::move(actions)),
      job_catalogue_(places_.job_catalogue),
      experiments_(places_.experiments),
      experiment_catalogue_(places_.experiment_catalogue),
      studies_(places_.studies) {}

Result<std::shared_ptr<const JobList>> WorkDesk::jobs() {
  const std::lock_guard lock(jobs_mutex_);
  const std::int64_t now = system_clock().steady_ns();
  if (jobs_ && now - looked_ns_ < kFreshNs) return jobs_;
  if (actions_.tend && (tended_ns_ == 0 || now - tended_ns_ > kTendEveryNs)) {
    actions_.tend();
    tended_ns_ = now;
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(JobList list, look());
  jobs_ = std::make_shared<const JobList>(std::move(list));
  looked_ns_ = system_clock().steady_ns();
  return jobs_;
}

Result<JobList> WorkDesk::look() {
  JobList list;
  const Status looked = job_catalogue_.ask([&](catalogue::Catalogue& catalogue) -> Status {
    TRAINWARDEN_ASSIGN_OR_RETURN(list.jobs, catalogue.jobs(places_.jobs, actions_.settling()));
    TRAINWARDEN_ASSIGN_OR_RETURN(
        list.metrics, catalogue.metrics_of_jobs(places_.jobs, list.jobs, experiments::metrics_of_run, kMetricPatience));
    return Status();
  });
  if (!looked.ok()) return looked;
  add_reasons(list.jobs);
  return list;
}

// Of jobs that wait the newest transition says less than why they wait.
void WorkDesk::add_reasons(std::vector<catalogue::CataloguedJob>& jobs) const {
  const auto reasons = queue::JobQueue(places_.jobs.path(), queue::this_host()).reasons();
  for (catalogue::CataloguedJob& job : jobs) {
    const auto reason = reasons.find(job.name);
    if (reason != reasons.end() && jobs::is_queued(job.now.status)) job.now.message = reason->second;
  }
}

Result<WorkDesk::JobNow> WorkDesk::job(const std::string& name) const {
  TRAINWARDEN_ASSIGN_OR_RETURN(jobs::JobRecord record, jobs::JobRecord::open(places_.jobs, name));
  TRAINWARDEN_RETURN_IF_ERROR(actions_.settling()(record).status());
  TRAINWARDEN_ASSIGN_OR_RETURN(std::vector<jobs::Transition> transitions, record.transitions());
  if (jobs::is_queued(transitions.back().status)) {
    const auto reasons = queue::JobQueue(places_.jobs.path(), queue::this_host()).reasons();
    const auto reason = reasons.find(name);
    if (reason != reasons.end()) transitions.back().message = reason->second;
  }
  return JobNow{std::move(record), std::move(transitions)};
}

void WorkDesk::forget_jobs() {
  const std::lock_guard lock(jobs_mutex_);
  jobs_.reset();
}

std::vector<answers::Area> work_areas(WorkDesk& desk) {
  return {{"jobs", job_routes(desk)}, {"experiments", experiment_routes(desk)}, {"studies", study_routes(desk)}};
}

}  // namespace trainwarden::work_answers
