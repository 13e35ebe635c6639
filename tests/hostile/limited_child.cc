#include "limited_child.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <new>

#include <fmt/format.h>

namespace trainwarden::hostile {
namespace {

constexpr int kFaultExit = 70;
constexpr int kMemoryExit = 71;

void limit_processor() {
  const rlimit limit{kCpuSeconds, kCpuSeconds + 1};
  ::setrlimit(RLIMIT_CPU, &limit);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
}

// What the process allocates, from now on.
void limit_memory() {
  if (kSanitized) return;
  const rlimit limit{kMemoryLimit, kMemoryLimit};
  ::setrlimit(RLIMIT_DATA, &limit);
  std::set_new_handler([] { ::_exit(kMemoryExit); });
}

[[noreturn]] void work_in_child(const std::function<std::string()>& work, int out) {
  limit_processor();
  limit_memory();
  std::string fault;
  try {
    fault = work();
  } catch (const std::exception& error) {
    fault = fmt::format("an exception: {}", error.what());
  }
  [[maybe_unused]] const ssize_t written = ::write(out, fault.data(), fault.size());
  ::_exit(fault.empty() ? 0 : kFaultExit);
}

[[noreturn]] void execute(const std::vector<std::string>& command) {
  limit_processor();
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int file : {0, 1, 2}) ::dup2(nothing, file);
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  ::execv(arguments[0], arguments.data());
  ::_exit(kFaultExit);
}

std::string read_all(int file) {
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(file, buffer, sizeof(buffer))) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  return text;
}

Ending outcome_of(pid_t child, std::string said) {
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  Ending outcome;
  outcome.peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  outcome.cpu_s = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                  1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  if (WIFSIGNALED(status)) {
    const bool late = WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL;
    outcome.fault = late ? fmt::format("more than {} s of the processor", kCpuSeconds)
                         : fmt::format("died of signal {}", WTERMSIG(status));
  } else if (WEXITSTATUS(status) == kMemoryExit) {
    outcome.fault = "more than 512 MiB of memory";
  } else if (WEXITSTATUS(status) == kFaultExit) {
    outcome.fault = said.empty() ? "could not be run" : std::move(said);
  } else if (!kSanitized && outcome.peak_bytes > kMemoryLimit) {
    outcome.fault = fmt::format("{} MiB of memory", outcome.peak_bytes >> 20);
  }
  return outcome;
}

}  // namespace

Ending run_limited(const std::function<std::string()>& work) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {"no pipe", 0, 0};
  const pid_t child = ::fork();
  if (child < 0) return {"no process", 0, 0};
  if (child == 0) work_in_child(work, ends[1]);
  ::close(ends[1]);
  std::string said = read_all(ends[0]);
  ::close(ends[0]);
  return outcome_of(child, std::move(said));
}

Ending run_limited(const std::vector<std::string>& command) {
  const pid_t child = ::fork();
  if (child < 0) return {"no process", 0, 0};
  if (child == 0) execute(command);
  return outcome_of(child, {});
}

}  // namespace trainwarden::hostile
