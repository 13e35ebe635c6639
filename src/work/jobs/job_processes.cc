#include "work/jobs/job_processes.h"

#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/file_descriptor.h"
#include "core/base/job_variables.h"
#include "core/base/text.h"

namespace trainwarden::jobs {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kPause{20};
constexpr int kMaxRounds = 150;

// "NAME=value" ends with NUL in there. Empty when it may not be looked at, and of a zombie.
std::string environment_of(const fs::path& process) {
  std::ifstream file(process / "environ", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool has_variable(const std::string& environment, const std::string& variable) {
  const std::string whole = variable + '\0';
  return environment.starts_with(whole) || environment.find('\0' + whole) != std::string::npos;
}

// The process is held by a descriptor before it is looked at, so that its number cannot become another's meanwhile.
bool kill_if_of(const fs::path& process, int id, const std::string& variable) {
  const FileDescriptor held(static_cast<int>(::syscall(SYS_pidfd_open, id, 0)));
  if (!held.is_open() || !has_variable(environment_of(process), variable)) return false;
  return ::syscall(SYS_pidfd_send_signal, held.get(), SIGKILL, nullptr, 0) == 0;
}

}  // namespace

std::size_t kill_processes_of(const fs::path& job) {
  const std::string variable = std::string(variable::kJobDir) + "=" + job.string();
  std::set<std::int64_t> killed;
  for (int round = 0; round < kMaxRounds; ++round) {
    bool any = false;
    std::error_code ignored;
    for (fs::directory_iterator entry("/proc", ignored), end; entry != end; entry.increment(ignored)) {
      const std::optional<std::int64_t> id = parse_int(entry->path().filename().string());
      if (!id || *id == ::getpid() || !kill_if_of(entry->path(), static_cast<int>(*id), variable)) continue;
      any = true;
      killed.insert(*id);
    }
    if (!any) break;
    std::this_thread::sleep_for(kPause);  // they end, and what they have started meanwhile is found next time
  }
  return killed.size();
}

}  // namespace trainwarden::jobs
