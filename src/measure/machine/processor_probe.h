// ProcessorProbe: what the machine's processors did, and how many threads want one.
#pragma once

#include <cstdint>
#include <string_view>

#include "measure/machine/host_probes.h"
#include "measure/machine/kernel_file.h"
#include "measure/machine/metric_table.h"

namespace trainwarden::machine {

class ProcessorProbe final : public Probe {
 public:
  explicit ProcessorProbe(const HostPlan& plan);
  void read(Reading& reading) override;

  void take_stat(std::string_view text, Reading& reading);     // of proc/stat
  void take_loadavg(std::string_view text, Reading& reading);  // of proc/loadavg

 private:
  FileBuffer buffer_;
  KernelFile stat_;
  KernelFile loadavg_;
  MetricSet host_;
  NamedSets processors_;
  std::uint64_t looks_ = 0;
};

}  // namespace trainwarden::machine
