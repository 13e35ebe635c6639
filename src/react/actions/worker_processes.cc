#include "react/actions/worker_processes.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/file_descriptor.h"
#include "store/storage/lease.h"

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

// Stands for one process, and for no other that gets its number later. None where the kernel has no such thing.
FileDescriptor open_process(std::int64_t process) {
  return FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(process), 0)));
}

int send(const FileDescriptor& handle, std::int64_t process, int signal_number) {
  if (!handle.is_open()) return ::kill(static_cast<pid_t>(process), signal_number);
  return static_cast<int>(::syscall(SYS_pidfd_send_signal, handle.get(), signal_number, nullptr, 0));
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
  if (*worker.process == ::getpid()) {
    return Status(Code::kFailedPrecondition, fmt::format("{} is this process itself", worker.name));
  }
  // First the handle, then the proof: what holds the lock now is what the handle stands for.
  const FileDescriptor handle = open_process(*worker.process);
  if (run_storage.lock_holder(lock_of(worker.name)) != worker.process) {
    return Status(Code::kNotFound, fmt::format("{} has ended", worker.name));
  }
  if (send(handle, *worker.process, signal_number) == 0) return {};
  const Code code = errno == EPERM ? Code::kPermissionDenied : Code::kNotFound;
  return Status(code, fmt::format("process {} ({}): {}", *worker.process, worker.name, std::strerror(errno)));
}

}  // namespace trainwarden::actions
