#include "work/job_events/rule_log.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/base/rfc3339.h"
#include "core/base/text.h"

namespace trainwarden::job_events {
namespace {

constexpr std::size_t kMaxRuleTextBytes = 4096;  // of a line and of details
constexpr std::size_t kMaxRuleIdBytes = 1024;
constexpr const char* kNothingJudged = "NotApplicable";  // name(RuleStatus::kNotApplicable)
constexpr const char* kNoRun = "the program has ended, and has captured nothing to judge";

bool is_of_rule(const events::Event& event) {
  const bool of_rule =
      event.change.kind == events::ChangeKind::kRule || event.change.kind == events::ChangeKind::kAlert;
  return of_rule && !event.change.rule.empty() && event.change.rule.size() <= kMaxRuleIdBytes;
}

// Why it is so; what follows beneath tells of the whole run.
std::string_view first_line(const events::Event& event) {
  const std::string_view text = event.text;
  return text.substr(0, std::min(text.find('\n'), kMaxRuleTextBytes));
}

std::string line_of(std::int64_t unix_ns, std::string_view word, std::string_view message) {
  return fmt::format("{}  {}  {}", format_rfc3339(unix_ns, 3), word, printable(message.substr(0, kMaxRuleTextBytes)));
}

void apply(const events::Event& event, jobs::JobRule& rule) {
  rule.newest_unix_ns = std::max(rule.newest_unix_ns, event.unix_ns);
  if (event.change.kind == events::ChangeKind::kAlert) {
    ++rule.alerts;
    rule.step = event.global_step;
    return;
  }
  rule.status = event.change.to;
  rule.details = first_line(event);
  rule.changed_unix_ns = event.unix_ns;
}

}  // namespace

std::string rule_log_line(const events::Event& event) {
  const bool is_alert = event.change.kind == events::ChangeKind::kAlert;
  return line_of(event.unix_ns, is_alert ? "Alert" : printable(event.change.to),
                 fmt::format("{}: {}", event.headline, first_line(event)));
}

// Null: there are too many.
RuleLogs::Followed* RuleLogs::follow(const std::string& rule_id) {
  const auto known = followed_.find(rule_id);
  if (known != followed_.end()) return &known->second;
  if (followed_.size() == jobs::kMaxListedRules) return nullptr;
  Followed& followed = followed_[rule_id];
  Result<jobs::JobRule> rule = rules_.read(rule_id);
  if (rule.ok()) {
    followed = {*rule, rule->newest_unix_ns};
  } else {
    followed.rule.id = rule_id;
    const bool is_new = rule.status().code() == Code::kNotFound;
    if (!is_new) log(LogLevel::kWarning, "the status of a rule begins anew: {}", rule.status().message());
  }
  return &followed;
}

Result<bool> RuleLogs::take(const events::Event& event) {
  if (!is_of_rule(event)) return false;
  Followed* const followed = follow(event.change.rule);
  if (followed == nullptr || event.unix_ns <= followed->taken_before_ns) return false;
  apply(event, followed->rule);
  TRAINWARDEN_RETURN_IF_ERROR(rules_.record(followed->rule, rule_log_line(event)));
  return true;
}

Status RuleLogs::note_no_run(std::span<const std::string> rule_ids, std::int64_t unix_ns) {
  for (const std::string& id : rule_ids) {
    Followed* const followed = follow(id);
    if (followed == nullptr) break;
    jobs::JobRule& rule = followed->rule;
    rule.status = kNothingJudged;
    rule.details = kNoRun;
    rule.changed_unix_ns = rule.newest_unix_ns = unix_ns;
    TRAINWARDEN_RETURN_IF_ERROR(rules_.record(rule, line_of(unix_ns, rule.status, kNoRun)));
  }
  return Status();
}

}  // namespace trainwarden::job_events
