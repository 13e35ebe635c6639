// Kineto trace: the JSON that PyTorch's profiler writes (Chrome's trace events), read event by event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "trainwarden/status.h"

namespace trainwarden::foreign {

// A stretch of time (phase X), or an instant of it ("[memory]"). Texts are any bytes.
struct KinetoEvent {
  bool is_instant = false;
  std::string category;  // "cpu_op", "kernel"; older: "Operator", "Kernel"
  std::string name;
  std::string process;        // "67844"; of a device its number
  std::string thread;         // "67844", "stream 7"
  std::int64_t start_ns = 0;  // as the trace counts: KinetoTrace::base_ns must be added
  std::int64_t duration_ns = 0;
  // Of its arguments; none: not said.
  std::optional<std::int64_t> sequence{};  // of autograd: "Sequence number"
  std::optional<std::int64_t> stream{};
  std::optional<std::int64_t> device{};
  std::optional<std::int64_t> bytes{};            // of "[memory]"; negative: given back
  std::optional<std::int64_t> total_allocated{};  // in use after it
  std::optional<std::int64_t> device_type{};      // 0: the host
};

// What a trace says of itself, before or behind its events.
struct KinetoTrace {
  std::int64_t base_ns = 0;            // "baseTimeNanoseconds": where times begin; 0: they are of the clock themselves
  std::optional<std::int64_t> rank{};  // of "distributedInfo"
  std::optional<std::int64_t> world_size{};
  std::uint64_t events = 0;  // that the sink got
};

inline constexpr std::size_t kMaxKinetoTokenBytes = std::size_t{1} << 20;  // of one name, text or number

// Fills what it is given with what comes next of the text; gives how much, 0 at the end.
using TextSource = std::function<Result<std::size_t>(std::span<char>)>;
// An error ends reading.
using KinetoSink = std::function<Status(const KinetoEvent&)>;

// Memory: one event at a time. kDataLoss when the text is no such trace, or is cut; errors of both others as they are.
Result<KinetoTrace> read_kineto_trace(const TextSource& source, const KinetoSink& sink);

}  // namespace trainwarden::foreign
