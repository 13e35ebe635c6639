// Fuzzes what SageMaker's profiler wrote: timelines and samples keep to their limits, and what is written of a sample
// is read again as the same.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "data/foreign/smdebug_profile_layout.h"
#include "data/foreign/smdebug_profiler_config.h"
#include "data/foreign/smdebug_system_metrics.h"
#include "data/foreign/trace_events.h"

namespace {

using namespace trainwarden;

void check_trace(std::string_view text) {
  constexpr std::size_t kMost = 64;
  const foreign::Trace trace = foreign::read_trace(text, kMost);
  if (trace.events.size() > kMost) std::abort();
  for (const foreign::TraceEvent& event : trace.events) {
    if (event.name >= trace.names.size() || event.process >= trace.processes.size()) std::abort();
    if (event.duration_ns < 0 || event.step < -1) std::abort();
  }
}

void check_samples(std::string_view text) {
  foreign::read_smdebug_samples(text, [](const foreign::SmdebugSample& sample) {
    if (!std::isfinite(sample.value)) std::abort();
    bool is_same = false;
    const auto again =
        foreign::read_smdebug_samples(foreign::smdebug_sample_line(sample), [&](const foreign::SmdebugSample& read) {
          is_same = read.name == sample.name && read.node == sample.node && read.value == sample.value;
        });
    // Names that are long when they are escaped make a line that is too long.
    if (again.damaged == 0 && !is_same) std::abort();
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  const std::string_view text(reinterpret_cast<const char*>(data), bytes);
  check_trace(text);
  check_samples(text);
  foreign::parse_smdebug_timeline_name(text);
  foreign::parse_smdebug_system_name(text);
  foreign::parse_smdebug_trace_times(text);
  const auto config = foreign::parse_smdebug_profiler_config(text);
  if (!config.ok() && config.status().message().empty()) std::abort();
  return 0;
}
