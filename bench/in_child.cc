#include "in_child.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <exception>

namespace trainwarden::bench {
namespace {

[[noreturn]] void run_child(int pipe_end, const std::function<std::vector<double>()>& work) {
  try {
    const std::vector<double> numbers = work();
    const std::size_t bytes = numbers.size() * sizeof(double);  // far less than what a pipe takes at once
    ::_exit(::write(pipe_end, numbers.data(), bytes) == static_cast<ssize_t>(bytes) ? 0 : 1);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    ::_exit(1);
  }
}

}  // namespace

Result<ChildReport> in_child(const std::function<std::vector<double>()>& work) {
  int ends[2];
  if (::pipe(ends) != 0) return Status(Code::kResourceExhausted, "no pipe");
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) run_child(ends[1], work);
  ::close(ends[1]);
  ChildReport report;
  double number = 0;
  while (child > 0 && ::read(ends[0], &number, sizeof number) == sizeof number) report.numbers.push_back(number);
  ::close(ends[0]);
  int ended = 0;
  rusage usage{};
  if (child < 0 || ::wait4(child, &ended, 0, &usage) != child || !WIFEXITED(ended) || WEXITSTATUS(ended) != 0) {
    return Status(Code::kInternal, "the process that was to measure failed");
  }
  report.peak_mib = static_cast<double>(usage.ru_maxrss) / 1024;
  return report;
}

double thread_cpu_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

}  // namespace trainwarden::bench
