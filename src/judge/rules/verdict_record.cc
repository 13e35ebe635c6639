#include "judge/rules/verdict_record.h"

#include <fmt/format.h>

#include "core/base/no_throw.h"
#include "core/base/secret_mask.h"
#include "data/format/json_number.h"
#include "data/format/name_escape.h"
#include "judge/rules/registry.h"
#include "judge/rules/verdict_json.h"
#include "store/journal/typed_record.h"

namespace trainwarden::rules {
namespace {

using format::Json;
using format::OrderedJson;

constexpr const char* kVerdictType = "verdict";
constexpr const char* kRepeatsType = "verdict_repeats";
constexpr const char* kRuleStatusType = "rule_status";

constexpr std::array kOutcomes = {Outcome::kOk, Outcome::kFired, Outcome::kNotApplicable, Outcome::kInsufficientData,
                                  Outcome::kError};
constexpr std::array kSeverities = {Severity::kInfo, Severity::kWarning, Severity::kError};
constexpr std::array kStatuses = {RuleStatus::kInProgress,   RuleStatus::kIssuesFound, RuleStatus::kNoIssuesFound,
                                  RuleStatus::kStopping,     RuleStatus::kStopped,     RuleStatus::kError,
                                  RuleStatus::kNotApplicable};
static_assert(kOutcomes.size() == kOutcomeCount);

Status damaged(const char* field, std::string_view expected) {
  return Status(Code::kDataLoss, fmt::format("field \"{}\": expected {}", field, expected));
}

// A field that holds the name of one of `values`.
template <class Values>
Result<typename Values::value_type> word_field(const Json& object, const char* field, const Values& values) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string word, format::string_field(object, field));
  for (const auto value : values) {
    if (name(value) == word) return value;
  }
  return damaged(field, "a known word");
}

Result<RuleParameters> parameters_field(const Json& object) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* json, format::object_field(object, "parameters"));
  RuleParameters parameters;
  for (const auto& [name, value] : json->items()) {
    if (!value.is_string()) return damaged("parameters", "texts");
    parameters.emplace(name, value.template get<std::string>());
  }
  return parameters;
}

OrderedJson evidence_to_json(const Evidence& evidence) {
  OrderedJson json = {{"tensor", format::escape_name(evidence.tensor)}};
  if (!evidence.worker.empty()) json["worker"] = evidence.worker;
  json["quantity"] = evidence.quantity;
  json["value"] = format::json_number(evidence.value);
  json["threshold"] = format::json_number(evidence.threshold);
  json["step"] = evidence.global_step;
  if (!evidence.metric.empty()) json["metric"] = format::escape_name(evidence.metric);
  if (evidence.unix_ns != 0) json["unix_ns"] = evidence.unix_ns;
  return json;
}

// 0 when it is missing.
Result<std::int64_t> int_field_if_there(const Json& json, const char* field) {
  return json.contains(field) ? format::int_field(json, field) : std::int64_t{0};
}

Result<Evidence> evidence_from_json(const Json& json) {
  Evidence evidence;
  TRAINWARDEN_ASSIGN_OR_RETURN(evidence.tensor, format::name_field(json, "tensor"));
  if (json.contains("worker")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(evidence.worker, format::string_field(json, "worker"));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(evidence.quantity, format::string_field(json, "quantity"));
  TRAINWARDEN_ASSIGN_OR_RETURN(evidence.value, format::number_field(json, "value"));
  TRAINWARDEN_ASSIGN_OR_RETURN(evidence.threshold, format::number_field(json, "threshold"));
  TRAINWARDEN_ASSIGN_OR_RETURN(evidence.global_step, format::int_field(json, "step"));
  if (json.contains("metric")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(evidence.metric, format::name_field(json, "metric"));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(evidence.unix_ns, int_field_if_there(json, "unix_ns"));
  return evidence;
}

Result<std::vector<Evidence>> evidence_field(const Json& object) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* json, format::array_field(object, "evidence"));
  std::vector<Evidence> evidence;
  for (const Json& element : *json) {
    if (!element.is_object()) return damaged("evidence", "objects");
    TRAINWARDEN_ASSIGN_OR_RETURN(Evidence piece, evidence_from_json(element));
    evidence.push_back(std::move(piece));
  }
  return evidence;
}

