#include "ui/cli/running/local_jobs.h"

#include "core/base/clock.h"
#include "ui/cli/running/job_keeper.h"
#include "work/queue/job_queue.h"

namespace trainwarden::cli {
namespace {

class LocalBackend final : public JobBackend {
 public:
  std::string_view where() const override { return "on this machine"; }

  std::vector<std::string> not_done_yet(const jobs::JobSpec& spec) const override {
    std::vector<std::string> keys;
    const jobs::Resources& resources = spec.resources;
    if (!spec.image.empty()) keys.emplace_back("image");
    if (resources.nodes > 1) keys.emplace_back("nodes");
    if (resources.tasks_per_node > 1) keys.emplace_back("tasks_per_node");
    if (resources.binding != jobs::Binding::kNone) keys.emplace_back("bind");
    return keys;
  }

  // Its place in the queue comes first: a job that is there and has none would wait for ever.
  Status prepare(const jobs::JobSpec&, const std::filesystem::path& jobs, jobs::JobOrder& order) override {
    order.host = queue::this_host();
    return queue::JobQueue(jobs, order.host).enter(order.name);
  }

  Status submit(jobs::JobRecord& job, const jobs::JobSpec&) override { return ensure_job_is_kept(job); }
  Result<jobs::Transition> settle(jobs::JobRecord& job) override { return job.settle(system_clock()); }

  // Its agent reads the state.
  Status stop(jobs::JobRecord&, const jobs::Transition&) override { return {}; }

  Result<jobs::Transition> resume(jobs::JobRecord& job, const std::string& message) override {
    TRAINWARDEN_ASSIGN_OR_RETURN(jobs::Transition now, job.resume(message, system_clock()));
    TRAINWARDEN_RETURN_IF_ERROR(ensure_job_is_kept(job));
    return now;
  }

  Status keep(const jobs::JobRecord& job) override { return ensure_job_is_kept(job); }
};

}  // namespace

std::unique_ptr<JobBackend> create_local_backend() {
  return std::make_unique<LocalBackend>();
}

}  // namespace trainwarden::cli
