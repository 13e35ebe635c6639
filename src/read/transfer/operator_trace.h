// Operator trace: a run's operator calls as a file of another program. docs/reference/export.md has what goes where.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "read/transfer/operator_choice.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"

namespace trainwarden::transfer {

enum class TraceFormat : std::uint8_t {
  kChromeTrace,  // JSON of trace events: what runs when
  kPerfetto,     // Perfetto's protobuf: the same in a quarter of the bytes
  kSpeedscope,   // JSON of speedscope: the same, as flame graphs
  kCollapsed,    // a line for each stack of calls and the nanoseconds that it took itself
};
std::string_view name(TraceFormat format);  // "chrome-trace", "perfetto", "speedscope", "collapsed"
std::optional<TraceFormat> parse_trace_format(std::string_view text);

struct TraceOptions {
  TraceFormat format = TraceFormat::kChromeTrace;
  OperatorChoice choice{};
  std::uint64_t max_bytes = std::uint64_t{256} << 20;  // what comes then is left out: viewers give up on large files
  std::stop_token stop{};                              // what comes then is left out
  std::function<void(std::int64_t global_step)> on_step{};  // before each step
};

struct TraceReport {
  std::uint64_t steps = 0;  // of all workers together
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;           // of the text
  std::uint64_t left_out_steps = 0;  // for want of room, or because it was stopped: not even begun
  std::uint64_t left_out_calls = 0;  // for want of room: of steps that were begun
  std::uint64_t lost_calls = 0;      // that the run does not have
  std::uint64_t damaged_steps = 0;   // of which nothing can be read
};

// Where the text goes, piece by piece.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual Status append(std::string_view text) = 0;
};

// Reads one step of one worker at a time. kNotFound when a worker is not there, or when the choice has no operator
// calls; nothing was written then.
Result<TraceReport> write_trace(Trial& trial, const TraceOptions& options, TraceSink& sink);

}  // namespace trainwarden::transfer
