// The child runs in our memory until it has become the program (vfork): this takes no longer in a process with
// hundreds of gigabytes, and runs no handlers of fork. What it needs is made before; it calls what is safe in a signal
// handler, and changes nothing but its own plan.
#include "core/process/spawn.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/file_descriptor.h"
#include "core/base/text.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TW_VFORK_IS_FORK 1
#define TW_UNWATCHED __attribute__((disable_sanitizer_instrumentation))
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define TW_VFORK_IS_FORK 1
#endif
#ifndef TW_UNWATCHED
#define TW_UNWATCHED  // what runs when the memory is limited: a sanitizer that watches it may need more
#endif

namespace trainwarden::process {
namespace {

constexpr int kFirstOther = 3;
constexpr const char* kDefaultPath = "/usr/local/bin:/bin:/usr/bin";

enum class Step : std::uint8_t { kStart, kFolder, kControlGroup };

struct Failure {
  int error = 0;
  Step step = Step::kStart;  // that failed
};

struct Move {
  int ours = -1;
  int number = -1;  // in the program
  int parked = -1;  // a copy of `ours` above all numbers
};

// All that the child needs; it lives longer than the child's use of it.
struct ChildPlan {
  std::vector<std::string> places;  // where the program may lie
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::vector<char*> place_pointers;
  std::vector<char*> argument_pointers;
  std::vector<char*> environment_pointers;
  std::vector<Move> moves;
  const Program* program = nullptr;
  int life = -1;        // its number in the program
  int first_other = 0;  // descriptors from here on are not the program's
  int report = -1;      // a Failure is written here
};

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// As execvp(3): a word with a slash is a path.
std::vector<std::string> places_of(const std::string& program) {
  if (program.find('/') != std::string::npos) return {program};
  const char* path = std::getenv("PATH");
  std::string_view folders = path != nullptr ? path : kDefaultPath;
  std::vector<std::string> places;
  while (true) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    const std::string folder(folders.substr(0, end));
    places.push_back((folder.empty() ? "." : folder) + "/" + program);
    if (end == folders.size()) return places;
    folders.remove_prefix(end + 1);
  }
}

ChildPlan make_child_plan(const Program& program, int life, int report) {
  ChildPlan plan;
  plan.program = &program;
  plan.report = report;
  plan.places = places_of(program.command.front());
  plan.arguments = program.command;
  plan.environment = environment_with(program.environment);
  plan.place_pointers = pointers_to(plan.places);
  plan.argument_pointers = pointers_to(plan.arguments);
  plan.environment_pointers = pointers_to(plan.environment);
  plan.first_other = kFirstOther;
  for (const auto& [number, ours] : program.descriptors) {
    plan.moves.push_back({ours, number});
    plan.first_other = std::max(plan.first_other, number + 1);
  }
  if (life >= 0) {
    plan.life = plan.first_other++;
    plan.moves.push_back({life, plan.life});
  }
  return plan;
}

[[noreturn]] void fail(const ChildPlan& plan, Step step = Step::kStart) {
  const Failure failure{errno, step};
  static_cast<void>(!::write(plan.report, &failure, sizeof failure));
  ::_exit(127);
}

// First out of the way of each other, then into their places.
void place_descriptors(ChildPlan& plan) {
  plan.report = ::fcntl(plan.report, F_DUPFD_CLOEXEC, plan.first_other);
  for (Move& move : plan.moves) {
    move.parked = ::fcntl(move.ours, F_DUPFD_CLOEXEC, plan.first_other);
    if (move.parked < 0) fail(plan);
  }
  for (const Move& move : plan.moves) {
    if (::dup2(move.parked, move.number) < 0) fail(plan);
  }
  if (!plan.program->closes_others) return;
  const auto first = static_cast<unsigned>(plan.first_other);
  if (::close_range(first, UINT_MAX, CLOSE_RANGE_CLOEXEC) == 0) return;
  const long last = std::min(::sysconf(_SC_OPEN_MAX), 65536L);  // a kernel before 5.11
  for (int number = plan.first_other; number < last; ++number) ::fcntl(number, F_SETFD, FD_CLOEXEC);
}

// SIGIO, which ends a process, when the other end is closed. PR_SET_PDEATHSIG would watch our thread, not us.
void end_with_parent(const ChildPlan& plan) {
  ::fcntl(plan.life, F_SETOWN, ::getpid());
  ::fcntl(plan.life, F_SETFL, O_ASYNC | O_NONBLOCK);
  char byte = 0;
  if (::read(plan.life, &byte, 1) == 0) ::_exit(127);  // closed before the signal was asked for
}

TW_UNWATCHED void set_limits(const Program& program) {
  const rlimit no_core{0, 0};
  if (!program.core_file) ::setrlimit(RLIMIT_CORE, &no_core);
  const rlimit memory{program.memory_bytes, program.memory_bytes};
  if (program.memory_bytes != 0) ::setrlimit(RLIMIT_AS, &memory);
  if (program.nice != 0) ::setpriority(PRIO_PROCESS, 0, ::getpriority(PRIO_PROCESS, 0) + program.nice);
}

// "0" stands for the process that writes it.
void enter_control_groups(const ChildPlan& plan) {
  for (const int entry : plan.program->control_groups) {
    if (::write(entry, "0", 1) != 1) fail(plan, Step::kControlGroup);
  }
}

// No handler of ours may run in the child, whose memory is ours.
void set_signals(const ChildPlan& plan) {
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action {};
    if (::sigaction(number, nullptr, &action) != 0) continue;
    const bool ignored = action.sa_handler == SIG_IGN;
    if (ignored && sigismember(&plan.program->signals.reset, number) != 1) continue;
    ::signal(number, SIG_DFL);
  }
  ::sigprocmask(SIG_SETMASK, &plan.program->signals.blocked, nullptr);
}

