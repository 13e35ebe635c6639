#include "core/process/child.h"

#include <algorithm>
#include <cerrno>
#include <csignal>

#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/process/descriptors.h"
#include "core/process/spawn.h"

namespace trainwarden::process {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLookInterval{10};  // where nothing wakes us
constexpr milliseconds kLongestPoll{60'000};
constexpr milliseconds kReapTime{10'000};  // after SIGKILL; longer only in a system call that cannot be ended
constexpr std::uint64_t kBytesPerMaxRss = 1024;

std::chrono::microseconds duration_of(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

}  // namespace

Result<Child> Child::start(const Program& program) {
  Pipe life;
  if (program.ends_with_us) {
    TRAINWARDEN_ASSIGN_OR_RETURN(life, open_pipe());
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const pid_t id, spawn(program, life.reading.get()));
  return Child(id, std::move(life.writing), program.own_group);
}

Child::Child(pid_t id, FileDescriptor life, bool own_group)
    : id_(id), life_(std::move(life)), own_group_(own_group), started_(Clock::now()) {}

Child::Child(Child&& other) noexcept
    : id_(std::exchange(other.id_, -1)),
      life_(std::move(other.life_)),
      own_group_(other.own_group_),
      lost_(other.lost_),
      started_(other.started_),
      record_(std::exchange(other.record_, ExitRecord{})) {}

Child& Child::operator=(Child&& other) noexcept {
  Child taken(std::move(other));
  std::swap(id_, taken.id_);
  std::swap(life_, taken.life_);
  std::swap(own_group_, taken.own_group_);
  std::swap(lost_, taken.lost_);
  std::swap(started_, taken.started_);
  std::swap(record_, taken.record_);
  return *this;
}

FileDescriptor Child::open_end() const {
#ifdef SYS_pidfd_open
  if (id_ > 0 && !record_ && !lost_) return FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, id_, 0)));
#endif
  return {};
}

bool Child::has_ended() {
  if (record_) return true;
  siginfo_t info{};
  const int answer = ::waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOHANG | WNOWAIT);
  lost_ = answer != 0 && errno == ECHILD;
  return lost_ || (answer == 0 && info.si_pid == id_);
}

bool Child::wait_for(milliseconds time, const Meanwhile& meanwhile) {
  const Clock::time_point deadline = Clock::now() + time;
  while (!has_ended()) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return false;
    if (meanwhile) {
      meanwhile(std::min(left, kLookInterval));
    } else {
      const FileDescriptor end = open_end();
      pollfd event{end.get(), POLLIN, 0};
      ::poll(&event, 1, static_cast<int>(std::min(left, end.is_open() ? kLongestPoll : kLookInterval).count()));
    }
  }
  return true;
}

const ExitRecord& Child::reap() {
  if (record_) return *record_;
  ExitRecord record;
  record.wall = Clock::now() - started_;
  int status = 0;
  rusage use{};
  if (!lost_ && ::wait4(id_, &status, 0, &use) == id_) {
    const bool signalled = WIFSIGNALED(status);
    record.how = signalled ? ExitRecord::How::kSignalled : ExitRecord::How::kExited;
    record.number = signalled ? WTERMSIG(status) : WEXITSTATUS(status);
    record.user_cpu = duration_of(use.ru_utime);
    record.system_cpu = duration_of(use.ru_stime);
    record.peak_memory_bytes = static_cast<std::uint64_t>(use.ru_maxrss) * kBytesPerMaxRss;
  }
  record_ = record;
  return *record_;
}

void Child::send(int signal_number) {
  if (!record_ && !lost_ && id_ > 0) ::kill(id_, signal_number);
}

void Child::send_to_group(int signal_number) {
  if (!record_ && !lost_ && id_ > 0 && own_group_) ::kill(-id_, signal_number);
}

// The group's number stays taken while its leader is a zombie, so that what it left behind is killed before the reap.
bool Child::signal_and_reap(int signal_number, milliseconds time, const Meanwhile& meanwhile) {
  send_to_group(signal_number);
  if (!own_group_ || signal_number == SIGKILL) send(signal_number);  // it may have left its group
  if (!wait_for(time, meanwhile)) return false;
  send_to_group(SIGKILL);
  reap();
  return true;
}

bool Child::end_group(milliseconds kill_after, const Meanwhile& meanwhile) {
  if (record_ || signal_and_reap(SIGTERM, kill_after, meanwhile)) return true;
  return kill_group(meanwhile);
}

bool Child::kill_group(const Meanwhile& meanwhile) {
  return record_ || signal_and_reap(SIGKILL, kReapTime, meanwhile);
}

}  // namespace trainwarden::process
