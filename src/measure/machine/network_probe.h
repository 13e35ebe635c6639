// NetworkProbe: what network interfaces carried; RdmaProbe: the same of adapters that bypass the kernel.
#pragma once

#include <string_view>
#include <vector>

#include "measure/machine/host_probes.h"
#include "measure/machine/kernel_file.h"
#include "measure/machine/metric_table.h"

namespace trainwarden::machine {

class NetworkProbe final : public Probe {
 public:
  explicit NetworkProbe(const HostPlan& plan);
  void read(Reading& reading) override;

  int every() const override { return kSeldom; }
  void take(std::string_view text, Reading& reading);  // of proc/net/dev

 private:
  FileBuffer buffer_;
  KernelFile dev_;
  NamedSets interfaces_;
};

class RdmaProbe final : public Probe {
 public:
  explicit RdmaProbe(const HostPlan& plan);
  void read(Reading& reading) override;
  int every() const override { return kSeldom; }
  bool empty() const { return ports_.empty(); }

 private:
  struct Port {
    KernelFile received;
    KernelFile sent;
    MetricSet set;
  };
  FileBuffer buffer_;
  std::vector<Port> ports_;  // those that were there at the start
};

}  // namespace trainwarden::machine
