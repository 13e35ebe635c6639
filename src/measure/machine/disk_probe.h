// DiskProbe: what the machine's whole disks did.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "measure/machine/host_probes.h"
#include "measure/machine/kernel_file.h"
#include "measure/machine/metric_table.h"

namespace trainwarden::machine {

class DiskProbe final : public Probe {
 public:
  explicit DiskProbe(const HostPlan& plan);
  void read(Reading& reading) override;

  int every() const override { return kSeldom; }
  void take(std::string_view text, Reading& reading);  // of proc/diskstats

 private:
  bool is_whole_disk(std::string_view name);

  FileBuffer buffer_;
  KernelFile diskstats_;
  std::filesystem::path block_;
  std::map<std::string, bool, std::less<>> whole_;  // by name, as found before
  NamedSets disks_;
};

}  // namespace trainwarden::machine
