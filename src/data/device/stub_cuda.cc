// A shared library that passes for NVIDIA's driver and for NVRTC, for machines without a GPU: what is asked is done at
// once, on the host, and what a driver would refuse or do slowly is refused. It proves that cuda_accelerator.cc asks
// for the right things; that they are fast on a GPU it cannot prove.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "data/device/host_warp.h"

namespace {

using trainwarden::device::RawStatistics;
using trainwarden::device::TensorTask;

constexpr int kSuccess = 0;
constexpr int kInvalidValue = 1;
constexpr int kInvalidContext = 201;
constexpr int kInvalidHandle = 400;

struct Driver {
  std::mutex mutex;
  std::map<unsigned long long, std::size_t> device_memory;  // address → bytes
  std::map<char*, std::size_t> pinned;
  std::set<void*> handles;  // streams and events
  int retained = 0;
};

Driver& driver() {
  static Driver instance;
  return instance;
}

char context_object;
thread_local int pushed = 0;

template <class Pieces, class At>
bool holds(const Pieces& pieces, At at, std::size_t bytes) {
  auto after = pieces.upper_bound(at);
  if (after == pieces.begin()) return false;
  const auto& [begin, size] = *--after;
  return static_cast<std::size_t>(at - begin) + bytes <= size;
}

bool on_device(unsigned long long address, std::size_t bytes) {
  return holds(driver().device_memory, address, bytes);
}
bool is_pinned(const void* memory, std::size_t bytes) {
  return holds(driver().pinned, static_cast<char*>(const_cast<void*>(memory)), bytes);
}
bool is_handle(void* handle) {
  return driver().handles.count(handle) == 1;
}
bool is_stream(void* stream) {
  return stream == nullptr || is_handle(stream);
}

// Calls `action` as the driver would: in a context, one at a time.
template <class Action>
int in_context(Action action) {
  if (pushed == 0) return kInvalidContext;
  std::lock_guard lock(driver().mutex);
  return action();
}

int make_handle(void** handle) {
  *handle = std::malloc(1);
  driver().handles.insert(*handle);
  return kSuccess;
}
int drop_handle(void* handle) {
  if (driver().handles.erase(handle) == 0) return kInvalidHandle;
  std::free(handle);
  return kSuccess;
}

void* pointer(unsigned long long address) {
  return std::bit_cast<void*>(address);
}

}  // namespace

#define STUB extern "C" __attribute__((visibility("default")))

STUB int cuInit(unsigned flags) {
  return flags == 0 ? kSuccess : kInvalidValue;
}
STUB int cuGetErrorString(int, const char** text) {
  *text = "refused by the stub of the driver";
  return kSuccess;
}
STUB int cuDeviceGet(int* device, int ordinal) {
  *device = 100 + ordinal;
  return ordinal == 0 ? kSuccess : kInvalidValue;
}
STUB int cuDeviceGetAttribute(int* value, int attribute, int device) {
  *value = attribute == 75 ? 9 : 0;
  return device == 100 ? kSuccess : kInvalidValue;
}
STUB int cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = &context_object;
  ++driver().retained;
  return device == 100 ? kSuccess : kInvalidValue;
}
STUB int cuDevicePrimaryCtxRelease_v2(int device) {
  if (driver().retained-- == 1 && !(driver().device_memory.empty() && driver().pinned.empty())) std::abort();
  return device == 100 ? kSuccess : kInvalidValue;
}
STUB int cuCtxPushCurrent_v2(void* context) {
  ++pushed;
  return context == &context_object ? kSuccess : kInvalidContext;
}
STUB int cuCtxPopCurrent_v2(void** context) {
  *context = &context_object;
  return pushed-- > 0 ? kSuccess : kInvalidContext;
}
STUB int cuThreadExchangeStreamCaptureMode(int* mode) {
  thread_local int current = 0;
  std::swap(*mode, current);
  return kSuccess;
}

STUB int cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total_bytes) {
  *free_bytes = *total_bytes = std::size_t{512} << 20;
  return pushed > 0 ? kSuccess : kInvalidContext;
}
STUB int cuMemAlloc_v2(unsigned long long* address, std::size_t bytes) {
  return in_context([&] {
    *address = reinterpret_cast<std::size_t>(std::malloc(bytes));
    driver().device_memory[*address] = bytes;
    return kSuccess;
  });
}
STUB int cuMemFree_v2(unsigned long long address) {
  return in_context([&] {
    if (driver().device_memory.erase(address) == 0) return kInvalidValue;
    std::free(pointer(address));
    return kSuccess;
  });
}
STUB int cuMemHostRegister_v2(void* memory, std::size_t bytes, unsigned) {
  return in_context([&] {
    driver().pinned[static_cast<char*>(memory)] = bytes;
    return kSuccess;
  });
}
STUB int cuMemHostUnregister(void* memory) {
  return in_context([&] { return driver().pinned.erase(static_cast<char*>(memory)) == 1 ? kSuccess : kInvalidValue; });
}

