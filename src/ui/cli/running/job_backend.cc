#include "ui/cli/running/job_backend.h"

#include "ui/cli/running/job_keeper.h"
#include "ui/cli/running/local_jobs.h"
#include "ui/cli/running/slurm_jobs.h"
#include "ui/cli/running/ssh_jobs.h"
#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {
namespace {

std::unique_ptr<JobBackend> create_backend(jobs::Backend backend) {
  switch (backend) {
    case jobs::Backend::kSlurm: return create_slurm_backend();
    case jobs::Backend::kSsh: return create_ssh_backend();
    case jobs::Backend::kLocal: break;
  }
  return create_local_backend();
}

}  // namespace

JobBackend& JobBackends::of(jobs::Backend backend) {
  std::unique_ptr<JobBackend>& made = made_.at(static_cast<std::size_t>(backend));
  if (made == nullptr) made = create_backend(backend);
  return *made;
}

Result<jobs::Transition> JobBackends::settle(jobs::JobRecord& job) {
  return of(job.order().backend).settle(job);
}

void JobBackends::keep(const jobs::JobRecord& job) {
  const Status kept = of(job.order().backend).keep(job);
  if (!kept.ok()) emit(stderr, "trainwarden: warning: nobody starts the jobs that wait: {}\n", kept.message());
  try_ensure_job_is_told_of(job);
}

}  // namespace trainwarden::cli
