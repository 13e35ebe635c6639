// profilerconfig.json: what SageMaker tells a training about how it is to be profiled. A platform rewrites it while the
// training runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"

namespace trainwarden::foreign {

// Steps [start, start + count), or a stretch of time. What is not said begins now.
struct SmdebugProfileRange {
  std::optional<std::int64_t> start_step;
  std::int64_t steps = 1;
  std::optional<double> start_unix_seconds;
  std::optional<double> seconds;
  bool by_time() const { return start_unix_seconds.has_value() || seconds.has_value(); }
  friend bool operator==(const SmdebugProfileRange&, const SmdebugProfileRange&) = default;
};

struct SmdebugProfilerConfig {
  bool disabled = false;                           // all of it
  bool framework = false;                          // there are ProfilingParameters, and they are not switched off
  std::optional<std::int64_t> interval_ms{};       // between samples of the machine
  std::optional<SmdebugProfileRange> operators{};  // DetailedProfilingConfig
  std::optional<SmdebugProfileRange> stacks{};     // PythonProfilingConfig
  std::vector<std::string> without_effect{};  // what it says and nothing here does: "HorovodProfilingConfig", with why
  friend bool operator==(const SmdebugProfilerConfig&, const SmdebugProfilerConfig&) = default;
};

// Keys and values in any case. The dicts that are values of texts may be JSON, or as Python prints them; they are read
// and never run. kInvalidArgument with what was expected and found: unlike smdebug, which then profiles nothing and
// says so in a log. Both "Duration", as the SDK writes it, and "DurationInSeconds" are read, and a StartStep of 0
// counts.
Result<SmdebugProfilerConfig> parse_smdebug_profiler_config(std::string_view json);

}  // namespace trainwarden::foreign
