#include "data/device/cuda_accelerator.h"

#include <string>

#include "core/base/log.h"
#include "data/device/nvrtc.h"
#include "data/device/statistics_kernel.h"
#include "data/device/statistics_kernel_text.h"

namespace trainwarden::device {
namespace {

constexpr unsigned kBlockThreads = 256;
constexpr unsigned kPartsOfBlock = kBlockThreads / kLanes;

// The context of the training, current in this thread for a while. Meanwhile calls that would disturb a CUDA graph
// which some thread records are left alone.
class ContextScope {
 public:
  ContextScope(const CudaDriver& driver, void* context) : driver_(driver) {
    pushed_ = driver.push_context(context) == CudaDriver::kSuccess;
    relaxed_ = driver.exchange_capture_mode(&mode_) == CudaDriver::kSuccess;
  }
  ~ContextScope() {
    void* popped = nullptr;
    if (relaxed_) driver_.exchange_capture_mode(&mode_);
    if (pushed_) driver_.pop_context(&popped);
  }
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  const CudaDriver& driver_;
  int mode_ = CudaDriver::kRelaxedCapture;
  bool pushed_ = false;
  bool relaxed_ = false;
};

}  // namespace

Result<std::unique_ptr<Accelerator>> CudaAccelerator::open(int index) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const CudaDriver* driver, CudaDriver::load());
  int device = 0;
  TRAINWARDEN_RETURN_IF_ERROR(driver->status(driver->device_get(&device, index), "looking for the GPU"));
  std::unique_ptr<CudaAccelerator> accelerator(new CudaAccelerator(*driver, device));
  TRAINWARDEN_RETURN_IF_ERROR(driver->status(driver->retain_primary_context(&accelerator->context_, device),
                                             "taking hold of the GPU's context"));
  accelerator->kernel_status_ = accelerator->load_kernel();
  if (!accelerator->kernel_status_.ok()) {
    log(LogLevel::kWarning,
        "statistics of tensors on the GPU are computed by the CPU, from copies, since the kernel cannot be had: {}",
        accelerator->kernel_status_.to_string());
  }
  return std::unique_ptr<Accelerator>(std::move(accelerator));
}

// Outcomes do not matter any more: the driver may be gone by now, and with it everything.
CudaAccelerator::~CudaAccelerator() {
  if (context_ == nullptr) return;
  {
    const ContextScope scope(driver_, context_);
    for (Stream stream : streams_) {
      driver_.synchronize_stream(stream);
      driver_.destroy_stream(stream);
    }
    for (DeviceEvent event : events_) driver_.destroy_event(event);
    for (void* memory : pinned_) driver_.unregister_host_memory(memory);
    for (const DeviceAddress address : allocations_) driver_.free(address);
    if (module_ != nullptr) driver_.unload_module(module_);
  }
  driver_.release_primary_context(device_);
}

