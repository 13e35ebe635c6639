#include "bare_reads.h"

#include <fcntl.h>
#include <unistd.h>

#include <ctime>

#include "bench.h"
#include "measure/machine/control_groups.h"
#include "measure/machine/probe.h"

namespace trainwarden::bench {
namespace {

constexpr std::int64_t kTickNs = 100'000'000;
constexpr std::int64_t kNsPerSecond = 1'000'000'000;

std::int64_t ns_of(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * kNsPerSecond + time.tv_nsec;
}

void sleep_until(std::int64_t ns) {
  const timespec when{static_cast<time_t>(ns / kNsPerSecond), static_cast<long>(ns % kNsPerSecond)};
  ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr);
}

}  // namespace

BareReads::BareReads() {
  constexpr int kSeldom = machine::Probe::kSeldom, kRarely = machine::Probe::kRarely;
  add("/proc/stat", 1);
  for (const char* name : {"meminfo", "diskstats", "net/dev", "pressure/cpu", "pressure/io", "pressure/memory",
                           "self/stat", "self/statm", "self/io", "self/schedstat"}) {
    add(std::string("/proc/") + name, kSeldom);
  }
  add("/proc/loadavg", kRarely);
  add("/proc/vmstat", kRarely);
  add("/proc/self/status", kSeldom * kRarely);
  add_groups();
}

void BareReads::add(const std::string& path, int every) {
  FileDescriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (descriptor.is_open()) files_.push_back({std::move(descriptor), every});
}

void BareReads::add_groups() {
  machine::FileBuffer buffer;
  const machine::ControlGroups groups = machine::find_control_groups("/", "self", buffer);
  const auto add_of = [this](const machine::ControlGroups::Hierarchy& hierarchy, const char* first, const char* second,
                             int every) {
    if (hierarchy.folders.empty()) return;
    add(hierarchy.folders.front() / (hierarchy.version == 2 ? second : first), every);
  };
  constexpr int kSeldom = machine::Probe::kSeldom, kLimits = 2 * kSeldom;
  add_of(groups.cpu_usage, "cpuacct.usage", "cpu.stat", kSeldom);
  if (groups.cpu.version == 1) add_of(groups.cpu, "cpu.stat", "", kSeldom);
  add_of(groups.cpu, "cpu.cfs_quota_us", "cpu.max", kLimits);
  add_of(groups.memory, "memory.usage_in_bytes", "memory.current", kSeldom);
  add_of(groups.memory, "memory.limit_in_bytes", "memory.max", kLimits);
  add_of(groups.memory, "memory.stat", "memory.stat", kLimits);
  add_of(groups.memory, "memory.oom_control", "memory.events", kLimits);
  add_of(groups.io, "blkio.throttle.io_service_bytes", "io.stat", kSeldom);
  if (groups.pressure.empty()) return;
  for (const char* name : {"cpu.pressure", "io.pressure", "memory.pressure"}) {
    add(groups.pressure.front() / name, kSeldom);
  }
}

double BareReads::run(std::chrono::seconds time) {
  const std::int64_t begin_ns = ns_of(CLOCK_MONOTONIC);
  const std::int64_t begin_cpu_ns = ns_of(CLOCK_THREAD_CPUTIME_ID);
  const std::int64_t ticks = time.count() * kNsPerSecond / kTickNs;
  for (std::int64_t tick = 0; tick < ticks; ++tick) {
    for (const File& file : files_) {
      if (tick % file.every != 0) continue;
      [[maybe_unused]] const ssize_t got = ::pread(file.descriptor.get(), buffer_.data(), buffer_.size(), 0);
    }
    keep(buffer_);
    sleep_until(begin_ns + (tick + 1) * kTickNs);
  }
  return static_cast<double>(ns_of(CLOCK_THREAD_CPUTIME_ID) - begin_cpu_ns) / static_cast<double>(kNsPerSecond);
}

}  // namespace trainwarden::bench
