#include "store/storage/naming.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include <fmt/format.h>

#include "store/storage/system_error.h"

namespace trainwarden::storage {
namespace {

int link_names(int folder, const char* from, const char* to) {
  return ::linkat(folder, from, folder, to, 0);
}

int rename_names_if_absent(int folder, const char* from, const char* to) {
  return static_cast<int>(::syscall(SYS_renameat2, folder, from, folder, to, RENAME_NOREPLACE));
}

// The file system, or a filter of system calls, knows no such thing.
bool is_missing(int error_number) {
  return error_number == EPERM || error_number == EOPNOTSUPP || error_number == ENOSYS || error_number == EINVAL;
}

}  // namespace

const NamingCalls& system_naming_calls() {
  static constexpr NamingCalls kCalls{link_names, rename_names_if_absent};
  return kCalls;
}

Result<std::string> random_name() {
  std::array<unsigned char, 16> bytes;
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return system_error(errno, "get random bytes from", "the system");
  }
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

Status give_name_if_absent(const FileDescriptor& folder, const std::string& from, const std::string& to,
                           const std::string& described, const NamingCalls& calls) {
  if (calls.link(folder.get(), from.c_str(), to.c_str()) == 0) return Status();
  if (!is_missing(errno)) return system_error(errno, "create", described);
  if (calls.rename_if_absent(folder.get(), from.c_str(), to.c_str()) == 0) return Status();
  if (!is_missing(errno)) return system_error(errno, "create", described);
  return Status(Code::kUnimplemented,
                fmt::format("cannot create {}: its file system has neither hard links nor a rename that replaces "
                            "nothing",
                            described));
}

}  // namespace trainwarden::storage
