// ProcessProbe: what each of the training's processes uses, and all of them together.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "measure/machine/host_probes.h"
#include "measure/machine/kernel_file.h"
#include "measure/machine/metric_table.h"
#include "measure/machine/process_tree.h"

namespace trainwarden::machine {

// What proc/PID/status says.
struct ProcessStatus {
  std::optional<std::uint64_t> rss_kib, anonymous_kib, voluntary_switches, involuntary_switches;
};
ProcessStatus parse_process_status(std::string_view text);

// What proc/PID/statm says, in pages: the same memory as status, at a quarter of the kernel's work.
struct ProcessPages {
  std::uint64_t resident = 0;
  std::uint64_t shared = 0;  // of files, or shared; the rest is anonymous
};
std::optional<ProcessPages> parse_process_pages(std::string_view text);

// A process that was once below a root counts until it ends, also when who started it has ended before; what it used
// stays in the sums. At each look the kAtEachLook with the most processor time are read, and of the others as many that
// each has its turn within kTurnLooks. The tree is walked when a process was started, and the more seldom the more a
// walk costs and the less it finds.
class ProcessProbe final : public Probe {
 public:
  static constexpr std::size_t kMaxChosen = 64;  // that have metrics of their own
  // The same, in all: workers that are started anew each epoch would use up all numbers.
  static constexpr std::size_t kMaxNamed = 512;
  static constexpr std::size_t kAtEachLook = 8;
  static constexpr std::size_t kTurnLooks = 60;
  static constexpr std::size_t kMostLooksToWalk = 20;

  explicit ProcessProbe(const HostPlan& plan);
  void read(Reading& reading) override;
  int every() const override { return kSeldom; }

 private:
  struct Process {
    Process(const std::filesystem::path& folder, pid_t number, const StatLine& first);
    pid_t id;
    StatLine numbers;
    std::optional<double> rss_bytes, anonymous_bytes;
    std::optional<std::uint64_t> voluntary_switches, involuntary_switches;
    std::optional<std::uint64_t> read_bytes, written_bytes, waited_ns;
    KernelFile stat_file, status_file, statm_file, io_file, schedstat_file;
    std::uint64_t reads = 0;  // of the rest
    bool is_read = true;      // at this look
    bool chosen = false;
    bool keeps_open = false;
    std::optional<MetricSet> metrics;
  };
  struct Sums {  // of processes that ended
    double user_ticks = 0, system_ticks = 0, read_bytes = 0, written_bytes = 0;
    bool reads_known = false, writes_known = false;
  };
  using Processes = std::map<pid_t, Process>;

  bool update_due();
  bool walk_is_due();
  void walk(const std::vector<pid_t>& roots);
  void make_room();
  bool update(Process& process);
  void update_rest(Process& process);
  void update_memory(Process& process);
  void add(pid_t id);
  void end(Processes::iterator process);
  void choose();
  void name(Process& process);
  static void set_one(Process& process, Reading& reading);
  void set_sums(Reading& reading);
  std::optional<std::string_view> text_of(KernelFile& file, bool keeps_open);

  std::filesystem::path proc_;
  std::function<std::vector<pid_t>()> roots_;
  MetricSet tree_;
  ProcessTree processes_below_;
  FileBuffer buffer_;
  Processes processes_;
  Sums ended_;
  std::vector<pid_t> last_roots_;
  std::vector<pid_t> order_;   // of processes_: the most processor time first
  std::vector<Process*> due_;  // those that are read at this look
  std::size_t turn_ = 0;       // whose turn it is, of order_ behind kAtEachLook
  std::size_t looks_to_walk_ = 0;
  std::size_t looks_to_choose_ = 0;
  std::size_t wait_ = 0;  // looks, of the last walk to the next
  bool seen_any_ = false;
  std::size_t named_ = 0;
  std::unordered_map<std::string, int> instances_;  // how often each was given; kMaxNamed at most
};

}  // namespace trainwarden::machine
