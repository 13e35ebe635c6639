// What a tick of the host's probes costs, of which processor time is the measure: on this machine, beside what reading
// the same files takes without a look at them; and by processor, on made machines with few and with many.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "bench.h"
#include "core/base/file_descriptor.h"
#include "measure/machine/host_probes.h"
#include "measure/machine/reading.h"
#include "temporary_folder.h"

namespace trainwarden::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kRounds = 15;
constexpr int kTicks = 200;  // in a round

// Of one call, on average.
template <class Call>
double processor_ns(Call&& call) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
  };
  const double begin = now();
  for (int i = 0; i < kTicks; ++i) call();
  return (now() - begin) / kTicks;
}

// As a sampler reads them: each at its n-th ticks.
class Sampled {
 public:
  Sampled(const fs::path& root, bool with_this_process) {
    machine::HostPlan plan{.root = root, .host = "here", .roots = {}};
    if (with_this_process) plan.roots = [] { return std::vector<pid_t>{::getpid()}; };
    probes_ = machine::host_probes(plan);
    tick();
  }
  void tick() {
    reading_.begin_tick();
    for (const auto& probe : probes_) {
      if (ticks_ % probe->every() == 0) probe->read(reading_);
    }
    ++ticks_;
  }
  std::size_t values() const { return reading_.values().size(); }

 private:
  std::vector<std::unique_ptr<machine::Probe>> probes_;
  machine::Reading reading_;
  int ticks_ = 0;
};

// The same files, to their ends, and nothing done with them; a process has four.
class Untouched {
 public:
  Untouched() {
    for (const char* name : {"stat", "loadavg", "meminfo", "diskstats", "net/dev", "pressure/cpu", "pressure/io",
                             "pressure/memory", "self/stat", "self/status", "self/io", "self/schedstat"}) {
      FileDescriptor file(::open((fs::path("/proc") / name).c_str(), O_RDONLY | O_CLOEXEC));
      if (file.is_open()) files_.push_back(std::move(file));
    }
  }
  void read() {
    for (const FileDescriptor& file : files_) {
      ssize_t got = 0;
      for (off_t at = 0; (got = ::pread(file.get(), buffer_.data(), buffer_.size(), at)) > 0;) at += got;
    }
    keep(buffer_);
  }

 private:
  std::vector<FileDescriptor> files_;
  std::string buffer_ = std::string(std::size_t{1} << 16, '\0');
};

void write_processors(const fs::path& root, int count) {
  fs::create_directories(root / "proc");
  std::ofstream stat(root / "proc/stat");
  stat << "cpu  25600 0 12800 256000 2560 0 10 20 0 0\n";
  for (int i = 0; i < count; ++i) stat << fmt::format("cpu{} {} 0 12345678 256000000 2560 0 10 20 0 0\n", i, 1000 + i);
}

Result<std::vector<Figure>> measure() {
  const TemporaryFolder few_folder, many_folder;
  constexpr int kFew = 16, kMany = 256;
  write_processors(few_folder.path(), kFew);
  write_processors(many_folder.path(), kMany);
  Sampled here("/", true), few(few_folder.path(), false), many(many_folder.path(), false);
  Untouched untouched;
  constexpr std::size_t kHere = 0, kFiles = 1, kFewArm = 2, kManyArm = 3;
  const PairedRuns runs = measure_interleaved(kRounds, std::vector<std::function<double()>>{
                                                           [&] { return processor_ns([&] { here.tick(); }); },
                                                           [&] { return processor_ns([&] { untouched.read(); }); },
                                                           [&] { return processor_ns([&] { few.tick(); }); },
                                                           [&] { return processor_ns([&] { many.tick(); }); },
                                                       });
  const auto microseconds = [&](std::size_t arm) {
    const Spread ns = runs.ns(arm);
    return Spread{ns.low / 1e3, ns.median / 1e3, ns.high / 1e3};
  };
  const std::string name = "machine.tick";
  return std::vector<Figure>{
      {name, microseconds(kHere), "us", Goal{},
       fmt::format("{} values of this machine and this process: the kernel, which writes the files", here.values())},
      {name + ".vs_reading", runs.ratio(kHere, kFiles), "ratio", at_most(4),
       "the files of control groups, and those of memory's pages at each fifth tick, are read besides"},
      {name + ".processors", runs.ratio(kManyArm, kFewArm), "ratio", at_most(kMany / kFew),
       fmt::format("{} processors to {}; ordinary files, so that it is our part", kMany, kFew)},
  };
}

}  // namespace

std::vector<Benchmark> benchmarks() {
  return {{"machine.tick", measure}};
}

}  // namespace trainwarden::bench
