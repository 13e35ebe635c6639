// MemoryProbe: how much memory the machine has; PagingProbe: what came and went for want of it.
#pragma once

#include <string_view>

#include "measure/machine/host_probes.h"
#include "measure/machine/kernel_file.h"
#include "measure/machine/metric_table.h"

namespace trainwarden::machine {

class MemoryProbe final : public Probe {
 public:
  explicit MemoryProbe(const HostPlan& plan) : meminfo_(plan.root / "proc/meminfo"), host_(plan.host) {}
  void read(Reading& reading) override;

  int every() const override { return kSeldom; }
  void take(std::string_view text, Reading& reading);  // of proc/meminfo

 private:
  FileBuffer buffer_;
  KernelFile meminfo_;
  MetricSet host_;
};

class PagingProbe final : public Probe {
 public:
  explicit PagingProbe(const HostPlan& plan) : vmstat_(plan.root / "proc/vmstat"), host_(plan.host) {}
  void read(Reading& reading) override;
  // The kernel adds up the counters of all processors for it: it costs twice as much as any other file.
  int every() const override { return kRarely; }

  void take(std::string_view text, Reading& reading);  // of proc/vmstat

 private:
  FileBuffer buffer_;
  KernelFile vmstat_;
  MetricSet host_;
};

}  // namespace trainwarden::machine
