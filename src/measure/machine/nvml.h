// The functions of NVIDIA's management library that we use, found at run time: no header or library of it is needed.
// Source: NVML API reference. The names are those of the binary interface, which has versions ("_v2").
#pragma once

#include <array>
#include <cstdint>

#include "trainwarden/status.h"

namespace trainwarden::machine {

struct Nvml {
  using Outcome = int;   // nvmlReturn_t
  using Device = void*;  // nvmlDevice_t
  static constexpr Outcome kSuccess = 0;
  static constexpr Outcome kTimeout = 10;

  struct Utilisation {
    unsigned gpu_percent;
    unsigned memory_percent;
  };
  struct MemoryInfo {
    unsigned long long total, free, used;
  };
  struct FieldValue {
    unsigned id;
    unsigned scope;
    long long timestamp_us;
    long long latency_us;
    int type;  // of the value: kDouble and so on
    Outcome outcome;
    union {
      double as_double;
      unsigned as_unsigned;
      unsigned long as_unsigned_long;
      unsigned long long as_unsigned_long_long;
      long long as_long_long;
      int as_int;
    } value;
  };
  enum ValueType { kDouble, kUnsigned, kUnsignedLong, kUnsignedLongLong, kLongLong, kInt };
  struct EventData {
    Device device;
    unsigned long long type;
    unsigned long long data;
    unsigned gpu_instance;
    unsigned compute_instance;
  };
  struct GpmSupport {
    unsigned version;
    unsigned is_supported;
  };
  struct GpmMetric {
    unsigned id;
    Outcome outcome;
    double value;
    std::array<const char*, 3> words;
  };
  // Newer headers have room for more metrics; the library touches as many as are asked for.
  static constexpr unsigned kGpmRoom = 512;
  struct GpmQuestion {
    unsigned version;
    unsigned count;
    void* first;
    void* second;
    std::array<GpmMetric, kGpmRoom> metrics;
  };

  // All may be null in an older library but those up to device_by_index.
  Outcome (*init)();
  Outcome (*shutdown)();
  Outcome (*device_count)(unsigned* count);
  Outcome (*device_by_index)(unsigned index, Device* device);
  Outcome (*utilisation)(Device, Utilisation*);
  Outcome (*memory_info)(Device, MemoryInfo*);
  Outcome (*power_usage)(Device, unsigned* milliwatts);
  Outcome (*power_limit)(Device, unsigned* milliwatts);
  Outcome (*energy)(Device, unsigned long long* millijoules);
  Outcome (*temperature)(Device, int sensor, unsigned* celsius);
  Outcome (*clock)(Device, int type, unsigned* megahertz);
  Outcome (*clock_reasons)(Device, unsigned long long* bits);
  Outcome (*link_generation)(Device, unsigned*);
  Outcome (*max_link_generation)(Device, unsigned*);
  Outcome (*link_width)(Device, unsigned*);
  Outcome (*max_link_width)(Device, unsigned*);
  Outcome (*field_values)(Device, int count, FieldValue*);
  Outcome (*ecc_errors)(Device, int error_type, int counter_type, unsigned long long* count);
  Outcome (*create_event_set)(void** set);
  Outcome (*register_events)(Device, unsigned long long types, void* set);
  Outcome (*wait_event)(void* set, EventData*, unsigned timeout_ms);
  Outcome (*free_event_set)(void* set);
  Outcome (*gpm_support)(Device, GpmSupport*);
  Outcome (*gpm_allocate)(void** sample);
  Outcome (*gpm_free)(void* sample);
  Outcome (*gpm_sample)(Device, void* sample);
  Outcome (*gpm_metrics)(GpmQuestion*);

  // Not initialised yet. kUnavailable: no such library, or one without what each has.
  static Result<Nvml> load(const char* library);
};
static_assert(sizeof(Nvml::FieldValue) == 40 && sizeof(Nvml::EventData) == 32 && sizeof(Nvml::GpmMetric) == 40);

}  // namespace trainwarden::machine
