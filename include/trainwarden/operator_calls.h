// Operator calls: which operators of the framework ran in a step, when, for how long, and on what.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/export.h"
#include "trainwarden/mode.h"

namespace trainwarden {

// What was called. The numbers go to disk.
enum class OperatorKind : std::uint8_t {
  kOperator = 0,     // an operator of the framework: "aten::addmm"
  kBackward = 1,     // a node of autograd's graph: "AddmmBackward0"
  kUser = 2,         // a stretch that the program named itself
  kKernel = 3,       // a program of a device
  kCopy = 4,         // bytes that a device copied or set
  kUnknown = 5,      // of a newer writer
  kPythonStack = 6,  // a function of Python that samples found on a thread's stack: "train (train.py:42)"
};
inline constexpr std::size_t kOperatorKinds = 7;  // the numbers are below
// "operator", "backward", "user", "kernel", "copy", "unknown", "python"
TRAINWARDEN_API std::string_view name(OperatorKind kind);

// What a call ran on: a thread of the process, or a stream of a device.
struct OperatorTrack {
  std::string name;      // "thread 4711", "GPU-0 stream 7"; any bytes
  std::uint64_t id = 0;  // of the thread or the stream
  bool device = false;
  friend bool operator==(const OperatorTrack&, const OperatorTrack&) = default;
};

// One call. `name` and `track` are indices into the tables of its batch.
struct OperatorCall {
  std::uint32_t name = 0;
  std::uint32_t track = 0;
  OperatorKind kind = OperatorKind::kOperator;
  std::int64_t start_unix_ns = 0;
  std::int64_t duration_ns = 0;  // one that is negative is kept as 0
  std::int64_t sequence = -1;    // autograd's: pairs a forward call with its backward call. -1: none
  friend bool operator==(const OperatorCall&, const OperatorCall&) = default;
};

// Memory of a device, or of the host, taken or given back.
struct MemoryChange {
  std::int64_t unix_ns = 0;
  std::int64_t bytes = 0;        // negative: given back
  std::int64_t total_bytes = 0;  // in use after it
  std::int32_t device = -1;      // -1: the host
  friend bool operator==(const MemoryChange&, const MemoryChange&) = default;
};

// What one worker called in one step.
struct OperatorBatch {
  std::int64_t global_step = 0;
  Mode mode = Mode::kGlobal;
  std::vector<std::string> names;  // of operators; any bytes
  std::vector<OperatorTrack> tracks;
  std::vector<OperatorCall> calls;   // by track, then by start; longer first at equal starts
  std::vector<MemoryChange> memory;  // by time
  std::uint64_t lost_calls = 0;      // that could not be kept
  friend bool operator==(const OperatorBatch&, const OperatorBatch&) = default;
};

// What a batch may hold. A journal refuses a larger one.
inline constexpr std::size_t kMaxOperatorCalls = std::size_t{1} << 22;
inline constexpr std::size_t kMaxMemoryChanges = std::size_t{1} << 22;
inline constexpr std::size_t kMaxOperatorNames = std::size_t{1} << 16;
inline constexpr std::size_t kMaxOperatorTracks = 4096;
inline constexpr std::size_t kMaxOperatorNameBytes = 65535;  // of one operator or track

}  // namespace trainwarden
