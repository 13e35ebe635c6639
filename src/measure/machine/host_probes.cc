#include "measure/machine/host_probes.h"

#include "measure/machine/disk_probe.h"
#include "measure/machine/group_probe.h"
#include "measure/machine/memory_probe.h"
#include "measure/machine/network_probe.h"
#include "measure/machine/pressure_probe.h"
#include "measure/machine/process_probe.h"
#include "measure/machine/processor_probe.h"

namespace trainwarden::machine {

std::vector<std::unique_ptr<Probe>> host_probes(const HostPlan& plan) {
  std::vector<std::unique_ptr<Probe>> probes;
  const auto is_there = [&plan](const char* file) { return KernelFile(plan.root / file).is_there(); };
  if (is_there("proc/stat")) probes.push_back(std::make_unique<ProcessorProbe>(plan));
  if (is_there("proc/meminfo")) probes.push_back(std::make_unique<MemoryProbe>(plan));
  if (is_there("proc/vmstat")) probes.push_back(std::make_unique<PagingProbe>(plan));
  if (is_there("proc/diskstats")) probes.push_back(std::make_unique<DiskProbe>(plan));
  if (is_there("proc/net/dev")) probes.push_back(std::make_unique<NetworkProbe>(plan));
  if (auto rdma = std::make_unique<RdmaProbe>(plan); !rdma->empty()) probes.push_back(std::move(rdma));
  if (is_there("proc/pressure")) probes.push_back(std::make_unique<PressureProbe>(plan));
  probes.push_back(std::make_unique<GroupProbe>(plan));  // what there is shows when the training is there
  if (plan.roots) probes.push_back(std::make_unique<ProcessProbe>(plan));
  return probes;
}

}  // namespace trainwarden::machine
