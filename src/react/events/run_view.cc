#include "react/events/run_view.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/rfc3339.h"
#include "judge/rules/status_details.h"

namespace trainwarden::events {
namespace {

using format::OrderedJson;

constexpr std::int64_t kMillisecondNs = 1'000'000;
constexpr std::int64_t kSecond = 1'000'000'000;

constexpr std::array kRuleStatuses = {RuleStatus::kInProgress,   RuleStatus::kIssuesFound, RuleStatus::kNoIssuesFound,
                                      RuleStatus::kStopping,     RuleStatus::kStopped,     RuleStatus::kError,
                                      RuleStatus::kNotApplicable};

std::string uri_part(std::string_view text) {
  std::string part;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~").find(c) != std::string_view::npos;
    part += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return part;
}

OrderedJson transitions_json(const RunTable& table, TimeForm form) {
  OrderedJson list = OrderedJson::array();
  for (const RunTransition& row : table.transitions()) {
    OrderedJson json = {{"Status", name(row.status)}, {"StartTime", time_json(row.start_unix_ns, form, false)}};
    if (row.end_unix_ns > 0) json["EndTime"] = time_json(row.end_unix_ns, form, false);
    json["StatusMessage"] = row.message;
    list.push_back(std::move(json));
  }
  return list;
}

const RunTransition* first_of(const RunTable& table, SecondaryStatus status) {
  const auto& rows = table.transitions();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.status == status; });
  return row == rows.end() ? nullptr : &*row;
}

void add_times(const RunView& view, TimeForm form, OrderedJson& json) {
  const std::int64_t created_ns = view.info.created_unix_ns;
  if (created_ns > 0) json["CreationTime"] = time_json(created_ns, form, true);  // 0: smdebug does not say
  const RunTransition* const start = first_of(view.table, SecondaryStatus::kTraining);
  if (start != nullptr) json["TrainingStartTime"] = time_json(start->start_unix_ns, form, true);
  const bool over = !view.table.empty() && is_terminal(view.table.status());
  const std::int64_t end_ns = over ? view.table.transitions().back().start_unix_ns : 0;
  if (over) json["TrainingEndTime"] = time_json(end_ns, form, true);
  json["LastModifiedTime"] = time_json(view.modified_unix_ns, form, true);
  if (over && start != nullptr) {
    json["TrainingTimeInSeconds"] = std::max<std::int64_t>(0, (end_ns - start->start_unix_ns) / kSecond);
  }
}

std::string text_of(const OrderedJson& object, const char* field) {
  const auto found = object.find(field);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::int64_t ns_of(const OrderedJson& object, const char* field) {
  const auto found = object.find(field);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() * kMillisecondNs : 0;
}

std::optional<RuleRow> rule_row_of(const OrderedJson& json) {
  RuleRow row;
  row.rule_id = text_of(json, "RuleConfigurationName");
  row.rule = text_of(json, "Rule");
  row.arn = text_of(json, "RuleEvaluationJobArn");
  const std::string word = text_of(json, "Status");
  const auto status =
      std::find_if(kRuleStatuses.begin(), kRuleStatuses.end(), [&](RuleStatus s) { return name(s) == word; });
  if (row.rule_id.empty() || status == kRuleStatuses.end()) return std::nullopt;
  row.status = *status;
  if (json.contains("StatusDetails")) row.details = text_of(json, "StatusDetails");
  row.modified_unix_ns = ns_of(json, "LastModifiedTime");
  const auto parameters = json.find("RuleParameters");
  if (parameters == json.end() || !parameters->is_object()) return row;
  for (const auto& [name, value] : parameters->items()) {
    if (value.is_string()) row.parameters[name] = value.get<std::string>();
  }
  return row;
}

}  // namespace

bool RunView::was_asked_to_stop() const {
  return stop && !table.empty() &&
         (table.status() == SecondaryStatus::kStopping || table.status() == SecondaryStatus::kStopped);
}

OrderedJson time_json(std::int64_t unix_ns, TimeForm form, bool at_top) {
  if (form == TimeForm::kText) return format_rfc3339(unix_ns);
  if (at_top) return std::to_string(unix_ns / kMillisecondNs);
  return unix_ns / kMillisecondNs;
}

std::string job_arn_of(std::string_view run_name) {
  return fmt::format("trainwarden:training-job/{}", run_name);
}

std::string source_of(const RunView& view) {
  return fmt::format("/trainwarden/{}/runs/{}", uri_part(view.info.host), uri_part(view.name));
}

OrderedJson rules_json(const RunView& view, TimeForm form) {
  OrderedJson list = OrderedJson::array();
  for (const RuleRow& row : view.rules) {
    OrderedJson json = {{"RuleConfigurationName", row.rule_id},
                        {"RuleEvaluationJobArn", row.arn},
                        {"RuleEvaluationStatus", rules::evaluation_status_of(row.status, row.rule, row.parameters)}};
    if (row.details) json["StatusDetails"] = *row.details;
    json["LastModifiedTime"] = time_json(row.modified_unix_ns, form, false);
    json["Status"] = name(row.status);
    json["Rule"] = row.rule;
    json["RuleParameters"] = OrderedJson(row.parameters);
    list.push_back(std::move(json));
  }
  return list;
}

OrderedJson job_json(const RunView& view, TimeForm form) {
  OrderedJson json = {{"TrainingJobName", view.name}, {"TrainingJobArn", job_arn_of(view.name)}};
  if (!view.table.empty()) {
    json["TrainingJobStatus"] = name(primary_of(view.table.status()));
    json["SecondaryStatus"] = name(view.table.status());
    if (view.table.status() == SecondaryStatus::kFailed) json["FailureReason"] = view.failure_reason();
  }
  if (view.was_asked_to_stop()) {
    json["StopReason"] = {{"RequestedBy", view.stop->requested_by},
                          {"Reason", view.stop->reason},
                          {"Key", view.stop->key},
                          {"Time", time_json(view.stop->unix_ns, form, false)}};
  }
  json["HyperParameters"] = OrderedJson(view.info.labels);
  json["ResourceConfig"] = {{"InstanceCount", view.info.world_size}};
  add_times(view, form, json);
  json["SecondaryStatusTransitions"] = transitions_json(view.table, form);
  json["DebugRuleEvaluationStatuses"] = rules_json(view, form);
  json["Attempts"] = view.table.attempt();
  json["LastStep"] = view.last_step;
  json["Host"] = view.info.host;
  json["RunFolder"] = view.folder.string();
  return json;
}

std::vector<RuleRow> rule_rows_of(const OrderedJson& list) {
  std::vector<RuleRow> rows;
  if (!list.is_array()) return rows;
  for (const OrderedJson& json : list) {
    if (!json.is_object()) continue;
    if (auto row = rule_row_of(json)) rows.push_back(*std::move(row));
  }
  return rows;
}

std::vector<RunTransition> transitions_of(const OrderedJson& list) {
  std::vector<RunTransition> rows;
  if (!list.is_array()) return rows;
  for (const OrderedJson& json : list) {
    if (!json.is_object()) continue;
    const auto status = secondary_status(text_of(json, "Status"));
    if (status) rows.push_back({*status, ns_of(json, "StartTime"), 0, text_of(json, "StatusMessage")});
  }
  return rows;
}

}  // namespace trainwarden::events
