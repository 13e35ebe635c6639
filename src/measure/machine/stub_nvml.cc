// A library that passes for NVML in tests: two GPUs, the second of which can say little. What it does is set through
// stub_nvml_set().
#include <atomic>

#include "measure/machine/nvml.h"

namespace {

using trainwarden::machine::Nvml;

enum Behaviour { kNormal, kNothingSupported, kFailingInit, kNoGpu, kLost };
std::atomic<int> behaviour{kNormal};
std::atomic<int> calls{0};
std::atomic<bool> held{false};
std::atomic<int> waiting{0};
std::atomic<int> pending_events{0};

char first_gpu, second_gpu, event_set, samples[8];
int sample_count = 0;

constexpr int kNotSupported = 3;
constexpr int kLostOutcome = 15;

// What each question is answered with: the second GPU knows its utilisation alone.
int outcome_for(Nvml::Device device) {
  ++calls;
  while (held) {
    waiting = 1;
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  if (behaviour == kNothingSupported || device == &second_gpu) return kNotSupported;
  return behaviour == kLost ? kLostOutcome : Nvml::kSuccess;
}

template <class Number>
int answer(Nvml::Device device, Number* to, Number value) {
  const int outcome = outcome_for(device);
  if (outcome == Nvml::kSuccess) *to = value;
  return outcome;
}

}  // namespace

#define STUB extern "C" __attribute__((visibility("default")))

STUB void stub_nvml_set(int how) {
  behaviour = how;
}
STUB int stub_nvml_calls() {
  return calls.exchange(0);
}
STUB void stub_nvml_hold(int hold) {
  held = hold != 0;
}
STUB int stub_nvml_waiting() {
  return waiting;
}
STUB void stub_nvml_report_xid(int count) {
  pending_events = count;
}

STUB int nvmlInit_v2() {
  return behaviour == kFailingInit ? 9 : 0;
}
STUB int nvmlShutdown() {
  return 0;
}
STUB int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = behaviour == kNoGpu ? 0 : 2;
  return 0;
}
STUB int nvmlDeviceGetHandleByIndex_v2(unsigned index, Nvml::Device* device) {
  *device = index == 0 ? &first_gpu : &second_gpu;
  return 0;
}
STUB int nvmlDeviceGetUtilizationRates(Nvml::Device device, Nvml::Utilisation* use) {
  const int outcome = outcome_for(device == &second_gpu && behaviour == kNormal ? &first_gpu : device);
  if (outcome == 0) *use = device == &first_gpu ? Nvml::Utilisation{75, 20} : Nvml::Utilisation{5, 4'000'000'000};
  return outcome;
}
STUB int nvmlDeviceGetMemoryInfo(Nvml::Device device, Nvml::MemoryInfo* memory) {
  return answer(device, memory, Nvml::MemoryInfo{80'000, 30'000, 50'000});
}
STUB int nvmlDeviceGetPowerUsage(Nvml::Device device, unsigned* to) {
  return answer(device, to, 350'500u);
}
STUB int nvmlDeviceGetEnforcedPowerLimit(Nvml::Device device, unsigned* to) {
  return answer(device, to, 700'000u);
}
STUB int nvmlDeviceGetTotalEnergyConsumption(Nvml::Device device, unsigned long long* to) {
  return answer(device, to, 123'456'789ull);
}
STUB int nvmlDeviceGetTemperature(Nvml::Device device, int, unsigned* to) {
  return answer(device, to, 65u);
}
STUB int nvmlDeviceGetClockInfo(Nvml::Device device, int type, unsigned* to) {
  return answer(device, to, type == 1 ? 1980u : 2619u);
}
STUB int nvmlDeviceGetCurrentClocksThrottleReasons(Nvml::Device device, unsigned long long* to) {
  return answer(device, to, 0x44ull);
}
STUB int nvmlDeviceGetCurrPcieLinkGeneration(Nvml::Device device, unsigned* to) {
  return answer(device, to, 4u);
}
STUB int nvmlDeviceGetMaxPcieLinkGeneration(Nvml::Device device, unsigned* to) {
  return answer(device, to, 5u);
}
STUB int nvmlDeviceGetCurrPcieLinkWidth(Nvml::Device device, unsigned* to) {
  return answer(device, to, 8u);
}
STUB int nvmlDeviceGetMaxPcieLinkWidth(Nvml::Device device, unsigned* to) {
  return answer(device, to, 16u);
}
// Sent over NVLink: not supported; received, and PCIe: of two types.
STUB int nvmlDeviceGetFieldValues(Nvml::Device device, int count, Nvml::FieldValue* values) {
  if (const int outcome = outcome_for(device); outcome != 0) return outcome;
  for (int at = 0; at < count; ++at) {
    Nvml::FieldValue& value = values[at];
    value.outcome = value.id == 138 ? kNotSupported : 0;
    value.type = value.id == 139 ? Nvml::kUnsignedLongLong : Nvml::kUnsigned;
    if (value.id == 139) {
      value.value.as_unsigned_long_long = 10;
    } else {
      value.value.as_unsigned = value.id;
    }
  }
  return 0;
}
STUB int nvmlDeviceGetTotalEccErrors(Nvml::Device device, int type, int, unsigned long long* to) {
  return answer(device, to, type == 0 ? 7ull : 1ull);
}
STUB int nvmlEventSetCreate(void** set) {
  *set = &event_set;
  return 0;
}
STUB int nvmlEventSetFree(void*) {
  return 0;
}
STUB int nvmlDeviceRegisterEvents(Nvml::Device device, unsigned long long, void*) {
  return device == &second_gpu || behaviour == kNothingSupported ? kNotSupported : 0;
}
STUB int nvmlEventSetWait_v2(void*, Nvml::EventData* event, unsigned) {
  if (pending_events == 0) return Nvml::kTimeout;
  --pending_events;
  *event = {&first_gpu, 8, 79, 0, 0};
  return 0;
}
STUB int nvmlGpmQueryDeviceSupport(Nvml::Device device, Nvml::GpmSupport* support) {
  return answer(device, &support->is_supported, 1u);
}
STUB int nvmlGpmSampleAlloc(void** sample) {
  *sample = &samples[sample_count++ % 8];
  return 0;
}
STUB int nvmlGpmSampleFree(void*) {
  return 0;
}
STUB int nvmlGpmSampleGet(Nvml::Device device, void* sample) {
  static char times = 0;
  *static_cast<char*>(sample) = ++times;
  return outcome_for(device);
}
// The second must be the newer one.
STUB int nvmlGpmMetricsGet(Nvml::GpmQuestion* question) {
  if (*static_cast<char*>(question->second) - *static_cast<char*>(question->first) != 1) return 2;
  for (unsigned at = 0; at < question->count; ++at) {
    Nvml::GpmMetric& metric = question->metrics[at];
    metric.outcome = metric.id == 5 ? kNotSupported : 0;
    metric.value = metric.id * 10;
  }
  return 0;
}
