#include "ui/cli/running/local_jobs.h"

#include "core/base/clock.h"
#include "ui/cli/running/job_keeper.h"
#include "work/queue/job_queue.h"
#include "work/queue/machine.h"
#include "work/ranks/local_ranks.h"

namespace trainwarden::cli {
namespace {

class LocalBackend final : public JobBackend {
 public:
  std::string_view where() const override { return "on this machine"; }

  std::vector<std::string> not_done_yet(const jobs::JobSpec& spec) const override {
    std::vector<std::string> keys;
    const jobs::Resources& resources = spec.resources;
    if (!spec.image.empty()) keys.emplace_back("image");
    if (resources.nodes > 1) keys.emplace_back("nodes (several need backend = \"slurm\")");
    if (resources.binding != jobs::Binding::kNone) keys.emplace_back("bind");
    return keys;
  }

  Status prepare(const jobs::JobSpec& spec, const std::filesystem::path& jobs, jobs::JobOrder& order) override {
    if (order.ranks > 1) {
      order.program =
          ranks::local_ranks_command(this_program().string(), spec.resources, order.grace_seconds, order.program);
    }
    const auto cpus = static_cast<std::int64_t>(queue::this_machine().cpus.size());
    ranks::add_rank_variables(spec.resources, cpus, order.environment);
    order.host = queue::this_host();
    // Its place in the queue comes first: a job that is there and has none would wait for ever.
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
