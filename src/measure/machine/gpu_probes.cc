#include "measure/machine/gpu_probes.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "measure/machine/metric_table.h"
#include "measure/machine/nvml.h"

namespace trainwarden::machine {
namespace {

constexpr unsigned kMaxGpus = 64;
constexpr double kMilli = 1e3;  // in one
constexpr double kMega = 1e6;
constexpr double kKilobyte = 1024;
constexpr double kPercent = 100;  // in one

// What each GPU is asked once, and no more when it cannot say.
enum Question : std::size_t {
  kUtilisation,
  kMemory,
  kPower,
  kPowerLimit,
  kEnergy,
  kTemperature,
  kSmClock,
  kMemoryClock,
  kReasons,
  kLinkGeneration,
  kMaxLinkGeneration,
  kLinkWidth,
  kMaxLinkWidth,
  kFields,
  kCorrected,
  kUncorrected,
  kGpm,
  kQuestions
};

struct Field {
  unsigned id;
  unsigned scope;
  Known metric;
  double unit;
};
constexpr unsigned kAllLinks = std::numeric_limits<unsigned>::max();
constexpr Field kFieldTable[] = {
    {138, kAllLinks, "gpu.nvlink.sent", kKilobyte},      // NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX
    {139, kAllLinks, "gpu.nvlink.received", kKilobyte},  // ..._DATA_RX
    {197, 0, "gpu.pcie.sent", 1},                        // NVML_FI_DEV_PCIE_COUNT_TX_BYTES
    {198, 0, "gpu.pcie.received", 1},                    // ..._RX_BYTES
};

struct Reason {
  unsigned long long bit;
  Known metric;
};
constexpr Reason kReasonTable[] = {
    {0x4, "gpu.throttled.power_cap"},         {0x8, "gpu.throttled.hardware"},
    {0x20, "gpu.throttled.thermal_software"}, {0x40, "gpu.throttled.thermal_hardware"},
    {0x80, "gpu.throttled.power_brake"},
};

struct Counted {
  unsigned id;
  Known metric;
};
constexpr Counted kGpmTable[] = {
    {2, "gpu.sm.activity"}, {3, "gpu.sm.occupancy"}, {5, "gpu.tensor.activity"}, {10, "gpu.dram.activity"}};

// Whether the answer will be the same the next time: an argument, the GPU, a right or a function that is not there.
bool is_final(Nvml::Outcome outcome) {
  constexpr std::array kFinal = {2, 3, 4, 13, 25};
  return std::find(kFinal.begin(), kFinal.end(), outcome) != kFinal.end();
}

std::optional<double> value_of(const Nvml::FieldValue& field) {
  if (field.type == Nvml::kDouble) return field.value.as_double;
  if (field.type == Nvml::kUnsigned) return field.value.as_unsigned;
  if (field.type == Nvml::kUnsignedLong) return static_cast<double>(field.value.as_unsigned_long);
  if (field.type == Nvml::kUnsignedLongLong) return static_cast<double>(field.value.as_unsigned_long_long);
  if (field.type == Nvml::kLongLong) return static_cast<double>(field.value.as_long_long);
  if (field.type == Nvml::kInt) return field.value.as_int;
  return std::nullopt;
}

struct Gpu {
  Gpu(Nvml::Device handle, unsigned index) : device(handle), set(fmt::format("GPU-{}", index)) {}
  Nvml::Device device;
  MetricSet set;
  std::bitset<kQuestions> refused;
  std::bitset<std::size(kFieldTable)> refused_fields;
  bool reports_events = false;
  double events = 0;
  std::optional<double> last_xid;
  std::array<void*, 2> samples{};  // the one before, and the next
  std::optional<std::chrono::steady_clock::time_point> sampled_at;
};

class GpuProbe final : public Probe {
 public:
  GpuProbe(const Nvml& nvml, const GpuPlan& plan, std::vector<Gpu> gpus);
  ~GpuProbe() override;
  GpuProbe(const GpuProbe&) = delete;
  GpuProbe& operator=(const GpuProbe&) = delete;
  void read(Reading& reading) override;

