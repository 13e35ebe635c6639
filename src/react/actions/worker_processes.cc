#include "react/actions/worker_processes.h"

#include <fmt/format.h>

#include "store/storage/lease.h"
#include "store/storage/lock_holder.h"

namespace trainwarden::actions {
namespace {

constexpr const char* kJournals = "journal";
constexpr const char* kWorkerPrefix = "rank-";

std::string lease_of(const std::string& worker) {  // docs/format/run_folder.md
  return fmt::format("{}/{}/writer", kJournals, worker);
}
std::string lock_of(const std::string& worker) {
  return storage::lock_of_lease(lease_of(worker));
}

}  // namespace

std::vector<LivingWorker> living_workers(const storage::Storage& run_storage) {
  std::vector<LivingWorker> workers;
  const auto journals = run_storage.list(kJournals);
  if (!journals.ok()) return workers;  // nobody has written anything yet
  for (const std::string& name : *journals) {
    if (!name.starts_with(kWorkerPrefix) || !storage::is_leased(run_storage, lease_of(name))) continue;
    workers.push_back({name, run_storage.lock_holder(lock_of(name))});
  }
  return workers;
}

Status signal_worker(const storage::Storage& run_storage, const LivingWorker& worker, int signal_number) {
  if (!worker.process) {
    return Status(Code::kNotFound, fmt::format("{} is not a process of this machine", worker.name));
  }
  const Status sent = storage::signal_lock_holder(run_storage, lock_of(worker.name), *worker.process, signal_number);
  return sent.ok() ? sent : Status(sent.code(), fmt::format("{}: {}", worker.name, sent.message()));
}

}  // namespace trainwarden::actions
