// The documents of entities: as they lie in files that anybody may have written.
#include <fmt/format.h>

#include "core/base/text.h"
#include "data/format/json_number.h"
#include "work/experiments/entities.h"

namespace trainwarden::experiments {
namespace {

using format::Json;
using format::OrderedJson;

constexpr std::int64_t kFormat = 1;

Result<Json> parse_entity(std::string_view text, const std::string& what) {
  TRAINWARDEN_ASSIGN_OR_RETURN(Json json, format::parse_json_object(text, what));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t version, format::int_field(json, "format", 1));
  if (version <= kFormat) return json;
  return Status(Code::kUnimplemented, fmt::format("{}: of a newer version of Trainwarden (format {})", what, version));
}

// Limits that a writer would have been told of are damage in a file.
Status as_damage(const Status& status, const std::string& what) {
  return status.ok() ? status : Status(Code::kDataLoss, fmt::format("{}: {}", what, status.message()));
}

Result<std::string> optional_text(const Json& json, const char* field) {
  return json.contains(field) ? format::string_field(json, field) : Result<std::string>(std::string());
}

Result<std::optional<std::int64_t>> optional_time(const Json& json, const char* field) {
  if (!json.contains(field)) return std::optional<std::int64_t>();
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t time, format::int_field(json, field, 0));
  return std::optional<std::int64_t>(time);
}

// Calls read(name, value) for each entry of the object in `field`, if it is there.
template <class Read>
Status read_entries(const Json& json, const char* field, const Read& read) {
  if (!json.contains(field)) return Status();
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* const object, format::object_field(json, field));
  for (const auto& [name, value] : object->items()) TRAINWARDEN_RETURN_IF_ERROR(read(name, value));
  return Status();
}

Status read_texts(const Json& json, const char* field, std::map<std::string, std::string>& texts) {
  return read_entries(json, field, [&](const std::string& name, const Json& value) {
    if (!value.is_string()) return Status(Code::kDataLoss, fmt::format("{}: expected texts", field));
    texts.emplace(name, value.get<std::string>());
    return Status();
  });
}

Result<ComponentValue> parameter_of(const Json& value) {
  if (value.is_number()) return ComponentValue(value.get<double>());
  if (value.is_string()) return ComponentValue(value.get<std::string>());
  return Status(Code::kDataLoss, "parameters: expected numbers and texts");
}

OrderedJson json_of_parameters(const std::map<std::string, ComponentValue>& parameters) {
  OrderedJson json = OrderedJson::object();
  for (const auto& [name, value] : parameters) {
    const double* const number = std::get_if<double>(&value);
    json[name] = number != nullptr ? format::json_number(*number) : OrderedJson(std::get<std::string>(value));
  }
  return json;
}

OrderedJson json_of_metric(const MetricSummary& summary) {
  return {{"count", summary.count},
          {"finite", summary.finite},
          {"min", format::json_number(summary.min)},
          {"max", format::json_number(summary.max)},
          {"mean", format::json_number(summary.mean)},
          {"m2", format::json_number(summary.m2)},
          {"last", format::json_number(summary.last)},
          {"last_time", summary.last_unix_ns}};
}

Result<MetricSummary> metric_of(const Json& json) {
  if (!json.is_object()) return Status(Code::kDataLoss, "metrics: expected objects");
  MetricSummary summary;
  TRAINWARDEN_ASSIGN_OR_RETURN(summary.count, format::uint_field(json, "count"));
  TRAINWARDEN_ASSIGN_OR_RETURN(summary.finite, format::uint_field(json, "finite", summary.count));
  TRAINWARDEN_ASSIGN_OR_RETURN(summary.min, format::number_field(json, "min"));
  TRAINWARDEN_ASSIGN_OR_RETURN(summary.max, format::number_field(json, "max"));
  TRAINWARDEN_ASSIGN_OR_RETURN(summary.mean, format::number_field(json, "mean"));
  TRAINWARDEN_ASSIGN_OR_RETURN(summary.m2, format::number_field(json, "m2"));
  TRAINWARDEN_ASSIGN_OR_RETURN(summary.last, format::number_field(json, "last"));
  TRAINWARDEN_ASSIGN_OR_RETURN(summary.last_unix_ns, format::int_field(json, "last_time", 0));
  return summary;
}