Result<StepPlace> place_fields(const Json& object) {
  StepPlace place;
  TRAINWARDEN_ASSIGN_OR_RETURN(place.global_step, format::int_field(object, "step"));
  TRAINWARDEN_ASSIGN_OR_RETURN(place.mode, word_field(object, "mode", kAllModes));
  TRAINWARDEN_ASSIGN_OR_RETURN(place.mode_step, format::int_field(object, "mode_step"));
  TRAINWARDEN_ASSIGN_OR_RETURN(place.from_unix_ns, int_field_if_there(object, "from_unix_ns"));
  TRAINWARDEN_ASSIGN_OR_RETURN(place.to_unix_ns, int_field_if_there(object, "to_unix_ns"));
  return place;
}

Result<Verdict> verdict_fields(const Json& object) {
  Verdict verdict;
  TRAINWARDEN_ASSIGN_OR_RETURN(verdict.outcome, word_field(object, "outcome", kOutcomes));
  TRAINWARDEN_ASSIGN_OR_RETURN(verdict.severity, word_field(object, "severity", kSeverities));
  TRAINWARDEN_ASSIGN_OR_RETURN(verdict.message, format::string_field(object, "message"));
  TRAINWARDEN_ASSIGN_OR_RETURN(verdict.advice, format::string_field(object, "advice"));
  TRAINWARDEN_ASSIGN_OR_RETURN(verdict.evidence, evidence_field(object));
  if (object.contains("confidence")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(verdict.confidence, format::number_field(object, "confidence"));
  }
  return verdict;
}

Result<VerdictRecord> verdict_from_json(const Json& json) {
  VerdictRecord record;
  TRAINWARDEN_ASSIGN_OR_RETURN(record.rule_id, format::string_field(json, "id"));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.rule, format::string_field(json, "rule"));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.parameters, parameters_field(json));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.place, place_fields(json));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.unix_ns, format::int_field(json, "unix_ns"));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.verdict, verdict_fields(json));
  if (json.contains("consequence_of")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(record.consequence_of, format::string_field(json, "consequence_of"));
  }
  record.weighed = json.value("weighed", Json(false)) == Json(true);
  record.muted = json.value("muted", Json(false)) == Json(true);
  return record;
}

Result<RepeatsRecord> repeats_from_json(const Json& json) {
  RepeatsRecord record;
  TRAINWARDEN_ASSIGN_OR_RETURN(record.rule_id, format::string_field(json, "id"));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.outcome, word_field(json, "outcome", kOutcomes));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.first_step, format::int_field(json, "first_step"));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.last_step, format::int_field(json, "last_step"));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.count, format::uint_field(json, "count"));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.unix_ns, format::int_field(json, "unix_ns"));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.first_to_unix_ns, int_field_if_there(json, "first_to_unix_ns"));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.last_to_unix_ns, int_field_if_there(json, "last_to_unix_ns"));
  return record;
}

OrderedJson counts_to_json(const OutcomeCounts& counts) {
  OrderedJson json = OrderedJson::object();
  for (const Outcome outcome : kOutcomes) json[std::string(name(outcome))] = counts[static_cast<std::size_t>(outcome)];
  return json;
}

Result<OutcomeCounts> counts_field(const Json& object, const char* field) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* json, format::object_field(object, field));
  OutcomeCounts counts{};
  for (const Outcome outcome : kOutcomes) {
    TRAINWARDEN_ASSIGN_OR_RETURN(counts[static_cast<std::size_t>(outcome)],
                                 format::uint_field(*json, std::string(name(outcome)).c_str()));
  }
  return counts;
}

Result<RuleStatusRecord> rule_status_from_json(const Json& json) {
  RuleStatusRecord record;
  TRAINWARDEN_ASSIGN_OR_RETURN(record.rule_id, format::string_field(json, "id"));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.rule, format::string_field(json, "rule"));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.parameters, parameters_field(json));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.status, word_field(json, "status", kStatuses));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.details, format::string_field(json, "details"));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.outcomes, counts_field(json, "steps"));
  if (json.contains("windows")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(record.windows, counts_field(json, "windows"));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(record.unix_ns, format::int_field(json, "unix_ns"));
  return record;
}

}  // namespace

std::string VerdictRecord::mute_key() const {
  if (verdict.evidence.empty()) return rule_id;
  const Evidence& worst = verdict.evidence.front();
  const std::string& judged = worst.tensor.empty() ? worst.metric : worst.tensor;
  return judged.empty() ? rule_id : rule_id + ":" + judged;
}

bool VerdictRecord::alarms() const {
  return verdict.outcome == Outcome::kFired && verdict.severity != Severity::kInfo && !muted && consequence_of.empty();
}

