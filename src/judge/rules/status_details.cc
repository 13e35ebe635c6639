#include "judge/rules/status_details.h"

#include <fmt/format.h>

#include "core/base/crc32c.h"
#include "core/base/text.h"
#include "judge/rules/registry.h"

namespace trainwarden::rules {
namespace {

constexpr std::size_t kMaxDetailsBytes = 1024;

bool is_of_default_set(std::string_view rule, const RuleParameters& parameters) {
  const RuleKind* const kind = find_builtin(rule);
  return kind != nullptr && kind->description.by_default && parameters.empty();
}

std::string whole_details_of(const RuleStatusRecord& status, const VerdictRecord* fired) {
  switch (status.status) {
    case RuleStatus::kIssuesFound:
      if (fired == nullptr) return status.details + "\n";
      return fmt::format(
          "RuleEvaluationConditionMet: Evaluation of the rule {} at step {} resulted in the condition being met\n{}\n",
          status.rule_id, fired->place.global_step, fired->verdict.message);
    case RuleStatus::kError: return fmt::format("InternalServerError: {}\n", status.details);
    case RuleStatus::kNotApplicable:
      return fmt::format(
          "{}: {}\n",
          is_of_default_set(status.rule, status.parameters) ? "Not applicable" : "ClientError: no data to judge",
          status.details);
    case RuleStatus::kInProgress:
    case RuleStatus::kNoIssuesFound:
    case RuleStatus::kStopping:
    case RuleStatus::kStopped: return status.details + "\n";
  }
  return status.details;
}

}  // namespace

std::string evaluation_status_of(RuleStatus status, std::string_view rule, const RuleParameters& parameters) {
  if (status != RuleStatus::kNotApplicable) return std::string(name(status));
  return std::string(name(is_of_default_set(rule, parameters) ? RuleStatus::kNoIssuesFound : RuleStatus::kError));
}

std::string status_details_of(const RuleStatusRecord& status, const VerdictRecord* fired) {
  std::string text = whole_details_of(status, fired);
  if (text.size() <= kMaxDetailsBytes) return text;
  std::size_t end = kMaxDetailsBytes;  // no character is cut in two
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text;
}

std::string rule_arn_of(std::string_view run_name, std::string_view journal, std::string_view rule_id) {
  const std::string place = fmt::format("{}/{}/{}", run_name, journal, rule_id);
  return fmt::format("trainwarden:rule-evaluation/{}-{}-{:08x}", run_name, lower(rule_id), crc32c(as_bytes(place)));
}

}  // namespace trainwarden::rules
