#include "store/storage/lock_holder.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/file_descriptor.h"

namespace trainwarden::storage {
namespace {

// Stands for one process, and for no other that gets its number later. None where the kernel has no such thing.
FileDescriptor open_process(std::int64_t process) {
  return FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(process), 0)));
}

int send_signal(const FileDescriptor& handle, std::int64_t process, int signal_number) {
  if (!handle.is_open()) return ::kill(static_cast<pid_t>(process), signal_number);
  return static_cast<int>(::syscall(SYS_pidfd_send_signal, handle.get(), signal_number, nullptr, 0));
}

}  // namespace

Status signal_lock_holder(const Storage& storage, const std::string& lock, std::int64_t process, int signal_number) {
  if (process == ::getpid()) return Status(Code::kFailedPrecondition, "it is this process itself");
  // First the handle, then the proof: what holds the lock now is what the handle stands for.
  const FileDescriptor handle = open_process(process);
  if (storage.lock_holder(lock) != process)
    return Status(Code::kNotFound, fmt::format("process {} has ended", process));
  if (send_signal(handle, process, signal_number) == 0) return {};
  const Code code = errno == EPERM ? Code::kPermissionDenied : Code::kNotFound;
  return Status(code, fmt::format("process {}: {}", process, std::strerror(errno)));
}

}  // namespace trainwarden::storage