bool VerdictRecord::starts_actions() const {
  if (alarms()) return true;
  return is_goal(rule) && verdict.outcome == Outcome::kFired && !muted && consequence_of.empty();
}

OrderedJson verdict_json(const VerdictRecord& record) {
  OrderedJson evidence = OrderedJson::array();
  for (const Evidence& piece : record.verdict.evidence) evidence.push_back(evidence_to_json(piece));
  OrderedJson json = {{"type", kVerdictType},
                      {"id", record.rule_id},
                      {"rule", record.rule},
                      {"parameters", OrderedJson(record.parameters)},
                      {"step", record.place.global_step},
                      {"mode", name(record.place.mode)},
                      {"mode_step", record.place.mode_step},
                      {"outcome", name(record.verdict.outcome)},
                      {"severity", name(record.verdict.severity)},
                      {"confidence", format::json_number(record.verdict.confidence)},
                      {"message", mask_secrets(record.verdict.message)},
                      {"advice", mask_secrets(record.verdict.advice)},
                      {"evidence", std::move(evidence)},
                      {"mute_key", format::escape_name(record.mute_key())},
                      {"unix_ns", record.unix_ns}};
  if (!record.consequence_of.empty()) json["consequence_of"] = record.consequence_of;
  if (record.weighed) json["weighed"] = true;
  if (record.muted) json["muted"] = true;
  if (record.place.is_time()) {
    json["from_unix_ns"] = record.place.from_unix_ns;
    json["to_unix_ns"] = record.place.to_unix_ns;
  }
  return json;
}

std::string encode_verdict(const VerdictRecord& record) {
  return format::dump_json(verdict_json(record));
}

std::string encode_repeats(const RepeatsRecord& record) {
  OrderedJson json = {{"type", kRepeatsType},
                      {"id", record.rule_id},
                      {"outcome", name(record.outcome)},
                      {"first_step", record.first_step},
                      {"last_step", record.last_step},
                      {"count", record.count},
                      {"unix_ns", record.unix_ns}};
  if (record.last_to_unix_ns != 0) {
    json["first_to_unix_ns"] = record.first_to_unix_ns;
    json["last_to_unix_ns"] = record.last_to_unix_ns;
  }
  return format::dump_json(json);
}

OrderedJson rule_status_json(const RuleStatusRecord& record) {
  OrderedJson json = {{"type", kRuleStatusType},
                      {"id", record.rule_id},
                      {"rule", record.rule},
                      {"parameters", OrderedJson(record.parameters)},
                      {"status", name(record.status)},
                      {"details", mask_secrets(record.details)},
                      {"steps", counts_to_json(record.outcomes)},
                      {"unix_ns", record.unix_ns}};
  if (record.windows != OutcomeCounts{}) json["windows"] = counts_to_json(record.windows);
  return json;
}

std::string encode_rule_status(const RuleStatusRecord& record) {
  return format::dump_json(rule_status_json(record));
}

Result<std::optional<VerdictRecord>> decode_verdict(std::string_view json) {
  return journal::decode_typed<VerdictRecord>(json, kVerdictType, verdict_from_json);
}

Result<std::optional<RepeatsRecord>> decode_repeats(std::string_view json) {
  return journal::decode_typed<RepeatsRecord>(json, kRepeatsType, repeats_from_json);
}

Result<std::optional<RuleStatusRecord>> decode_rule_status(std::string_view json) {
  return journal::decode_typed<RuleStatusRecord>(json, kRuleStatusType, rule_status_from_json);
}

std::string encode_answer(const Verdict& verdict) {
  OrderedJson evidence = OrderedJson::array();
  for (const Evidence& piece : verdict.evidence) evidence.push_back(evidence_to_json(piece));
  return format::dump_json({{"outcome", name(verdict.outcome)},
                            {"severity", name(verdict.severity)},
                            {"confidence", format::json_number(verdict.confidence)},
                            {"message", verdict.message},
                            {"advice", verdict.advice},
                            {"evidence", std::move(evidence)}});
}

Result<Verdict> decode_answer(std::string_view json) {
  return no_throw([&]() -> Result<Verdict> {
    TRAINWARDEN_ASSIGN_OR_RETURN(const Json object, format::parse_json_object(json, "the rule's answer"));
    auto verdict = verdict_fields(object);
    if (!verdict.ok()) return verdict.status().with_context("the rule's answer");
    if (verdict->evidence.size() > Verdict::kMaxEvidence) verdict->evidence.resize(Verdict::kMaxEvidence);
    return verdict;
  });
}

}  // namespace trainwarden::rules
