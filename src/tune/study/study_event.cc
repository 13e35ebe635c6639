#include "tune/study/study_event.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "core/base/text.h"
#include "data/format/json_number.h"
#include "tune/study/study_spec.h"
#include "work/document/document.h"

namespace trainwarden::tune {
namespace {

using format::Json;
using format::OrderedJson;

constexpr std::array<std::string_view, 11> kEventKinds = {"suggested", "started",  "beat",     "reported",
                                                          "ended",     "closed",   "reopened", "inherited",
                                                          "paused",    "promoted", "extended"};
constexpr std::array<std::string_view, 6> kStates = {"waiting", "running", "complete", "pruned", "failed", "paused"};
constexpr std::size_t kMaxNumbers = 1000;  // of one event
constexpr std::size_t kMaxAttributes = 1000;

template <std::size_t N>
std::optional<std::size_t> place_of(const std::array<std::string_view, N>& words, std::string_view word) {
  const auto found = std::find(words.begin(), words.end(), word);
  return found == words.end() ? std::nullopt : std::optional<std::size_t>(found - words.begin());
}

std::optional<TriedValue> value_of(const Json& json) {
  if (json.is_string()) return TriedValue(json.get<std::string>());
  if (json.is_boolean()) return TriedValue(json.get<bool>());
  if (json.is_number_integer()) return TriedValue(json.get<std::int64_t>());
  if (json.is_number_float()) return TriedValue(json.get<double>());
  return std::nullopt;
}

OrderedJson numbers_json(const std::map<std::string, double>& numbers) {
  OrderedJson json = OrderedJson::object();
  for (const auto& [key, number] : numbers) json[key] = format::json_number(number);
  return json;
}

Result<std::map<std::string, double>> numbers_field(const Json& json, const char* field) {
  std::map<std::string, double> numbers;
  if (!json.contains(field)) return numbers;
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* const object, format::object_field(json, field));
  if (object->size() > kMaxNumbers) return Status(Code::kDataLoss, fmt::format("{}: too many numbers", field));
  for (const auto& [key, unused] : object->items()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(numbers[key], format::number_field(*object, key.c_str()));
  }
  return numbers;
}

Result<TriedValues> values_field(const Json& json) {
  TriedValues values;
  if (!json.contains("values")) return values;
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* const object, format::object_field(json, "values"));
  if (object->size() > kMaxParameters) return Status(Code::kDataLoss, "values: too many");
  for (const auto& [key, item] : object->items()) {
    const auto value = value_of(item);
    if (!value) return Status(Code::kDataLoss, fmt::format("values: {} is no value", printable(key)));
    values[key] = *value;
  }
  return values;
}

Status read_parameter(const Json& json, StudyEvent& event) {
  if (event.kind != StudyEventKind::kExtended) return {};
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* const object, format::object_field(json, "parameter"));
  const auto table = document::parse(format::dump_json(format::OrderedJson(*object)), "parameter");
  if (!table.ok() || table->fields.size() != 1) return Status(Code::kDataLoss, "parameter: expected one");
  document::Mistakes mistakes;
  event.parameter = read_hyperparameter(table->fields.front(), mistakes);
  return mistakes.count() == 0 ? Status() : Status(Code::kDataLoss, mistakes.status().message());
}

Status read_unused(const Json& json, StudyEvent& event) {
  if (!json.contains("unused")) return {};
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* const list, format::array_field(json, "unused"));
  if (list->size() > kMaxParameters) return Status(Code::kDataLoss, "unused: too many");
  for (const Json& each : *list) {
    if (!each.is_string()) return Status(Code::kDataLoss, "unused: expected names");
    event.unused.push_back(each.get<std::string>());
  }
  return {};
}

Status read_attributes(const Json& json, StudyEvent& event) {
  if (!json.contains("attributes")) return {};
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* const object, format::object_field(json, "attributes"));
  if (object->size() > kMaxAttributes) return Status(Code::kDataLoss, "attributes: too many");
  for (const auto& [key, value] : object->items())
    event.attributes[key] = format::dump_json(format::OrderedJson(value));
  return {};
}

Status read_texts(const Json& json, StudyEvent& event) {
  for (const auto& [field, text] : {std::pair("sampler", &event.sampler),
                                    {"worker", &event.worker},
                                    {"job", &event.job},
                                    {"why", &event.why},
                                    {"fingerprint", &event.fingerprint},
                                    {"origin", &event.origin}}) {
    if (!json.contains(field)) continue;
    TRAINWARDEN_ASSIGN_OR_RETURN(*text, format::string_field(json, field));
  }
  return {};
}

bool has_state(StudyEventKind kind) {
  return kind == StudyEventKind::kEnded || kind == StudyEventKind::kInherited;
}

bool has_step(StudyEventKind kind) {
  return kind == StudyEventKind::kReported || kind == StudyEventKind::kPromoted;
}

