#include "hook/capture/budget/beside_time.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace trainwarden::capture {
namespace {

// 0 when the clock's process has ended.
std::int64_t read_ns(clockid_t clock) {
  timespec now{};
  if (::clock_gettime(clock, &now) != 0) return 0;
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::optional<clockid_t> clock_of(const char* process) {
  if (process == nullptr) return std::nullopt;
  pid_t pid = 0;
  const char* const end = process + std::strlen(process);
  const auto parsed = std::from_chars(process, end, pid);
  clockid_t clock{};
  if (parsed.ec != std::errc() || parsed.ptr != end || pid <= 0) return std::nullopt;
  return ::clock_getcpuclockid(pid, &clock) == 0 ? std::optional(clock) : std::nullopt;
}

}  // namespace

BesideTime::BesideTime(std::function<std::int64_t()> writer_ns, const char* watcher, int workers)
    : writer_ns_(std::move(writer_ns)),
      watcher_(clock_of(watcher)),
      workers_(std::max(workers, 1)),
      watcher_began_ns_(watcher_ ? read_ns(*watcher_) : 0),
      process_began_ns_(read_ns(CLOCK_PROCESS_CPUTIME_ID)) {}

std::int64_t BesideTime::spent_ns(std::int64_t wall_ns) const {
  std::int64_t spent_ns = writer_ns_();
  if (watcher_) spent_ns += std::max<std::int64_t>(read_ns(*watcher_) - watcher_began_ns_, 0) / workers_;
  const auto used_ns = static_cast<double>(read_ns(CLOCK_PROCESS_CPUTIME_ID) - process_began_ns_);
  const double busy = wall_ns > 0 ? std::max(used_ns / static_cast<double>(wall_ns), 1.0) : 1.0;
  return static_cast<std::int64_t>(static_cast<double>(spent_ns) / busy);
}

}  // namespace trainwarden::capture
