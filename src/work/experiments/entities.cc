#include "work/experiments/entities.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"

namespace trainwarden::experiments {
namespace {

constexpr std::array<std::string_view, 5> kComponentStatuses = {"InProgress", "Completed", "Failed", "Stopping",
                                                                "Stopped"};

bool is_alnum(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

Status too_long(std::string_view what, std::size_t bytes, std::size_t limit) {
  return Status(Code::kInvalidArgument, fmt::format("{} has {} bytes; {} are the most", what, bytes, limit));
}

Status check_text(std::string_view what, const std::string& text, std::size_t limit) {
  if (text.size() > limit) return too_long(what, text.size(), limit);
  if (!is_utf8(text)) return Status(Code::kInvalidArgument, fmt::format("{} is no UTF-8", what));
  return Status();
}

template <class Value>
Status check_entries(std::string_view what, const std::map<std::string, Value>& entries, std::size_t limit) {
  if (entries.size() > limit) {
    return Status(Code::kInvalidArgument, fmt::format("{} {}; {} are the most", entries.size(), what, limit));
  }
  for (const auto& [key, value] : entries) {
    if (key.empty()) return Status(Code::kInvalidArgument, fmt::format("{}: a name is empty", what));
    TRAINWARDEN_RETURN_IF_ERROR(check_text(fmt::format("a name of {}", what), key, kMaxKey));
  }
  return Status();
}

Status check_artifacts(std::string_view what, const std::map<std::string, ArtifactUse>& artifacts) {
  TRAINWARDEN_RETURN_IF_ERROR(check_entries(what, artifacts, kMaxArtifacts));
  for (const auto& [name, use] : artifacts) {
    const std::string place = fmt::format("{} {}", what, printable(name));
    if (use.uri.empty()) return Status(Code::kInvalidArgument, place + " has no URI");
    TRAINWARDEN_RETURN_IF_ERROR(check_text("the URI of " + place, use.uri, kMaxUri));
    TRAINWARDEN_RETURN_IF_ERROR(check_text("the media type of " + place, use.media_type, kMaxMediaType));
    for (const std::string* const text : {&use.type, &use.hash}) {
      TRAINWARDEN_RETURN_IF_ERROR(check_text(place, *text, kMaxKey));
    }
    TRAINWARDEN_RETURN_IF_ERROR(check_text("the note of " + place, use.note, kMaxMessage));
  }
  return Status();
}

Status check_component_status(const std::string& status) {
  const bool known =
      std::find(kComponentStatuses.begin(), kComponentStatuses.end(), status) != kComponentStatuses.end();
  if (status.empty() || known) return Status();
  return Status(Code::kInvalidArgument, fmt::format("status \"{}\"; expected one of {}", printable(status),
                                                    fmt::join(kComponentStatuses, ", ")));
}

void take(std::string& ours, const std::string& later) {
  if (!later.empty()) ours = later;
}

}  // namespace

bool is_entity_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxEntityName && is_alnum(name.front()) && is_alnum(name.back()) &&
         std::all_of(name.begin(), name.end(), [](char c) { return is_alnum(c) || c == '-'; });
}

Status check_entity_name(std::string_view kind, std::string_view name) {
  if (is_entity_name(name)) return Status();
  return Status(
      Code::kInvalidArgument,
      fmt::format("\"{}\" is no name of {} {}; expected letters and digits with hyphens between them, {} at most",
                  printable(name), kind == "experiment" ? "an" : "a", kind, kMaxEntityName));
}

void ComponentRecord::merge(const ComponentRecord& later) {
  unix_ns = std::max(unix_ns, later.unix_ns);
  take(display_name, later.display_name);
  take(run_name, later.run_name);
  take(source, later.source);
  take(status, later.status);
  take(message, later.message);
  if (later.start_unix_ns) start_unix_ns = later.start_unix_ns;
  if (later.end_unix_ns) end_unix_ns = later.end_unix_ns;
  for (const auto& [name, value] : later.parameters) parameters[name] = value;
  for (const auto& [name, summary] : later.metrics) metrics[name].merge(summary);
  for (const auto& [name, use] : later.inputs) inputs[name] = use;
  for (const auto& [name, use] : later.outputs) outputs[name] = use;
  for (const auto& [name, value] : later.tags) tags[name] = value;
  trials.insert(later.trials.begin(), later.trials.end());
}

Status ComponentRecord::check() const {
  TRAINWARDEN_RETURN_IF_ERROR(check_text("the display name", display_name, kMaxEntityName));
  TRAINWARDEN_RETURN_IF_ERROR(check_text("the run name", run_name, kMaxEntityName));
  TRAINWARDEN_RETURN_IF_ERROR(check_text("the source", source, kMaxUri));
  TRAINWARDEN_RETURN_IF_ERROR(check_text("the message", message, kMaxMessage));
  TRAINWARDEN_RETURN_IF_ERROR(check_component_status(status));
  TRAINWARDEN_RETURN_IF_ERROR(check_entries("parameters", parameters, kMaxParameters));
  for (const auto& [name, value] : parameters) {
    const std::string* const text = std::get_if<std::string>(&value);
    if (text == nullptr) continue;
    TRAINWARDEN_RETURN_IF_ERROR(check_text("parameter " + printable(name), *text, kMaxParameterText));
  }
  TRAINWARDEN_RETURN_IF_ERROR(check_entries("metrics", metrics, kMaxMetrics));
  TRAINWARDEN_RETURN_IF_ERROR(check_artifacts("input artifacts", inputs));
  TRAINWARDEN_RETURN_IF_ERROR(check_artifacts("output artifacts", outputs));
  TRAINWARDEN_RETURN_IF_ERROR(check_entries("tags", tags, kMaxEntityTags));
  for (const auto& [name, value] : tags)
    TRAINWARDEN_RETURN_IF_ERROR(check_text("tag " + printable(name), value, kMaxKey));
  if (trials.size() > kMaxTrials) {
    return Status(Code::kInvalidArgument, fmt::format("{} trials; {} are the most", trials.size(), kMaxTrials));
  }
  for (const std::string& trial : trials) TRAINWARDEN_RETURN_IF_ERROR(check_entity_name("trial", trial));
  return Status();
}

}  // namespace trainwarden::experiments
