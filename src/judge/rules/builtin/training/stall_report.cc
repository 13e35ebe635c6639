#include "judge/rules/builtin/training/stall_report.h"

#include "data/format/json.h"
#include "read/trial/trial_access.h"

namespace trainwarden::rules {
namespace {

using format::Json;

constexpr std::uint64_t kMaxBytes = 256 << 10;
constexpr std::size_t kMaxText = 200;
constexpr std::size_t kMaxGroups = 32;
constexpr std::size_t kMaxSizes = 8;
constexpr std::string_view kOfProgram = "* ";

std::string text_of(const Json& object, const char* field) {
  const auto found = object.find(field);
  return found != object.end() && found->is_string() ? found->get<std::string>().substr(0, kMaxText) : std::string();
}

// Of the first thread, which trains.
std::string place_in(const Json& report) {
  const auto threads = report.find("threads");
  if (threads == report.end() || !threads->is_array() || threads->empty() || !threads->front().is_object()) return {};
  const auto frames = threads->front().find("frames");
  if (frames == threads->front().end() || !frames->is_array()) return {};
  std::string innermost;
  for (const Json& frame : *frames) {
    if (!frame.is_string()) continue;
    const std::string line = frame.get<std::string>().substr(0, kMaxText);
    if (line.rfind(kOfProgram, 0) == 0) return line.substr(kOfProgram.size());
    if (innermost.empty()) innermost = line;
  }
  return innermost;
}

std::vector<std::int64_t> sizes_in(const Json& group) {
  std::vector<std::int64_t> sizes;
  const auto found = group.find("sizes");
  if (found == group.end() || !found->is_array()) return sizes;
  for (const Json& size : *found) {
    if (size.is_number_integer() && sizes.size() < kMaxSizes) sizes.push_back(size.get<std::int64_t>());
  }
  return sizes;
}

// Those that are as the format says.
std::vector<GroupState> groups_in(const Json& report) {
  std::vector<GroupState> groups;
  const auto found = report.find("groups");
  if (found == report.end() || !found->is_array()) return groups;
  for (const Json& group : *found) {
    if (!group.is_object() || groups.size() == kMaxGroups) continue;
    const auto number = format::int_field(group, "number");
    if (!number.ok() || *number < 0) continue;
    groups.push_back({text_of(group, "group"), text_of(group, "ranks"), *number, text_of(group, "operation"),
                      sizes_in(group), text_of(group, "state") == "completed"});
  }
  return groups;
}

Result<StallReport> parse(const std::string& text) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, format::parse_json_object(text, "the report of a stall"));
  StallReport report;
  TRAINWARDEN_ASSIGN_OR_RETURN(report.step, format::int_field(json, "step"));
  TRAINWARDEN_ASSIGN_OR_RETURN(report.written_unix_ns, format::int_field(json, "written_unix_ns"));
  TRAINWARDEN_ASSIGN_OR_RETURN(report.is_idle, format::bool_field(json, "is_idle"));
  report.collective = text_of(json, "collective");
  report.place = place_in(json);
  report.groups = groups_in(json);
  return report;
}

}  // namespace

std::optional<StallReport> read_stall_report(const Trial& trial, const std::string& worker) {
  const auto text = TrialAccess::location(trial).storage().read("stalls/" + worker + ".json", kMaxBytes);
  if (!text.ok()) return std::nullopt;
  auto report = parse(*text);
  return report.ok() ? std::optional<StallReport>(*std::move(report)) : std::nullopt;
}

}  // namespace trainwarden::rules
