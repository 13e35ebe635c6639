#include "data/foreign/smdebug_profile_layout.h"

#include <array>
#include <ctime>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::foreign {
namespace {

constexpr std::string_view kJson = ".json", kUnfinished = ".json.tmp", kMetadata = ".metadata";
constexpr std::array kTimelines = {SmdebugTimeline::kPython, SmdebugTimeline::kModel, SmdebugTimeline::kHorovod,
                                   SmdebugTimeline::kDataParallel};
constexpr std::int64_t kSecondsInMinute = 60;
constexpr std::int64_t kMicroseconds = 1'000'000;

bool take_ending(std::string_view& text, std::string_view ending) {
  if (!text.ends_with(ending)) return false;
  text.remove_suffix(ending.size());
  return true;
}

// The number before the first "_", which it takes away with it. Digits only.
std::optional<std::int64_t> take_number(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  const std::string_view digits = text.substr(0, end);
  if (digits.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  const auto number = parse_int(digits);
  if (number) text.remove_prefix(end + 1);
  return number;
}

}  // namespace

std::string_view suffix_of(SmdebugTimeline timeline) {
  switch (timeline) {
    case SmdebugTimeline::kPython: return "pythontimeline";
    case SmdebugTimeline::kModel: return "model_timeline";
    case SmdebugTimeline::kHorovod: return "horovod_timeline";
    case SmdebugTimeline::kDataParallel: return "smdataparallel_timeline";
  }
  return "";
}

std::optional<SmdebugTimelineName> parse_smdebug_timeline_name(std::string_view file_name) {
  const bool unfinished = take_ending(file_name, kUnfinished);
  if (!unfinished && !take_ending(file_name, kJson)) return std::nullopt;
  for (const SmdebugTimeline timeline : kTimelines) {
    std::string_view rest = file_name;
    if (!take_ending(rest, suffix_of(timeline)) || !take_ending(rest, "_")) continue;
    SmdebugTimelineName name{std::nullopt, {}, timeline};
    if (!unfinished && !(name.end_unix_us = take_number(rest, '_'))) return std::nullopt;
    name.node = rest.substr(0, rest.find('_'));  // early versions have another number behind it
    return name.node.empty() ? std::nullopt : std::optional(name);
  }
  return std::nullopt;
}

std::optional<SmdebugSystemName> parse_smdebug_system_name(std::string_view file_name) {
  if (!take_ending(file_name, kJson)) return std::nullopt;
  const auto seconds = take_number(file_name, '.');
  if (!seconds || !file_name.starts_with("algo-") || file_name.size() > 64) return std::nullopt;
  return SmdebugSystemName{*seconds, file_name};
}

std::optional<SmdebugTraceTimes> parse_smdebug_trace_times(std::string_view file_name) {
  if (!take_ending(file_name, kMetadata)) return std::nullopt;
  const std::size_t last = file_name.rfind('_');
  if (last == std::string_view::npos || last == 0) return std::nullopt;
  const std::size_t first = file_name.rfind('_', last - 1);
  if (first == std::string_view::npos || first == 0) return std::nullopt;
  // Both are floats in files of some versions: "1596634665000000.0".
  const auto number = [](std::string_view text) { return parse_int(text.substr(0, text.find('.'))); };
  const auto begin = number(file_name.substr(first + 1, last - first - 1));
  const auto end = number(file_name.substr(last + 1));
  if (!begin || !end || *begin < 0 || *end < *begin) return std::nullopt;
  return SmdebugTraceTimes{file_name.substr(0, first), *begin, *end};
}

std::string smdebug_hour(std::int64_t unix_seconds) {
  const std::time_t time = unix_seconds;
  std::tm parts{};
  if (gmtime_r(&time, &parts) == nullptr) return "0000000000";
  return fmt::format("{:04}{:02}{:02}{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour);
}

std::string smdebug_system_file(std::int64_t unix_seconds, std::string_view node) {
  const std::int64_t minute = unix_seconds / kSecondsInMinute * kSecondsInMinute;
  return fmt::format("system/incremental/{}/{:010}.{}.json", smdebug_hour(minute), minute, node);
}

std::string smdebug_timeline_file(std::int64_t end_unix_us, std::string_view node, SmdebugTimeline timeline) {
  return fmt::format("framework/pevents/{}/{}_{}_{}.json", smdebug_hour(end_unix_us / kMicroseconds), end_unix_us, node,
                     suffix_of(timeline));
}

std::string smdebug_node(std::string_view name) {
  constexpr std::size_t kMostBytes = 128;
  std::string node(name.substr(0, kMostBytes));
  for (char& one : node) {
    const bool plain = (one >= '0' && one <= '9') || (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z');
    if (!plain && one != '.') one = '-';
  }
  return node;
}

}  // namespace trainwarden::foreign
