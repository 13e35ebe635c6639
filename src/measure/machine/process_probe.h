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

// A process that was once below a root counts until it ends, also when who started it has ended before; what it used
// stays in the sums. The tree is walked the more seldom the more there is to open. At each tick the kMaxChosen with
// the most processor time are read, the others at walks.
class ProcessProbe final : public Probe {
 public:
  static constexpr std::size_t kMaxChosen = 64;
  // That get metrics of their own, in all: workers that are started anew each epoch would use up all numbers.
  static constexpr std::size_t kMaxNamed = 512;

  explicit ProcessProbe(const HostPlan& plan);
  void read(Reading& reading) override;

 private:
  struct Process {
    Process(const std::filesystem::path& folder, pid_t number, const StatLine& first);
    pid_t id;
    StatLine numbers;
    ProcessStatus status;
    std::optional<std::uint64_t> read_bytes, written_bytes, waited_ns;
    KernelFile stat_file, status_file, io_file, schedstat_file;
    bool is_read = true;  // at this tick
    bool chosen = false;
    bool keeps_open = false;
    std::optional<MetricSet> metrics;
  };
  struct Sums {  // of processes that ended
    double user_ticks = 0, system_ticks = 0, read_bytes = 0, written_bytes = 0;
    bool reads_known = false, writes_known = false;
  };
  using Processes = std::map<pid_t, Process>;

  void walk(const std::vector<pid_t>& roots);
  bool update(Process& process);
  void update_rest(Process& process);
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
  std::size_t ticks_to_walk_ = 0;
  bool seen_any_ = false;
  std::size_t named_ = 0;
  std::unordered_map<std::string, int> instances_;  // how often each was given; kMaxNamed at most
};

}  // namespace trainwarden::machine
