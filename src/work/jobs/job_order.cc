#include "work/jobs/job_order.h"

#include <fmt/format.h>

#include "data/format/json.h"

namespace trainwarden::jobs {
namespace {

constexpr std::int64_t kFormat = 1;

format::OrderedJson seconds_or_null(std::optional<double> seconds) {
  return seconds ? format::OrderedJson(*seconds) : format::OrderedJson(nullptr);
}

Result<double> seconds_field(const format::Json& json, const char* field) {
  const auto found = json.find(field);
  if (found == json.end() || !found->is_number() || !(found->get<double>() >= 0)) {
    return Status(Code::kDataLoss, fmt::format("{}: expected a number of seconds", field));
  }
  return found->get<double>();
}

Result<std::optional<double>> seconds_or_nothing(const format::Json& json, const char* field) {
  const auto found = json.find(field);
  if (found != json.end() && found->is_null()) return std::optional<double>();
  TRAINWARDEN_ASSIGN_OR_RETURN(const double seconds, seconds_field(json, field));
  return std::optional<double>(seconds);
}

Result<std::map<std::string, std::string>> texts_by_name(const format::Json& json, const char* field) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::Json* const object, format::object_field(json, field));
  std::map<std::string, std::string> texts;
  for (const auto& [name, value] : object->items()) {
    if (!value.is_string()) return Status(Code::kDataLoss, fmt::format("{}: expected texts", field));
    texts.emplace(name, value.get<std::string>());
  }
  return texts;
}

format::OrderedJson count_or_null(std::optional<std::int64_t> count) {
  return count ? format::OrderedJson(*count) : format::OrderedJson(nullptr);
}

Result<std::optional<std::int64_t>> count_or_nothing(const format::Json& json, const char* field) {
  const auto found = json.find(field);
  if (found != json.end() && found->is_null()) return std::optional<std::int64_t>();
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t count, format::int_field(json, field, 0));
  return std::optional<std::int64_t>(count);
}

// Empty in orders that are older than the field.
Result<std::string> text_or_empty(const format::Json& json, const char* field) {
  if (!json.contains(field)) return std::string();
  return format::string_field(json, field);
}

// Orders that are older than ranks are of one process.
Result<std::int64_t> ranks_field(const format::Json& json) {
  if (!json.contains("ranks")) return 1;
  return format::int_field(json, "ranks", 1);
}

Result<Needs> needs_field(const format::Json& json) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::Json* const object, format::object_field(json, "needs"));
  Needs needs;
  TRAINWARDEN_ASSIGN_OR_RETURN(needs.cpus, count_or_nothing(*object, "cpus"));
  TRAINWARDEN_ASSIGN_OR_RETURN(needs.gpus, count_or_nothing(*object, "gpus"));
  TRAINWARDEN_ASSIGN_OR_RETURN(needs.memory_bytes, format::uint_field(*object, "memory_bytes"));
  if (object->contains("whole_cores")) {  // not in orders of earlier versions
    TRAINWARDEN_ASSIGN_OR_RETURN(needs.whole_cores, format::bool_field(*object, "whole_cores"));
  }
  return needs;
}