Status read_state(const Json& json, StudyEvent& event) {
  if (!has_state(event.kind)) return {};
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string word, format::string_field(json, "state"));
  const auto place = place_of(kStates, word);
  const StudyTrial ended{.state = static_cast<TrialState>(place.value_or(0))};
  if (!ended.is_over()) return Status(Code::kDataLoss, fmt::format("state: no trial ends {}", printable(word)));
  event.state = ended.state;
  if (json.contains("by_verdict")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(event.by_verdict, format::bool_field(json, "by_verdict"));
  }
  return {};
}

Status read_origin(const Json& json, StudyEvent& event) {
  if (json.contains("same_as")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(event.same_as, format::int_field(json, "same_as", 0, kMaxTrials - 1));
  }
  if (json.contains("has_more")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(event.has_more, format::bool_field(json, "has_more"));
  }
  if (event.kind == StudyEventKind::kInherited && !is_study_name(event.origin)) {
    return Status(Code::kDataLoss, "origin: expected the name of a study");
  }
  return {};
}

}  // namespace

std::string_view name(TrialState state) {
  return kStates[static_cast<std::size_t>(state)];
}

OrderedJson attributes_json(const std::map<std::string, std::string>& attributes) {
  OrderedJson json = OrderedJson::object();
  for (const auto& [key, text] : attributes) {
    json[key] = OrderedJson::parse(text, nullptr, false);
    if (json[key].is_discarded()) json[key] = text;
  }
  return json;
}

OrderedJson json_of(const StudyEvent& event) {
  OrderedJson json = {{"kind", kEventKinds[static_cast<std::size_t>(event.kind)]}, {"at", event.unix_ns}};
  if (event.trial >= 0) json["trial"] = event.trial;
  if (event.parameter) json["parameter"] = {{event.parameter->name, json_of(*event.parameter)}};
  if (event.kind == StudyEventKind::kSuggested || event.kind == StudyEventKind::kInherited ||
      event.kind == StudyEventKind::kExtended) {
    json["values"] = OrderedJson::object();
    for (const auto& [key, value] : event.values) json["values"][key] = json_of(value);
  }
  if (!event.notes.empty()) json["notes"] = numbers_json(event.notes);
  for (const auto& [field, text] : {std::pair("sampler", &event.sampler),
                                    {"worker", &event.worker},
                                    {"job", &event.job},
                                    {"fingerprint", &event.fingerprint},
                                    {"origin", &event.origin}}) {
    if (!text->empty()) json[field] = *text;
  }
  if (event.lease_unix_ns > 0) json["lease"] = event.lease_unix_ns;
  if (event.same_as >= 0) json["same_as"] = event.same_as;
  if (event.has_more) json["has_more"] = true;
  if (has_step(event.kind) || event.step > 0) json["step"] = event.step;
  if (has_state(event.kind)) json["state"] = kStates[static_cast<std::size_t>(event.state)];
  if (event.by_verdict) json["by_verdict"] = true;
  if (!event.metrics.empty()) json["metrics"] = numbers_json(event.metrics);
  if (!event.why.empty()) json["why"] = event.why;
  if (event.seconds > 0) json["seconds"] = event.seconds;
  if (!event.unused.empty()) json["unused"] = event.unused;
  if (!event.attributes.empty()) json["attributes"] = attributes_json(event.attributes);
  return json;
}

Result<StudyEvent> study_event_of(const Json& json) {
  StudyEvent event;
  if (!json.is_object()) return Status(Code::kDataLoss, "an event is no object");
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string kind, format::string_field(json, "kind"));
  const auto known = place_of(kEventKinds, kind);
  if (!known) return Status(Code::kDataLoss, fmt::format("kind: no event is {}", printable(kind)));
  event.kind = static_cast<StudyEventKind>(*known);
  TRAINWARDEN_ASSIGN_OR_RETURN(event.unix_ns, format::int_field(json, "at", 0));
  const bool is_of_study = event.kind == StudyEventKind::kClosed || event.kind == StudyEventKind::kReopened;
  if (!is_of_study) {
    TRAINWARDEN_ASSIGN_OR_RETURN(event.trial, format::int_field(json, "trial", 0, kMaxTrials - 1));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(event.values, values_field(json));
  TRAINWARDEN_ASSIGN_OR_RETURN(event.notes, numbers_field(json, "notes"));
  TRAINWARDEN_ASSIGN_OR_RETURN(event.metrics, numbers_field(json, "metrics"));
  TRAINWARDEN_RETURN_IF_ERROR(read_texts(json, event));
  TRAINWARDEN_RETURN_IF_ERROR(read_state(json, event));
  TRAINWARDEN_RETURN_IF_ERROR(read_origin(json, event));
  TRAINWARDEN_RETURN_IF_ERROR(read_parameter(json, event));
  TRAINWARDEN_RETURN_IF_ERROR(read_unused(json, event));
  TRAINWARDEN_RETURN_IF_ERROR(read_attributes(json, event));
  if (json.contains("lease")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(event.lease_unix_ns, format::int_field(json, "lease", 0));
  }
  if (has_step(event.kind) || json.contains("step")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(event.step, format::int_field(json, "step"));
  }
  if (json.contains("seconds")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(event.seconds, format::number_field(json, "seconds"));
  }
  return event;
}

}  // namespace trainwarden::tune