Status CudaAccelerator::load_kernel() {
  const ContextScope scope(driver_, context_);
  int major = 0;
  int minor = 0;
  TRAINWARDEN_RETURN_IF_ERROR(driver_.status(driver_.device_attribute(&major, CudaDriver::kCapabilityMajor, device_),
                                             "asking what the GPU can do"));
  TRAINWARDEN_RETURN_IF_ERROR(driver_.status(driver_.device_attribute(&minor, CudaDriver::kCapabilityMinor, device_),
                                             "asking what the GPU can do"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string code, compile_for_gpu(kStatisticsKernelText, major, minor));
  TRAINWARDEN_RETURN_IF_ERROR(driver_.status(driver_.load_module(&module_, code.data()), "loading the kernel"));
  return driver_.status(driver_.get_function(&kernel_, module_, "trainwarden_statistics"), "finding the kernel");
}

Result<DeviceAddress> CudaAccelerator::allocate(std::size_t bytes) {
  const ContextScope scope(driver_, context_);
  unsigned long long address = 0;
  TRAINWARDEN_RETURN_IF_ERROR(driver_.status(driver_.allocate(&address, bytes), "taking memory of the GPU"));
  std::lock_guard lock(mutex_);
  allocations_.push_back(address);
  return DeviceAddress{address};
}

Result<std::size_t> CudaAccelerator::free_bytes() {
  const ContextScope scope(driver_, context_);
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  TRAINWARDEN_RETURN_IF_ERROR(
      driver_.status(driver_.memory_info(&free_bytes, &total_bytes), "asking for the GPU's free memory"));
  return free_bytes;
}

Status CudaAccelerator::pin(MutableByteSpan memory) {
  const ContextScope scope(driver_, context_);
  TRAINWARDEN_RETURN_IF_ERROR(
      driver_.status(driver_.register_host_memory(memory.data(), memory.size(), CudaDriver::kPortableMemory),
                     "pinning the memory that the GPU copies into"));
  std::lock_guard lock(mutex_);
  pinned_.push_back(memory.data());
  return Status();
}

Result<Stream> CudaAccelerator::create_stream() {
  const ContextScope scope(driver_, context_);
  Stream stream = nullptr;
  TRAINWARDEN_RETURN_IF_ERROR(
      driver_.status(driver_.create_stream(&stream, CudaDriver::kNonBlockingStream), "making a stream"));
  std::lock_guard lock(mutex_);
  streams_.push_back(stream);
  return stream;
}

Result<DeviceEvent> CudaAccelerator::create_event() {
  const ContextScope scope(driver_, context_);
  DeviceEvent event = nullptr;
  TRAINWARDEN_RETURN_IF_ERROR(driver_.status(
      driver_.create_event(&event, CudaDriver::kBlockingSync | CudaDriver::kDisableTiming), "making an event"));
  std::lock_guard lock(mutex_);
  events_.push_back(event);
  return event;
}

Result<bool> CudaAccelerator::is_recorded(Stream stream) {
  const ContextScope scope(driver_, context_);
  int status = CudaDriver::kNotCapturing;
  TRAINWARDEN_RETURN_IF_ERROR(
      driver_.status(driver_.is_capturing(stream, &status), "asking whether the stream is recorded into a graph"));
  return status != CudaDriver::kNotCapturing;
}

Status CudaAccelerator::record(DeviceEvent event, Stream stream) {
  const ContextScope scope(driver_, context_);
  return driver_.status(driver_.record_event(event, stream), "recording an event");
}

Status CudaAccelerator::hold_until(Stream stream, DeviceEvent event) {
  const ContextScope scope(driver_, context_);
  return driver_.status(driver_.stream_wait_event(stream, event, 0), "letting a stream wait for another");
}

Result<bool> CudaAccelerator::reached(DeviceEvent event) {
  const ContextScope scope(driver_, context_);
  const CudaDriver::Outcome outcome = driver_.query_event(event);
  if (outcome == CudaDriver::kNotReady) return false;
  TRAINWARDEN_RETURN_IF_ERROR(driver_.status(outcome, "reading on the GPU"));
  return true;
}

Status CudaAccelerator::wait(DeviceEvent event) {
  const ContextScope scope(driver_, context_);
  return driver_.status(driver_.synchronize_event(event), "reading on the GPU");
}

Status CudaAccelerator::copy_to_device(DeviceAddress to, const void* pinned, std::size_t bytes, Stream stream) {
  const ContextScope scope(driver_, context_);
  return driver_.status(driver_.copy_to_device(to, pinned, bytes, stream), "copying to the GPU");
}

Status CudaAccelerator::copy_on_device(DeviceAddress to, DeviceAddress from, std::size_t bytes, Stream stream) {
  const ContextScope scope(driver_, context_);
  return driver_.status(driver_.copy_on_device(to, from, bytes, stream), "copying on the GPU");
}

Status CudaAccelerator::copy_to_host(void* pinned, DeviceAddress from, std::size_t bytes, Stream stream) {
  const ContextScope scope(driver_, context_);
  return driver_.status(driver_.copy_to_host(pinned, from, bytes, stream), "copying from the GPU");
}

Status CudaAccelerator::clear(DeviceAddress at, std::size_t bytes, Stream stream) {
  const ContextScope scope(driver_, context_);
  return driver_.status(driver_.set_bytes(at, 0, bytes, stream), "clearing memory of the GPU");
}

Status CudaAccelerator::summarize(DeviceAddress tasks, std::uint32_t task_count, std::uint32_t part_count,
                                  DeviceAddress raw, Stream stream) {
  TRAINWARDEN_RETURN_IF_ERROR(kernel_status_);
  const ContextScope scope(driver_, context_);
  void* parameters[] = {&tasks, &task_count, &part_count, &raw};
  const unsigned blocks = (part_count + kPartsOfBlock - 1) / kPartsOfBlock;
  return driver_.status(driver_.launch(kernel_, blocks, 1, 1, kBlockThreads, 1, 1, 0, stream, parameters, nullptr),
                        "launching the kernel for statistics");
}

}  // namespace trainwarden::device
