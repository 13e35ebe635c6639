#include "ui/cli/running/job_rule_notes.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/log.h"
#include "core/base/text.h"
#include "trainwarden/rule.h"

namespace trainwarden::cli {

JobRuleNotes::JobRuleNotes(const std::filesystem::path& job)
    : job_(job.filename().string()), logs_(storage::Location(job)) {}

void JobRuleNotes::take(const events::Event& event) {
  const Result<bool> taken = logs_.take(event);
  if (!taken.ok()) warn(taken.status());
  if (taken.value_or(false) && event.change.kind == events::ChangeKind::kRule) {
    changed_[event.change.to].push_back(printable(event.change.rule));
  }
}

void JobRuleNotes::note_no_run(std::span<const std::string> rule_ids, std::int64_t unix_ns) {
  const Status noted = logs_.note_no_run(rule_ids, unix_ns);
  if (!noted.ok()) warn(noted);
  for (const std::string& id : rule_ids)
    changed_[std::string(name(RuleStatus::kNotApplicable))].push_back(printable(id));
}

std::vector<std::string> JobRuleNotes::new_lines() {
  std::vector<std::string> lines;
  for (const auto& [status, rules] : std::exchange(changed_, {})) {
    lines.push_back(fmt::format("trainwarden: rules {}: {}", printable(status), fmt::join(rules, ", ")));
  }
  if (!lines.empty() && !std::exchange(has_said_where_, true)) {
    lines.push_back(fmt::format("trainwarden: their logs: trainwarden job logs {} --rule RULE", job_));
  }
  return lines;
}

void JobRuleNotes::warn(const Status& status) {
  if (std::exchange(has_warned_, true)) return;
  log(LogLevel::kWarning, "the logs of the job's rules are not whole: {}", status.message());
}

}  // namespace trainwarden::cli