// As execvp(3), but what is neither a program nor has a first line "#!" is not given to a shell.
TW_UNWATCHED void try_places(char* const* places, char* const* arguments, char* const* environment) {
  int error = ENOENT;
  for (; *places != nullptr; ++places) {
    ::execve(*places, arguments, environment);
    if (errno == EACCES) error = EACCES;
    const bool elsewhere = errno == EACCES || errno == ENOENT || errno == ENOTDIR || errno == ESTALE;
    if (!elsewhere) return;
  }
  errno = error;
}

[[noreturn]] TW_UNWATCHED void become_program(ChildPlan& plan) {
  if (plan.program->own_group) ::setpgid(0, 0);
  enter_control_groups(plan);
  place_descriptors(plan);
  if (plan.life >= 0) end_with_parent(plan);
  if (!plan.program->folder.empty() && ::chdir(plan.program->folder.c_str()) != 0) fail(plan, Step::kFolder);
  set_signals(plan);
  char* const* places = plan.place_pointers.data();
  char* const* arguments = plan.argument_pointers.data();
  char* const* environment = plan.environment_pointers.data();
  set_limits(*plan.program);
  try_places(places, arguments, environment);
  fail(plan);
}

Status start_error(const Program& program, const Failure& failure) {
  const int error = failure.error;
  if (failure.step == Step::kControlGroup) {
    return Status(Code::kPermissionDenied,
                  fmt::format("cannot enter the control group: {}; may this user move processes between its group and "
                              "that one?",
                              std::strerror(error)));
  }
  if (failure.step == Step::kFolder) {
    return Status(Code::kNotFound,
                  fmt::format("cannot work in {}: {}", printable(program.folder), std::strerror(error)));
  }
  const std::string what = fmt::format("cannot start {}: {}", printable(program.command.front()), std::strerror(error));
  if (error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE) {
    return Status(Code::kUnavailable, what + "; is there room for a process more?");
  }
  if (error == ENOENT || error == ENOTDIR) {
    return Status(Code::kNotFound, what +
                                       "; is it the path of a program, or in PATH, and is the interpreter there that "
                                       "its first line names?");
  }
  if (error == ENOEXEC) return Status(Code::kInvalidArgument, what + "; a script begins with a line such as #!/bin/sh");
  const Code code = error == EACCES || error == EPERM ? Code::kPermissionDenied : Code::kInvalidArgument;
  return Status(code, what + "; may it be executed (chmod +x)?");
}

// The child has become the program, or has gone, when vfork() returns here; what it reported is there by then.
bool read_failure(int report, Failure& failure) {
#ifndef TW_VFORK_IS_FORK
  ::fcntl(report, F_SETFL, O_NONBLOCK);  // another child may have inherited the writing end and keep it open
#endif
  ssize_t bytes = 0;
  do {
    bytes = ::read(report, &failure, sizeof failure);
  } while (bytes < 0 && errno == EINTR);
  return bytes == static_cast<ssize_t>(sizeof failure);
}

// -1, with errno, when there is no room for a process.
pid_t start_child(ChildPlan& plan) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t id = ::vfork();  // NOLINT(clang-analyzer-security.insecureAPI.vfork): see the head of this file
  if (id == 0) become_program(plan);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);  // leaves errno as it is
  return id;
}

}  // namespace

Result<pid_t> spawn(const Program& program, int life) {
  if (program.command.empty()) return Status(Code::kInvalidArgument, "expected a program to start, found none");
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return start_error(program, {errno, Step::kStart});
  const FileDescriptor report(ends[0]);
  FileDescriptor theirs(ends[1]);
  ChildPlan plan = make_child_plan(program, life, theirs.get());
  const pid_t id = start_child(plan);
  if (id < 0) return start_error(program, {errno, Step::kStart});
  theirs = FileDescriptor();
  Failure failure;
  if (!read_failure(report.get(), failure)) return id;
  ::waitpid(id, nullptr, 0);
  return start_error(program, failure);
}

}  // namespace trainwarden::process
