// PressureProbe: for how long tasks waited for processors, disks and memory (Linux's pressure stall information).
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "measure/machine/host_probes.h"
#include "measure/machine/kernel_file.h"
#include "measure/machine/metric_table.h"

namespace trainwarden::machine {

struct PressureTotals {
  std::optional<std::uint64_t> some_us;
  std::optional<std::uint64_t> full_us;  // older kernels have none of processors
};
PressureTotals parse_pressure(std::string_view text);

// Of one resource: a file, and the metrics that it is read into.
class PressureFile {
 public:
  PressureFile(std::filesystem::path path, Known some, Known full) : file_(std::move(path)), some_(some), full_(full) {}
  void read(FileBuffer& buffer, MetricSet& set, Reading& reading);

 private:
  KernelFile file_;
  Known some_;
  Known full_;
};

class PressureProbe final : public Probe {
 public:
  explicit PressureProbe(const HostPlan& plan);
  void read(Reading& reading) override;
  int every() const override { return kSeldom; }

 private:
  FileBuffer buffer_;
  MetricSet host_;
  std::array<PressureFile, 3> files_;
};

}  // namespace trainwarden::machine
