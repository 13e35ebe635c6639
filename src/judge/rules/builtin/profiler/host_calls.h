// HostCalls: what the threads of one recorded step did: operators that nobody called, bursts of reads of single
// numbers, and how much of the time is spent around tiny operators. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trainwarden/operator_calls.h"

namespace trainwarden::rules {

// Numbers that are read from tensors one by one (.item(), float(), if tensor:), each of which waits for the device.
struct ScalarReads {
  std::size_t reads = 0;              // outside of optimizers, which read their own counters
  std::size_t reads_in_runs = 0;      // within a millisecond and eight operators of each other, eight at least
  std::int64_t runs_ns = 0;           // of these runs, without operators that take long and what recording took
  std::int64_t recorded_runs_ns = 0;  // the same, with what recording took
  std::int64_t waited_ns = 0;         // of all reads: until the number was there
};
ScalarReads scalar_reads(const OperatorBatch& batch);

struct TinyOperators {
  std::size_t operators = 0;  // that no other operator called
  std::size_t tiny = 0;       // of these, that took less than 10 µs
  std::int64_t tiny_ns = 0;   // what these took, and the short gaps before them
  double mean_tiny_ns = 0;    // mean time of a tiny one, without the gap
};
TinyOperators tiny_operators(const OperatorBatch& batch);

// Programs and copies of devices.
struct DeviceCalls {
  std::size_t kernels = 0;
  std::int64_t kernels_ns = 0;
  std::int64_t busy_ns = 0;  // in which any device call ran
  std::size_t copies_to_host = 0;
  std::int64_t idle_after_reads_ns = 0;  // nothing ran, from the end of a read or a copy to the host on
  bool has_device = false;
};
DeviceCalls device_calls(const OperatorBatch& batch);

}  // namespace trainwarden::rules
