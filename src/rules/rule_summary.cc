#include "rules/rule_summary.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/crc32c.h"
#include "base/text.h"

namespace trainwarden::rules {
namespace {

constexpr std::size_t kMaxDetailsBytes = 1024;

// The sentence that programs written for the source look for, and then ours.
std::string details_of(const RuleHistory& history) {
  const RuleStatusRecord& status = history.status;
  switch (status.status) {
    case RuleStatus::kIssuesFound: {
      const auto fired =
          std::find_if(history.verdicts.begin(), history.verdicts.end(), [](const VerdictRecord& verdict) {
            return verdict.verdict.outcome == Outcome::kFired && verdict.verdict.severity != Severity::kInfo;
          });
      if (fired == history.verdicts.end()) return status.details + "\n";
      return fmt::format(
          "RuleEvaluationConditionMet: Evaluation of the rule {} at step {} resulted in the condition being met\n{}\n",
          status.rule_id, fired->place.global_step, fired->verdict.message);
    }
    case RuleStatus::kError: return fmt::format("InternalServerError: {}\n", status.details);
    case RuleStatus::kNotApplicable: return fmt::format("ClientError: no data to judge: {}\n", status.details);
    case RuleStatus::kInProgress:
    case RuleStatus::kNoIssuesFound:
    case RuleStatus::kStopping:
    case RuleStatus::kStopped: return status.details + "\n";
  }
  return status.details;
}

// At most so many bytes, and no character cut in two.
std::string shortened(std::string text) {
  if (text.size() <= kMaxDetailsBytes) return text;
  std::size_t end = kMaxDetailsBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text;
}

// Its last eight characters tell the rules of a run apart, as those of the source's do.
std::string arn_of(const std::string& run_name, const RuleHistory& history) {
  const std::string place = run_name + "/" + history.journal + "/" + history.status.rule_id;
  const std::uint32_t tag = crc32c(as_bytes(place));
  return fmt::format("trainwarden:rule-evaluation/{}-{}-{:08x}", run_name, lower(history.status.rule_id), tag);
}

RuleSummary summary_of(const std::string& run_name, RuleHistory history) {
  RuleSummary summary;
  summary.configuration_name = history.status.rule_id;
  summary.job_arn = arn_of(run_name, history);
  summary.evaluation_status = evaluation_status_of(history.status.status);
  if (history.status.status != RuleStatus::kInProgress) {
    summary.status_details = shortened(details_of(history));
  }
  summary.last_modified_unix_ns = history.status.unix_ns;
  summary.history = std::move(history);
  return summary;
}

}  // namespace

std::string evaluation_status_of(RuleStatus status) {
  return std::string(name(status == RuleStatus::kNotApplicable ? RuleStatus::kError : status));
}

Result<std::vector<RuleSummary>> summarize_rules(const std::filesystem::path& run) {
  TRAINWARDEN_ASSIGN_OR_RETURN(std::vector<RuleHistory> histories, read_rule_histories(run));
  std::vector<RuleHistory> newest;
  for (RuleHistory& history : histories) {
    const auto same = std::find_if(newest.begin(), newest.end(), [&](const RuleHistory& other) {
      return other.status.rule_id == history.status.rule_id && other.status.parameters == history.status.parameters;
    });
    if (same == newest.end()) {
      newest.push_back(std::move(history));
    } else if (same->status.unix_ns <= history.status.unix_ns) {
      *same = std::move(history);
    }
  }
  const std::string run_name = std::filesystem::absolute(run).lexically_normal().filename().string();
  std::vector<RuleSummary> summaries;
  for (RuleHistory& history : newest) summaries.push_back(summary_of(run_name, std::move(history)));
  return summaries;
}

}  // namespace trainwarden::rules
