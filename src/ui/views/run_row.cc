#include "ui/views/run_row.h"

#include <algorithm>

#include "core/base/text.h"
#include "judge/rules/rule_history.h"
#include "judge/rules/run_diagnosis.h"
#include "react/events/description.h"
#include "read/trial/trial_access.h"

namespace trainwarden::views {
namespace {

// A line of a list holds no more of it.
constexpr std::size_t kMaxSentence = 300;

std::string last_sentence(const rules::RuleHistory& history) {
  const auto last = std::find_if(history.verdicts.rbegin(), history.verdicts.rend(),
                                 [](const auto& each) { return each.verdict.outcome == Outcome::kFired; });
  return last == history.verdicts.rend() ? "" : with_valid_utf8(last->verdict.message.substr(0, kMaxSentence));
}

void read_rules(const storage::Location& run, RunRow& row) {
  const auto histories = rules::read_rule_histories(run).value_or({});
  row.rules = histories.size();
  for (const rules::RuleHistory& history : histories) {
    const RuleStatus status = history.status.status;
    if (status == RuleStatus::kIssuesFound) row.fired.push_back(history.status.rule);
    if (history.status.rule == rules::kDiagnosisRule) row.diagnosis = last_sentence(history);
    row.judged_now |= status == RuleStatus::kInProgress || status == RuleStatus::kStopping;
  }
}

}  // namespace

RunRow read_run_row(const storage::Location& run) {
  const auto trial = TrialAccess::open(run);
  if (trial.ok()) return read_run_row(**trial);
  RunRow row;
  row.name = run.name();
  row.path = run.path();
  row.unreadable = trial.status();
  return row;
}

RunRow read_run_row(Trial& trial) {
  const storage::Location& run = TrialAccess::location(trial);
  RunRow row;
  row.path = run.path();
  row.name = run.name();
  row.state = trial.state();
  row.recorder = trial.recorder();
  row.labels = trial.labels();
  row.created_unix_ns = trial.created_unix_ns();
  row.last_unix_ns = trial.last_unix_ns();
  row.step_count = trial.steps().size();
  row.last_step = trial.last_complete_step();
  row.loss = last_loss(trial);
  row.metrics = read_run_metrics(trial);
  read_rules(run, row);
  const auto view = events::view_run(trial);
  if (view.ok() && !view->table.empty()) row.status = view->table.status();
  return row;
}

LossCourse read_loss_course(Trial& trial, std::size_t most) {
  LossCourse course;
  std::vector<std::int64_t> steps;
  for (const std::string& name :
       trial.tensor_names({.include = {}, .collection = "losses", .mode = {}, .step = {}}).value_or({})) {
    std::vector<std::int64_t> candidate = trial.steps_of(name, Mode::kGlobal, Kept::kScalar | Kept::kValue);
    if (candidate.size() <= steps.size()) continue;
    course.tensor = name;
    steps = std::move(candidate);
  }
  const std::size_t count = std::min(most, steps.size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t place = count == 1 ? steps.size() - 1 : i * (steps.size() - 1) / (count - 1);
    const auto value = trial.scalar(course.tensor, steps[place]);
    if (value.ok()) course.values.push_back(*value);
  }
  return course;
}

}  // namespace trainwarden::views
