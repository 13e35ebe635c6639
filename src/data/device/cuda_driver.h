// The functions of NVIDIA's driver that we use, found at run time: no CUDA header or library is needed to build.
// Source: CUDA Driver API reference. The names are those of the binary interface, which has versions ("_v2").
#pragma once

#include <cstddef>

#include "trainwarden/status.h"

namespace trainwarden::device {

struct CudaDriver {
  using Outcome = int;  // CUresult
  static constexpr Outcome kSuccess = 0;
  static constexpr Outcome kNotReady = 600;

  static constexpr int kCapabilityMajor = 75;  // CUdevice_attribute
  static constexpr int kCapabilityMinor = 76;
  static constexpr unsigned kPortableMemory = 1;     // CU_MEMHOSTREGISTER_PORTABLE
  static constexpr unsigned kNonBlockingStream = 1;  // CU_STREAM_NON_BLOCKING
  static constexpr unsigned kBlockingSync = 1;       // CU_EVENT_BLOCKING_SYNC: who waits, sleeps
  static constexpr unsigned kDisableTiming = 2;      // CU_EVENT_DISABLE_TIMING
  static constexpr int kNotCapturing = 0;            // CU_STREAM_CAPTURE_STATUS_NONE
  static constexpr int kRelaxedCapture = 2;          // CU_STREAM_CAPTURE_MODE_RELAXED

  // Devices are numbers, device memory addresses; contexts, streams, events, modules and kernels are pointers.
  Outcome (*init)(unsigned flags);
  Outcome (*error_string)(Outcome, const char** text);
  Outcome (*device_get)(int* device, int ordinal);
  Outcome (*device_attribute)(int* value, int attribute, int device);
  Outcome (*retain_primary_context)(void** context, int device);
  Outcome (*release_primary_context)(int device);
  Outcome (*push_context)(void* context);
  Outcome (*pop_context)(void** context);
  Outcome (*exchange_capture_mode)(int* mode);

  Outcome (*memory_info)(std::size_t* free_bytes, std::size_t* total_bytes);
  Outcome (*allocate)(unsigned long long* address, std::size_t bytes);
  Outcome (*free)(unsigned long long address);
  Outcome (*register_host_memory)(void* memory, std::size_t bytes, unsigned flags);
  Outcome (*unregister_host_memory)(void* memory);

  Outcome (*create_stream)(void** stream, unsigned flags);
  Outcome (*synchronize_stream)(void* stream);
  Outcome (*destroy_stream)(void* stream);
  Outcome (*is_capturing)(void* stream, int* status);
  Outcome (*stream_wait_event)(void* stream, void* event, unsigned flags);
  Outcome (*create_event)(void** event, unsigned flags);
  Outcome (*record_event)(void* event, void* stream);
  Outcome (*query_event)(void* event);
  Outcome (*synchronize_event)(void* event);
  Outcome (*destroy_event)(void* event);

  Outcome (*copy_to_device)(unsigned long long to, const void* from, std::size_t bytes, void* stream);
  Outcome (*copy_on_device)(unsigned long long to, unsigned long long from, std::size_t bytes, void* stream);
  Outcome (*copy_to_host)(void* to, unsigned long long from, std::size_t bytes, void* stream);
  Outcome (*set_bytes)(unsigned long long to, unsigned char value, std::size_t count, void* stream);

  Outcome (*load_module)(void** module, const void* image);
  Outcome (*unload_module)(void* module);
  Outcome (*get_function)(void** function, void* module, const char* name);
  Outcome (*launch)(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                    unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream, void** parameters,
                    void** extra);

  // Of libcuda.so.1, initialised; the same for the whole process. kUnavailable: no driver, or one without a function
  // that we need.
  static Result<const CudaDriver*> load();

  // Ok, or kInternal: "copying to the host: an illegal memory access was encountered (CUDA error 700)".
  Status status(Outcome outcome, const char* doing) const;
};

}  // namespace trainwarden::device
