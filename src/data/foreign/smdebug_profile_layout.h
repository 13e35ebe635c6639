// The names in a folder that SageMaker's profiler wrote: system metrics, and timelines of the framework.
//
//   system/incremental/<YYYYMMDDHH>/<unix seconds of the minute>.algo-1.json      once without the folder of the hour
//   framework/pevents/<YYYYMMDDHH>/<end in microseconds>_<node>_<suffix>.json     node: "4487-host"
//   framework/tensorflow/detailed_profiling/<YYYYMMDDHH>/<step>/<node>_<begin>_<end>.metadata, and below it
//   plugins/profile/<time>/<host>.trace.json.gz
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainwarden::foreign {

inline constexpr std::string_view kSmdebugSystemFolder = "system";
inline constexpr std::string_view kSmdebugFrameworkFolder = "framework";

// Who wrote a timeline, which says what its events are.
enum class SmdebugTimeline : std::uint8_t { kPython, kModel, kHorovod, kDataParallel };
std::string_view suffix_of(SmdebugTimeline timeline);  // "pythontimeline"

// Of "1589930988000000_4487-host_pythontimeline.json". Of "4487-host_pythontimeline.json.tmp", which is still written
// or whose process has died, the end is not known.
struct SmdebugTimelineName {
  std::optional<std::int64_t> end_unix_us;
  std::string_view node;  // part of the file's name
  SmdebugTimeline timeline = SmdebugTimeline::kPython;
};
std::optional<SmdebugTimelineName> parse_smdebug_timeline_name(std::string_view file_name);

// Of "1591748100.algo-1.json".
struct SmdebugSystemName {
  std::int64_t unix_seconds = 0;
  std::string_view node;  // "algo-1"
};
std::optional<SmdebugSystemName> parse_smdebug_system_name(std::string_view file_name);

// Of "151-algo-1_1596634665000000_1596634685000000.metadata": when what lies below its folder was recorded.
struct SmdebugTraceTimes {
  std::string_view node;
  std::int64_t begin_unix_us = 0;
  std::int64_t end_unix_us = 0;
};
std::optional<SmdebugTraceTimes> parse_smdebug_trace_times(std::string_view file_name);

std::string smdebug_hour(std::int64_t unix_seconds);                                // "2020051923", in UTC
std::string smdebug_system_file(std::int64_t unix_seconds, std::string_view node);  // of the minute that it lies in
std::string smdebug_timeline_file(std::int64_t end_unix_us, std::string_view node, SmdebugTimeline timeline);
// As it may stand in a file's name: what separates its parts, and what is no letter or number, is "-".
std::string smdebug_node(std::string_view name);

}  // namespace trainwarden::foreign
