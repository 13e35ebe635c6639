// GroupProbe: what the control group of the training used, may use, and was kept from.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/machine/control_groups.h"
#include "measure/machine/host_probes.h"
#include "measure/machine/kernel_file.h"
#include "measure/machine/metric_table.h"
#include "measure/machine/pressure_probe.h"

namespace trainwarden::machine {

// The process whose groups and affinity are the training's: the first root that lives, or this one where no roots are
// wanted. Nothing: not yet.
std::optional<std::string> process_of_training(const HostPlan& plan);

// How many processors a quota allows: of version 2's cpu.max, "150000 100000"; nothing for "max".
std::optional<double> parse_cpu_max(std::string_view text);

// Whether a disk ("253:0") stands for others, or for memory, so that its bytes are counted there.
using StandsForOthers = std::function<bool(std::string_view device)>;
struct GroupIo {
  double read_bytes = 0;
  double written_bytes = 0;
};
GroupIo parse_io_stat(std::string_view text, const StandsForOthers& stands_for_others);        // version 2
GroupIo parse_service_bytes(std::string_view text, const StandsForOthers& stands_for_others);  // version 1

// How many processors a list such as "0-3,8" has; nothing where it is no such list.
std::optional<int> count_of_list(std::string_view list);

// The groups are found once, when the training is there. Of processors and memory, the group that counts is the one
// with the tightest limit among the process's own and those around it; without limits its own. What is used is read at
// each look, and at each second one what it may use and what takes longer.
class GroupProbe final : public Probe {
 public:
  explicit GroupProbe(const HostPlan& plan) : plan_(plan), set_(plan.host) {}
  void read(Reading& reading) override;
  int every() const override { return kSeldom; }

 private:
  void find(const std::string& id);
  void find_quota(const ControlGroups::Hierarchy& hierarchy);
  void find_memory(const ControlGroups::Hierarchy& hierarchy);
  void count_processors();
  std::optional<double> quota();
  std::optional<double> memory_limit();
  void read_cpu(Reading& reading);
  void read_limits(Reading& reading);
  void take_throttling(std::string_view text, Reading& reading);
  void read_memory(Reading& reading);
  void read_io(Reading& reading);
  bool stands_for_others(std::string_view device);

  HostPlan plan_;
  MetricSet set_;
  FileBuffer buffer_;
  bool found_ = false;
  std::uint64_t looks_ = 0;
  ControlGroups groups_;
  KernelFile online_, status_;
  std::optional<int> processors_;  // that are on, and that the training's affinity allows
  KernelFile usage_, quota_, period_;
  KernelFile throttling_;  // empty: it is in the same file as the usage
  KernelFile memory_limit_, memory_current_, memory_stat_, memory_events_;
  KernelFile io_;
  std::map<std::string, bool, std::less<>> stacked_;  // by number, as found before
  std::vector<PressureFile> pressure_;
};

}  // namespace trainwarden::machine