Status read_limits(const format::Json& json, JobOrder& order) {
  TRAINWARDEN_ASSIGN_OR_RETURN(order.needs, needs_field(json));
  TRAINWARDEN_ASSIGN_OR_RETURN(order.ranks, ranks_field(json));
  if (json.contains("bind")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t binding,
                                 format::int_field(json, "bind", 0, static_cast<std::int64_t>(Binding::kCores)));
    order.binding = static_cast<Binding>(binding);
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(order.priority, format::int_field(json, "priority"));
  TRAINWARDEN_ASSIGN_OR_RETURN(order.max_run_seconds, seconds_field(json, "max_run_seconds"));
  TRAINWARDEN_ASSIGN_OR_RETURN(order.max_wait_seconds, seconds_or_nothing(json, "max_wait_seconds"));
  TRAINWARDEN_ASSIGN_OR_RETURN(order.max_pending_seconds, seconds_or_nothing(json, "max_pending_seconds"));
  TRAINWARDEN_ASSIGN_OR_RETURN(order.retries, format::int_field(json, "retries", 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(order.preemptible, format::bool_field(json, "preemptible"));
  TRAINWARDEN_ASSIGN_OR_RETURN(order.grace_seconds, seconds_field(json, "grace_seconds"));
  return Status();
}

}  // namespace

std::string encode_order(const JobOrder& order) {
  return format::dump_json({{"format", kFormat},
                            {"name", order.name},
                            {"submitted", order.submitted_unix_ns},
                            {"backend", name(order.backend)},
                            {"host", order.host},
                            {"launcher", order.launcher},
                            {"program", order.program},
                            {"environment", order.environment},
                            {"environment_file", order.environment_file},
                            {"folder", order.folder},
                            {"run", order.run},
                            {"needs",
                             {{"cpus", count_or_null(order.needs.cpus)},
                              {"gpus", count_or_null(order.needs.gpus)},
                              {"memory_bytes", order.needs.memory_bytes},
                              {"whole_cores", order.needs.whole_cores}}},
                            {"bind", static_cast<int>(order.binding)},
                            {"ranks", order.ranks},
                            {"priority", order.priority},
                            {"max_run_seconds", order.max_run_seconds},
                            {"max_wait_seconds", seconds_or_null(order.max_wait_seconds)},
                            {"max_pending_seconds", seconds_or_null(order.max_pending_seconds)},
                            {"retries", order.retries},
                            {"preemptible", order.preemptible},
                            {"grace_seconds", order.grace_seconds},
                            {"array", order.array},
                            {"repeats", order.repeats},
                            {"spec", order.spec},
                            {"spec_file", order.spec_file},
                            {"seal", order.seal}}) +
         "\n";
}

Result<JobOrder> decode_order(std::string_view text, const std::string& what) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::Json json, format::parse_json_object(text, what));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t version, format::int_field(json, "format", 1));
  if (version > kFormat) {
    return Status(Code::kUnimplemented,
                  fmt::format("{}: of a newer version of Trainwarden (format {})", what, version));
  }
  JobOrder order;
  TRAINWARDEN_ASSIGN_OR_RETURN(order.name, format::string_field(json, "name"));
  TRAINWARDEN_ASSIGN_OR_RETURN(order.submitted_unix_ns, format::int_field(json, "submitted", 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(order.host, format::string_field(json, "host"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string backend, format::string_field(json, "backend"));
  TRAINWARDEN_ASSIGN_OR_RETURN(order.backend, backend_named(backend, what + ": backend"));
  TRAINWARDEN_ASSIGN_OR_RETURN(order.launcher, format::strings_field(json, "launcher"));
  TRAINWARDEN_ASSIGN_OR_RETURN(order.program, format::strings_field(json, "program"));
  TRAINWARDEN_ASSIGN_OR_RETURN(order.environment, texts_by_name(json, "environment"));
  TRAINWARDEN_ASSIGN_OR_RETURN(order.environment_file, format::string_field(json, "environment_file"));
  TRAINWARDEN_ASSIGN_OR_RETURN(order.folder, format::string_field(json, "folder"));
  TRAINWARDEN_ASSIGN_OR_RETURN(order.run, format::string_field(json, "run"));
  TRAINWARDEN_RETURN_IF_ERROR(read_limits(json, order));
  TRAINWARDEN_ASSIGN_OR_RETURN(order.array, text_or_empty(json, "array"));
  TRAINWARDEN_ASSIGN_OR_RETURN(order.repeats, text_or_empty(json, "repeats"));
  TRAINWARDEN_ASSIGN_OR_RETURN(order.seal, text_or_empty(json, "seal"));
  TRAINWARDEN_ASSIGN_OR_RETURN(order.spec, format::string_field(json, "spec"));
  TRAINWARDEN_ASSIGN_OR_RETURN(order.spec_file, format::string_field(json, "spec_file"));
  return order;
}

}  // namespace trainwarden::jobs