STUB int cuStreamCreate(void** stream, unsigned flags) {
  // A stream that waits for the default stream would hold the training up.
  return in_context([&] { return flags == 1 ? make_handle(stream) : kInvalidValue; });
}
STUB int cuStreamSynchronize(void* stream) {
  return in_context([&] { return is_stream(stream) ? kSuccess : kInvalidHandle; });
}
STUB int cuStreamDestroy_v2(void* stream) {
  return in_context([&] { return drop_handle(stream); });
}
STUB int cuStreamIsCapturing(void* stream, int* status) {
  *status = 0;
  return in_context([&] { return is_stream(stream) ? kSuccess : kInvalidHandle; });
}
STUB int cuStreamWaitEvent(void* stream, void* event, unsigned flags) {
  return in_context([&] { return is_stream(stream) && is_handle(event) && flags == 0 ? kSuccess : kInvalidHandle; });
}
STUB int cuEventCreate(void** event, unsigned flags) {
  // Sleeping, not spinning, waits; and no timing, which costs.
  return in_context([&] { return flags == 3 ? make_handle(event) : kInvalidValue; });
}
STUB int cuEventRecord(void* event, void* stream) {
  return in_context([&] { return is_handle(event) && is_stream(stream) ? kSuccess : kInvalidHandle; });
}
STUB int cuEventQuery(void* event) {
  return in_context([&] { return is_handle(event) ? kSuccess : kInvalidHandle; });
}
STUB int cuEventSynchronize(void* event) {
  return cuEventQuery(event);
}
STUB int cuEventDestroy_v2(void* event) {
  return in_context([&] { return drop_handle(event); });
}

STUB int cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, std::size_t bytes, void* stream) {
  return in_context([&] {
    if (!on_device(to, bytes) || !is_pinned(from, bytes) || !is_stream(stream)) return kInvalidValue;
    std::memcpy(pointer(to), from, bytes);
    return kSuccess;
  });
}
STUB int cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, std::size_t bytes, void* stream) {
  return in_context([&] {
    if (!on_device(to, bytes) || !on_device(from, bytes) || !is_stream(stream)) return kInvalidValue;
    std::memcpy(pointer(to), pointer(from), bytes);
    return kSuccess;
  });
}
STUB int cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, std::size_t bytes, void* stream) {
  return in_context([&] {
    if (!is_pinned(to, bytes) || !on_device(from, bytes) || !is_stream(stream)) return kInvalidValue;
    std::memcpy(to, pointer(from), bytes);
    return kSuccess;
  });
}
STUB int cuMemsetD8Async(unsigned long long to, unsigned char value, std::size_t count, void* stream) {
  return in_context([&] {
    if (!on_device(to, count) || !is_stream(stream)) return kInvalidValue;
    std::memset(pointer(to), value, count);
    return kSuccess;
  });
}

STUB int cuModuleLoadData(void** module, const void* image) {
  *module = const_cast<void*>(image);
  return in_context([&] { return std::strcmp(static_cast<const char*>(image), "code for sm_90") == 0 ? 0 : 1; });
}
STUB int cuModuleUnload(void*) {
  return in_context([] { return kSuccess; });
}
STUB int cuModuleGetFunction(void** function, void* module, const char* name) {
  *function = module;
  return in_context([&] { return std::strcmp(name, "trainwarden_statistics") == 0 ? kSuccess : kInvalidValue; });
}
// As many warps as are launched do their parts; the kernel itself leaves out those past the last part.
STUB int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned, void* stream, void** parameters, void** extra) {
  return in_context([&] {
    const auto tasks = *static_cast<unsigned long long*>(parameters[0]);
    const unsigned task_count = *static_cast<unsigned*>(parameters[1]);
    const unsigned part_count = *static_cast<unsigned*>(parameters[2]);
    const auto raw = *static_cast<unsigned long long*>(parameters[3]);
    const bool flat = grid_y * grid_z * block_y * block_z == 1 && extra == nullptr;
    if (!flat || function == nullptr || !is_stream(stream) || block_x % 32 != 0 || block_x > 256) return kInvalidValue;
    if (!on_device(tasks, task_count * sizeof(TensorTask))) return kInvalidValue;
    if (!on_device(raw, task_count * sizeof(RawStatistics))) return kInvalidValue;
    const unsigned warps = grid_x * (block_x / 32);
    trainwarden::device::summarize_on_host({static_cast<TensorTask*>(pointer(tasks)), task_count},
                                           std::min(warps, part_count), static_cast<RawStatistics*>(pointer(raw)));
    return kSuccess;
  });
}

// NVRTC, whose code is a word.
STUB const char* nvrtcGetErrorString(int) {
  return "refused by the stub of NVRTC";
}
STUB int nvrtcVersion(int* major, int* minor) {
  *major = *minor = 0;
  return kSuccess;
}
STUB int nvrtcCreateProgram(void** program, const char*, const char*, int, const char* const*, const char* const*) {
  *program = std::malloc(1);
  return kSuccess;
}
STUB int nvrtcCompileProgram(void*, int option_count, const char* const* options) {
  return std::strcmp(options[option_count - 1], "--gpu-architecture=sm_90") == 0 ? kSuccess : kInvalidValue;
}
STUB int nvrtcGetProgramLogSize(void*, std::size_t* size) {
  *size = 1;
  return kSuccess;
}
STUB int nvrtcGetProgramLog(void*, char* log) {
  *log = '\0';
  return kSuccess;
}
STUB int nvrtcGetCUBINSize(void*, std::size_t* size) {
  *size = sizeof "code for sm_90";
  return kSuccess;
}
STUB int nvrtcGetCUBIN(void*, char* code) {
  std::memcpy(code, "code for sm_90", sizeof "code for sm_90");
  return kSuccess;
}
STUB int nvrtcDestroyProgram(void** program) {
  std::free(*program);
  *program = nullptr;
  return kSuccess;
}
