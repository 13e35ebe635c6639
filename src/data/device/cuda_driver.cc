#include "data/device/cuda_driver.h"

#include <array>

#include <fmt/format.h>

#include "core/base/dynamic_library.h"

namespace trainwarden::device {
namespace {

void find_functions(DynamicLibrary& functions, CudaDriver& driver) {
  functions.find("cuInit", driver.init);
  functions.find("cuGetErrorString", driver.error_string);
  functions.find("cuDeviceGet", driver.device_get);
  functions.find("cuDeviceGetAttribute", driver.device_attribute);
  functions.find("cuDevicePrimaryCtxRetain", driver.retain_primary_context);
  functions.find("cuDevicePrimaryCtxRelease_v2", driver.release_primary_context);
  functions.find("cuCtxPushCurrent_v2", driver.push_context);
  functions.find("cuCtxPopCurrent_v2", driver.pop_context);
  functions.find("cuThreadExchangeStreamCaptureMode", driver.exchange_capture_mode);
  functions.find("cuMemGetInfo_v2", driver.memory_info);
  functions.find("cuMemAlloc_v2", driver.allocate);
  functions.find("cuMemFree_v2", driver.free);
  functions.find("cuMemHostRegister_v2", driver.register_host_memory);
  functions.find("cuMemHostUnregister", driver.unregister_host_memory);
  functions.find("cuStreamCreate", driver.create_stream);
  functions.find("cuStreamSynchronize", driver.synchronize_stream);
  functions.find("cuStreamDestroy_v2", driver.destroy_stream);
  functions.find("cuStreamIsCapturing", driver.is_capturing);
  functions.find("cuStreamWaitEvent", driver.stream_wait_event);
  functions.find("cuEventCreate", driver.create_event);
  functions.find("cuEventRecord", driver.record_event);
  functions.find("cuEventQuery", driver.query_event);
  functions.find("cuEventSynchronize", driver.synchronize_event);
  functions.find("cuEventDestroy_v2", driver.destroy_event);
  functions.find("cuMemcpyHtoDAsync_v2", driver.copy_to_device);
  functions.find("cuMemcpyDtoDAsync_v2", driver.copy_on_device);
  functions.find("cuMemcpyDtoHAsync_v2", driver.copy_to_host);
  functions.find("cuMemsetD8Async", driver.set_bytes);
  functions.find("cuModuleLoadData", driver.load_module);
  functions.find("cuModuleUnload", driver.unload_module);
  functions.find("cuModuleGetFunction", driver.get_function);
  functions.find("cuLaunchKernel", driver.launch);
}

// The library stays loaded: whoever trains on the GPU has it loaded anyway.
Status load_into(CudaDriver& driver) {
  constexpr std::array kNames = {"libcuda.so.1"};
  auto library = DynamicLibrary::load(kNames);
  if (!library.ok()) {
    return Status(Code::kUnavailable, fmt::format("NVIDIA's driver cannot be loaded: {}", library.status().message()));
  }
  find_functions(*library, driver);
  if (!library->missing().empty()) {
    return Status(Code::kUnavailable,
                  fmt::format("NVIDIA's driver has no {}; at least that of CUDA 11 is needed", library->missing()));
  }
  return driver.status(driver.init(0), "starting NVIDIA's driver");
}

}  // namespace

Result<const CudaDriver*> CudaDriver::load() {
  static CudaDriver driver{};
  static const Status status = load_into(driver);
  TRAINWARDEN_RETURN_IF_ERROR(status);
  return &driver;
}

Status CudaDriver::status(Outcome outcome, const char* doing) const {
  if (outcome == kSuccess) return Status();
  const char* text = nullptr;
  if (error_string(outcome, &text) != kSuccess || text == nullptr) text = "the driver has no words for it";
  return Status(Code::kInternal, fmt::format("{}: {} (CUDA error {})", doing, text, outcome));
}

}  // namespace trainwarden::device