 private:
  template <class Function, class... Arguments>
  static bool ask(Gpu& gpu, Question question, Function* function, Arguments... arguments);
  template <class Number>
  void set_number(Gpu& gpu, Question question, Nvml::Outcome (*function)(Nvml::Device, Number*), Known metric,
                  double parts, Reading& reading);
  void watch_events();
  void take_events();
  void prepare_counting(Gpu& gpu);
  void read_use(Gpu& gpu, Reading& reading);
  void read_clocks(Gpu& gpu, Reading& reading);
  void read_link(Gpu& gpu, Reading& reading);
  void read_fields(Gpu& gpu, Reading& reading);
  void read_errors(Gpu& gpu, Reading& reading);
  void read_counted(Gpu& gpu, Reading& reading);

  const Nvml nvml_;
  const GpuPlan plan_;
  std::vector<Gpu> gpus_;
  void* events_ = nullptr;
  std::unique_ptr<Nvml::GpmQuestion> counted_ = std::make_unique<Nvml::GpmQuestion>();
};

GpuProbe::GpuProbe(const Nvml& nvml, const GpuPlan& plan, std::vector<Gpu> gpus)
    : nvml_(nvml), plan_(plan), gpus_(std::move(gpus)) {
  watch_events();
  for (Gpu& gpu : gpus_) prepare_counting(gpu);
}

GpuProbe::~GpuProbe() {
  for (const Gpu& gpu : gpus_) {
    for (void* const sample : gpu.samples) {
      if (sample != nullptr && nvml_.gpm_free != nullptr) nvml_.gpm_free(sample);
    }
  }
  if (events_ != nullptr && nvml_.free_event_set != nullptr) nvml_.free_event_set(events_);
  nvml_.shutdown();
}

template <class Function, class... Arguments>
bool GpuProbe::ask(Gpu& gpu, Question question, Function* function, Arguments... arguments) {
  if (function == nullptr || gpu.refused[question]) return false;
  const Nvml::Outcome outcome = function(gpu.device, arguments...);
  if (is_final(outcome)) gpu.refused.set(question);
  return outcome == Nvml::kSuccess;
}

template <class Number>
void GpuProbe::set_number(Gpu& gpu, Question question, Nvml::Outcome (*function)(Nvml::Device, Number*), Known metric,
                          double parts, Reading& reading) {
  Number number = 0;
  if (ask(gpu, question, function, &number)) gpu.set.set(reading, metric, static_cast<double>(number) / parts);
}

void GpuProbe::read(Reading& reading) {
  take_events();
  for (Gpu& gpu : gpus_) {
    read_use(gpu, reading);
    read_clocks(gpu, reading);
    read_link(gpu, reading);
    read_fields(gpu, reading);
    read_errors(gpu, reading);
    read_counted(gpu, reading);
  }
}

void GpuProbe::read_use(Gpu& gpu, Reading& reading) {
  Nvml::Utilisation use{};
  if (ask(gpu, kUtilisation, nvml_.utilisation, &use)) {
    constexpr unsigned kAll = 100;
    if (use.gpu_percent <= kAll) gpu.set.set(reading, "gpu.utilisation", use.gpu_percent / kPercent);
    if (use.memory_percent <= kAll) gpu.set.set(reading, "gpu.memory.utilisation", use.memory_percent / kPercent);
  }
  Nvml::MemoryInfo memory{};
  if (ask(gpu, kMemory, nvml_.memory_info, &memory)) {
    gpu.set.set(reading, "gpu.memory.total", static_cast<double>(memory.total));
    gpu.set.set(reading, "gpu.memory.used", static_cast<double>(memory.used));
  }
  set_number(gpu, kPower, nvml_.power_usage, "gpu.power", kMilli, reading);
  set_number(gpu, kPowerLimit, nvml_.power_limit, "gpu.power.limit", kMilli, reading);
  set_number(gpu, kEnergy, nvml_.energy, "gpu.energy", kMilli, reading);
}

void GpuProbe::read_clocks(Gpu& gpu, Reading& reading) {
  unsigned number = 0;
  constexpr int kChip = 0, kSm = 1, kMemoryType = 2;  // nvmlTemperatureSensors_t; nvmlClockType_t
  if (ask(gpu, kTemperature, nvml_.temperature, kChip, &number)) gpu.set.set(reading, "gpu.temperature", number);
  if (ask(gpu, kSmClock, nvml_.clock, kSm, &number)) gpu.set.set(reading, "gpu.clock.sm", number * kMega);
  if (ask(gpu, kMemoryClock, nvml_.clock, kMemoryType, &number)) {
    gpu.set.set(reading, "gpu.clock.memory", number * kMega);
  }
  unsigned long long bits = 0;
  if (!ask(gpu, kReasons, nvml_.clock_reasons, &bits)) return;
  for (const Reason& reason : kReasonTable) gpu.set.set(reading, reason.metric, (bits & reason.bit) != 0 ? 1 : 0);
}

void GpuProbe::read_link(Gpu& gpu, Reading& reading) {
  set_number(gpu, kLinkGeneration, nvml_.link_generation, "gpu.pcie.generation", 1, reading);
  set_number(gpu, kMaxLinkGeneration, nvml_.max_link_generation, "gpu.pcie.generation.max", 1, reading);
  set_number(gpu, kLinkWidth, nvml_.link_width, "gpu.pcie.width", 1, reading);
  set_number(gpu, kMaxLinkWidth, nvml_.max_link_width, "gpu.pcie.width.max", 1, reading);
}

// In one call; each has an outcome of its own. Not nvmlDeviceGetPcieThroughput(), which waits for 20 ms.
void GpuProbe::read_fields(Gpu& gpu, Reading& reading) {
  std::array<Nvml::FieldValue, std::size(kFieldTable)> values{};
  std::array<std::size_t, std::size(kFieldTable)> asked{};
  int count = 0;
  for (std::size_t field = 0; field < std::size(kFieldTable); ++field) {
    if (gpu.refused_fields[field]) continue;
    values[count].id = kFieldTable[field].id;
    values[count].scope = kFieldTable[field].scope;
    asked[count++] = field;
  }
  if (count == 0 || !ask(gpu, kFields, nvml_.field_values, count, values.data())) return;
  for (int at = 0; at < count; ++at) {
    const Field& field = kFieldTable[asked[at]];
    if (is_final(values[at].outcome)) gpu.refused_fields.set(asked[at]);
    if (values[at].outcome == Nvml::kSuccess) gpu.set.set_if(reading, field.metric, value_of(values[at]), field.unit);
  }
}

void GpuProbe::read_errors(Gpu& gpu, Reading& reading) {
  unsigned long long count = 0;
  constexpr int kIsCorrected = 0, kIsUncorrected = 1, kSinceLoaded = 0;  // nvmlMemoryErrorType_t; nvmlEccCounterType_t
  if (ask(gpu, kCorrected, nvml_.ecc_errors, kIsCorrected, kSinceLoaded, &count)) {
    gpu.set.set(reading, "gpu.ecc.corrected", static_cast<double>(count));
  }
  if (ask(gpu, kUncorrected, nvml_.ecc_errors, kIsUncorrected, kSinceLoaded, &count)) {
    gpu.set.set(reading, "gpu.ecc.uncorrected", static_cast<double>(count));
  }
  if (gpu.reports_events) gpu.set.set(reading, "gpu.xid.events", gpu.events);
  gpu.set.set_if(reading, "gpu.xid.last", gpu.last_xid);
}

// The driver keeps events until they are waited for, so that none is lost between ticks.
void GpuProbe::watch_events() {
  constexpr unsigned long long kXid = 0x8;  // nvmlEventTypeXidCriticalError
  if (nvml_.create_event_set == nullptr || nvml_.register_events == nullptr || nvml_.wait_event == nullptr) return;
  if (nvml_.create_event_set(&events_) != Nvml::kSuccess) {
    events_ = nullptr;
    return;
  }
  for (Gpu& gpu : gpus_) gpu.reports_events = nvml_.register_events(gpu.device, kXid, events_) == Nvml::kSuccess;
}

void GpuProbe::take_events() {
  constexpr int kMostEvents = 64;  // at a tick
  constexpr unsigned kWaitMs = 1;
  const bool any = std::any_of(gpus_.begin(), gpus_.end(), [](const Gpu& gpu) { return gpu.reports_events; });
  for (int taken = 0; any && taken < kMostEvents; ++taken) {
    Nvml::EventData event{};
    if (nvml_.wait_event(events_, &event, kWaitMs) != Nvml::kSuccess) return;
    for (Gpu& gpu : gpus_) {
      if (gpu.device != event.device) continue;
      ++gpu.events;
      gpu.last_xid = static_cast<double>(event.data);
    }
  }
}

void GpuProbe::prepare_counting(Gpu& gpu) {
  Nvml::GpmSupport support{1, 0};
  const bool has_all = nvml_.gpm_allocate != nullptr && nvml_.gpm_sample != nullptr && nvml_.gpm_metrics != nullptr;
  if (has_all && ask(gpu, kGpm, nvml_.gpm_support, &support) && support.is_supported != 0) {
    const bool both = std::all_of(gpu.samples.begin(), gpu.samples.end(),
                                  [this](void*& sample) { return nvml_.gpm_allocate(&sample) == Nvml::kSuccess; });
    if (both) return;
  }
  gpu.refused.set(kGpm);
}

void GpuProbe::read_counted(Gpu& gpu, Reading& reading) {
  const auto now = std::chrono::steady_clock::now();
  if (gpu.sampled_at && now - *gpu.sampled_at < plan_.least_counting) return;
  if (!ask(gpu, kGpm, nvml_.gpm_sample, gpu.samples[1])) return;
  std::swap(gpu.samples[0], gpu.samples[1]);
  if (!std::exchange(gpu.sampled_at, now)) return;
  *counted_ = {1, std::size(kGpmTable), gpu.samples[1], gpu.samples[0], {}};
  for (std::size_t at = 0; at < std::size(kGpmTable); ++at) counted_->metrics[at].id = kGpmTable[at].id;
  if (nvml_.gpm_metrics(counted_.get()) != Nvml::kSuccess) return;
  for (std::size_t at = 0; at < std::size(kGpmTable); ++at) {
    const Nvml::GpmMetric& metric = counted_->metrics[at];
    if (metric.outcome == Nvml::kSuccess && metric.value >= 0) {
      gpu.set.set(reading, kGpmTable[at].metric, metric.value / kPercent);
    }
  }
}

}  // namespace

std::vector<std::unique_ptr<Probe>> open_gpu_probes(const GpuPlan& plan) {
  std::vector<std::unique_ptr<Probe>> probes;
  const auto nvml = Nvml::load(plan.library.c_str());
  if (!nvml.ok() || nvml->init() != Nvml::kSuccess) return probes;
  unsigned count = 0;
  if (nvml->device_count(&count) != Nvml::kSuccess) count = 0;
  std::vector<Gpu> gpus;
  for (unsigned index = 0; index < std::min(count, kMaxGpus); ++index) {
    Nvml::Device device = nullptr;
    if (nvml->device_by_index(index, &device) == Nvml::kSuccess) gpus.emplace_back(device, index);
  }
  if (gpus.empty()) {
    nvml->shutdown();
    return probes;
  }
  probes.push_back(std::make_unique<GpuProbe>(*nvml, plan, std::move(gpus)));
  return probes;
}

}  // namespace trainwarden::machine
