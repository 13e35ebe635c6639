#include "work/job_events/job_stop_action.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "work/jobs/job_record.h"

namespace trainwarden::job_events {
namespace {

using actions::ActionOutcome;

class JobStopAction final : public actions::Action {
 public:
  explicit JobStopAction(storage::Location jobs) : jobs_(std::move(jobs)) {}

  std::string_view name() const override { return "stop"; }
  std::string place() const override { return "the job"; }

  // Asking twice is asking once: a job that is to stop, or has ended, stays as it is.
  ActionOutcome run(const actions::EventNotice& notice, std::stop_token /*stop*/) override {
    Result<jobs::JobRecord> job = jobs::JobRecord::open(jobs_, notice.run_name);
    if (job.status().code() == Code::kNotFound) return ActionOutcome::give_up(job.status());
    if (!job.ok()) return ActionOutcome::try_again(job.status());
    if (notice.unix_ns < job->order().submitted_unix_ns) {
      return ActionOutcome::give_up(Status(Code::kFailedPrecondition, "another job has its name by now"));
    }
    const std::string why = fmt::format("{} asks for it: {}", notice.requested_by, notice.headline);
    const Result<jobs::Transition> now = job->request_stop("subscription", why, system_clock());
    if (!now.ok()) return ActionOutcome::try_again(now.status());
    return ActionOutcome::done(std::string(jobs::name(now->status)));
  }

 private:
  const storage::Location jobs_;
};

}  // namespace

actions::ActionKind job_stop_kind(const storage::Location& jobs) {
  actions::ActionKind kind;
  kind.name = "stop";
  kind.summary = "Asks the job that the event is of to stop.";
  kind.create = [jobs](actions::ActionParameters&,
                       const actions::RunContext&) -> Result<std::unique_ptr<actions::Action>> {
    return std::unique_ptr<actions::Action>(std::make_unique<JobStopAction>(jobs));
  };
  return kind;
}

}  // namespace trainwarden::job_events