OrderedJson json_of_artifacts(const std::map<std::string, ArtifactUse>& artifacts) {
  OrderedJson all = OrderedJson::object();
  for (const auto& [name, use] : artifacts) {
    OrderedJson json = {{"uri", use.uri}};
    if (!use.media_type.empty()) json["media_type"] = use.media_type;
    if (!use.type.empty()) json["type"] = use.type;
    if (!use.hash.empty()) json["hash"] = use.hash;
    if (use.bytes) json["bytes"] = *use.bytes;
    if (!use.note.empty()) json["note"] = use.note;
    all[name] = std::move(json);
  }
  return all;
}

Result<ArtifactUse> artifact_of(const Json& json) {
  if (!json.is_object()) return Status(Code::kDataLoss, "artifacts: expected objects");
  ArtifactUse use;
  TRAINWARDEN_ASSIGN_OR_RETURN(use.uri, format::string_field(json, "uri"));
  TRAINWARDEN_ASSIGN_OR_RETURN(use.media_type, optional_text(json, "media_type"));
  TRAINWARDEN_ASSIGN_OR_RETURN(use.type, optional_text(json, "type"));
  TRAINWARDEN_ASSIGN_OR_RETURN(use.hash, optional_text(json, "hash"));
  TRAINWARDEN_ASSIGN_OR_RETURN(use.note, optional_text(json, "note"));
  if (json.contains("bytes")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(use.bytes, format::uint_field(json, "bytes"));
  }
  return use;
}

Status read_artifacts(const Json& json, const char* field, std::map<std::string, ArtifactUse>& artifacts) {
  return read_entries(json, field, [&](const std::string& name, const Json& value) -> Status {
    TRAINWARDEN_ASSIGN_OR_RETURN(artifacts[name], artifact_of(value));
    return Status();
  });
}

Status read_record_entries(const Json& json, ComponentRecord& record) {
  TRAINWARDEN_RETURN_IF_ERROR(
      read_entries(json, "parameters", [&](const std::string& name, const Json& value) -> Status {
        TRAINWARDEN_ASSIGN_OR_RETURN(record.parameters[name], parameter_of(value));
        return Status();
      }));
  TRAINWARDEN_RETURN_IF_ERROR(read_entries(json, "metrics", [&](const std::string& name, const Json& value) -> Status {
    TRAINWARDEN_ASSIGN_OR_RETURN(record.metrics[name], metric_of(value));
    return Status();
  }));
  TRAINWARDEN_RETURN_IF_ERROR(read_artifacts(json, "inputs", record.inputs));
  TRAINWARDEN_RETURN_IF_ERROR(read_artifacts(json, "outputs", record.outputs));
  TRAINWARDEN_RETURN_IF_ERROR(read_texts(json, "tags", record.tags));
  if (!json.contains("trials")) return Status();
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::string> trials, format::strings_field(json, "trials"));
  record.trials = {trials.begin(), trials.end()};
  return Status();
}

// The texts of a record by their fields.
struct RecordText {
  const char* field;
  std::string ComponentRecord::*text;
};
constexpr RecordText kRecordTexts[] = {{"display_name", &ComponentRecord::display_name},
                                       {"run_name", &ComponentRecord::run_name},
                                       {"source", &ComponentRecord::source},
                                       {"status", &ComponentRecord::status},
                                       {"message", &ComponentRecord::message}};

}  // namespace

std::string encode(const ExperimentInfo& experiment) {
  return format::dump_json({{"format", kFormat},
                            {"name", experiment.name},
                            {"display_name", experiment.display_name},
                            {"description", experiment.description},
                            {"created", experiment.created_unix_ns},
                            {"tags", experiment.tags}}) +
         "\n";
}

