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

constexpr std::array<std::string_view, 8> kEventKinds = {"suggested", "started", "beat",     "reported",
                                                         "ended",     "closed",  "reopened", "extended"};
constexpr std::array<std::string_view, 5> kStates = {"waiting", "running", "complete", "pruned", "failed"};
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
  for (const auto& [field, text] :
       {std::pair("sampler", &event.sampler), {"worker", &event.worker}, {"job", &event.job}, {"why", &event.why}}) {
    if (!json.contains(field)) continue;
    TRAINWARDEN_ASSIGN_OR_RETURN(*text, format::string_field(json, field));
  }
  return {};
}

Status read_state(const Json& json, StudyEvent& event) {
  if (event.kind != StudyEventKind::kEnded) return {};
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string word, format::string_field(json, "state"));
  const auto state = place_of(kStates, word);
  if (!state || *state < 2) return Status(Code::kDataLoss, fmt::format("state: no trial ends {}", printable(word)));
  event.state = static_cast<TrialState>(*state);
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
  if (event.kind == StudyEventKind::kSuggested || event.kind == StudyEventKind::kExtended) {
    json["values"] = OrderedJson::object();
    for (const auto& [key, value] : event.values) json["values"][key] = json_of(value);
  }
  if (!event.notes.empty()) json["notes"] = numbers_json(event.notes);
  for (const auto& [field, text] :
       {std::pair("sampler", &event.sampler), {"worker", &event.worker}, {"job", &event.job}}) {
    if (!text->empty()) json[field] = *text;
  }
  if (event.lease_unix_ns > 0) json["lease"] = event.lease_unix_ns;
  if (event.kind == StudyEventKind::kReported) json["step"] = event.step;
  if (event.kind == StudyEventKind::kEnded) json["state"] = kStates[static_cast<std::size_t>(event.state)];
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
  TRAINWARDEN_RETURN_IF_ERROR(read_parameter(json, event));
  TRAINWARDEN_RETURN_IF_ERROR(read_unused(json, event));
  TRAINWARDEN_RETURN_IF_ERROR(read_attributes(json, event));
  if (json.contains("lease")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(event.lease_unix_ns, format::int_field(json, "lease", 0));
  }
  if (event.kind == StudyEventKind::kReported) {
    TRAINWARDEN_ASSIGN_OR_RETURN(event.step, format::int_field(json, "step"));
  }
  if (json.contains("seconds")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(event.seconds, format::number_field(json, "seconds"));
  }
  return event;
}

}  // namespace trainwarden::tune
