#include "measure/machine/nvml.h"

#include <fmt/format.h>

#include "core/base/dynamic_library.h"

namespace trainwarden::machine {

Result<Nvml> Nvml::load(const char* library) {
  const std::array names = {library};
  TRAINWARDEN_ASSIGN_OR_RETURN(DynamicLibrary functions, DynamicLibrary::load(names));
  Nvml nvml{};
  functions.find("nvmlInit_v2", nvml.init);
  functions.find("nvmlShutdown", nvml.shutdown);
  functions.find("nvmlDeviceGetCount_v2", nvml.device_count);
  functions.find("nvmlDeviceGetHandleByIndex_v2", nvml.device_by_index);
  if (!functions.missing().empty()) {
    return Status(Code::kUnavailable, fmt::format("{} has no {}", library, functions.missing()));
  }
  functions.find("nvmlDeviceGetUtilizationRates", nvml.utilisation);
  functions.find("nvmlDeviceGetMemoryInfo", nvml.memory_info);
  functions.find("nvmlDeviceGetPowerUsage", nvml.power_usage);
  functions.find("nvmlDeviceGetEnforcedPowerLimit", nvml.power_limit);
  functions.find("nvmlDeviceGetTotalEnergyConsumption", nvml.energy);
  functions.find("nvmlDeviceGetTemperature", nvml.temperature);
  functions.find("nvmlDeviceGetClockInfo", nvml.clock);
  functions.find("nvmlDeviceGetCurrentClocksEventReasons", nvml.clock_reasons);
  if (nvml.clock_reasons == nullptr) functions.find("nvmlDeviceGetCurrentClocksThrottleReasons", nvml.clock_reasons);
  functions.find("nvmlDeviceGetCurrPcieLinkGeneration", nvml.link_generation);
  functions.find("nvmlDeviceGetMaxPcieLinkGeneration", nvml.max_link_generation);
  functions.find("nvmlDeviceGetCurrPcieLinkWidth", nvml.link_width);
  functions.find("nvmlDeviceGetMaxPcieLinkWidth", nvml.max_link_width);
  functions.find("nvmlDeviceGetFieldValues", nvml.field_values);
  functions.find("nvmlDeviceGetTotalEccErrors", nvml.ecc_errors);
  functions.find("nvmlEventSetCreate", nvml.create_event_set);
  functions.find("nvmlDeviceRegisterEvents", nvml.register_events);
  functions.find("nvmlEventSetWait_v2", nvml.wait_event);
  functions.find("nvmlEventSetFree", nvml.free_event_set);
  functions.find("nvmlGpmQueryDeviceSupport", nvml.gpm_support);
  functions.find("nvmlGpmSampleAlloc", nvml.gpm_allocate);
  functions.find("nvmlGpmSampleFree", nvml.gpm_free);
  functions.find("nvmlGpmSampleGet", nvml.gpm_sample);
  functions.find("nvmlGpmMetricsGet", nvml.gpm_metrics);
  return nvml;
}

}  // namespace trainwarden::machine