Result<ExperimentInfo> decode_experiment(std::string_view text, const std::string& what) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, parse_entity(text, what));
  ExperimentInfo experiment;
  TRAINWARDEN_ASSIGN_OR_RETURN(experiment.name, format::string_field(json, "name"));
  TRAINWARDEN_RETURN_IF_ERROR(as_damage(check_entity_name("experiment", experiment.name), what));
  TRAINWARDEN_ASSIGN_OR_RETURN(experiment.display_name, optional_text(json, "display_name"));
  TRAINWARDEN_ASSIGN_OR_RETURN(experiment.description, optional_text(json, "description"));
  TRAINWARDEN_ASSIGN_OR_RETURN(experiment.created_unix_ns, format::int_field(json, "created", 0));
  TRAINWARDEN_RETURN_IF_ERROR(read_texts(json, "tags", experiment.tags));
  const bool fits = experiment.display_name.size() <= kMaxEntityName &&
                    experiment.description.size() <= kMaxDescription && experiment.tags.size() <= kMaxEntityTags;
  if (!fits) return Status(Code::kDataLoss, what + ": longer than an experiment may be");
  return experiment;
}

std::string encode(const TrialInfo& trial) {
  return format::dump_json({{"format", kFormat},
                            {"name", trial.name},
                            {"experiment", trial.experiment},
                            {"display_name", trial.display_name},
                            {"created", trial.created_unix_ns}}) +
         "\n";
}

Result<TrialInfo> decode_trial(std::string_view text, const std::string& what) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, parse_entity(text, what));
  TrialInfo trial;
  TRAINWARDEN_ASSIGN_OR_RETURN(trial.name, format::string_field(json, "name"));
  TRAINWARDEN_ASSIGN_OR_RETURN(trial.experiment, format::string_field(json, "experiment"));
  TRAINWARDEN_RETURN_IF_ERROR(as_damage(check_entity_name("trial", trial.name), what));
  TRAINWARDEN_RETURN_IF_ERROR(as_damage(check_entity_name("experiment", trial.experiment), what));
  TRAINWARDEN_ASSIGN_OR_RETURN(trial.display_name, optional_text(json, "display_name"));
  TRAINWARDEN_ASSIGN_OR_RETURN(trial.created_unix_ns, format::int_field(json, "created", 0));
  if (trial.display_name.size() > kMaxEntityName) return Status(Code::kDataLoss, what + ": display_name is too long");
  return trial;
}

std::string encode(const ComponentRecord& record) {
  OrderedJson json = {{"format", kFormat}, {"time", record.unix_ns}};
  for (const auto& [field, text] : kRecordTexts) {
    if (!(record.*text).empty()) json[field] = record.*text;
  }
  if (record.start_unix_ns) json["start"] = *record.start_unix_ns;
  if (record.end_unix_ns) json["end"] = *record.end_unix_ns;
  if (!record.parameters.empty()) json["parameters"] = json_of_parameters(record.parameters);
  if (!record.metrics.empty()) {
    OrderedJson metrics = OrderedJson::object();
    for (const auto& [name, summary] : record.metrics) metrics[name] = json_of_metric(summary);
    json["metrics"] = std::move(metrics);
  }
  if (!record.inputs.empty()) json["inputs"] = json_of_artifacts(record.inputs);
  if (!record.outputs.empty()) json["outputs"] = json_of_artifacts(record.outputs);
  if (!record.tags.empty()) json["tags"] = record.tags;
  if (!record.trials.empty()) json["trials"] = record.trials;
  return format::dump_json(json) + "\n";
}

Result<ComponentRecord> decode_record(std::string_view text, const std::string& what) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, parse_entity(text, what));
  ComponentRecord record;
  TRAINWARDEN_ASSIGN_OR_RETURN(record.unix_ns, format::int_field(json, "time", 0));
  for (const auto& [field, member] : kRecordTexts) {
    TRAINWARDEN_ASSIGN_OR_RETURN(record.*member, optional_text(json, field));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(record.start_unix_ns, optional_time(json, "start"));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.end_unix_ns, optional_time(json, "end"));
  TRAINWARDEN_RETURN_IF_ERROR(read_record_entries(json, record).with_context(what));
  TRAINWARDEN_RETURN_IF_ERROR(as_damage(record.check(), what));
  return record;
}

}  // namespace trainwarden::experiments
