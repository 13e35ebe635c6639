#include "react/events/event_text.h"

#include <fmt/format.h>

#include "judge/rules/step_place.h"

namespace trainwarden::events {
namespace {

std::string standing_text(const RunView& view) {
  std::string text = fmt::format("Run {}", view.name);
  if (!view.table.empty()) {
    const SecondaryStatus status = view.table.status();
    const std::string_view primary = name(primary_of(status));
    text += fmt::format(" is {}", primary);
    if (name(status) != primary) text += fmt::format(" ({})", name(status));
  }
  text +=
      view.last_step < 0 ? "; no step has ended yet." : fmt::format("; step {} was the last to end.", view.last_step);
  if (!view.info.host.empty()) text += fmt::format(" Host: {}.", view.info.host);
  if (!view.folder.empty()) text += fmt::format(" Folder: {}", view.folder.string());
  return text;
}

std::string headline_of_run(const RunView& view) {
  const RunTransition& row = view.table.transitions().back();
  switch (row.status) {
    case SecondaryStatus::kStarting: return fmt::format("Run {} was created", view.name);
    case SecondaryStatus::kTraining: return fmt::format("Run {} trains", view.name);
    case SecondaryStatus::kInterrupted: return fmt::format("Run {} was interrupted", view.name);
    case SecondaryStatus::kRestarting:
      return fmt::format("Run {} goes on, attempt {}", view.name, view.table.attempt());
    case SecondaryStatus::kStopping: return fmt::format("Run {} is asked to stop: {}", view.name, row.message);
    case SecondaryStatus::kCompleted: return fmt::format("Run {} has completed", view.name);
    case SecondaryStatus::kFailed: return fmt::format("Run {} failed: {}", view.name, row.message);
    case SecondaryStatus::kStopped: return fmt::format("Run {} has stopped: {}", view.name, row.message);
  }
  return {};
}

std::string headline_of_rule(const rules::RuleStatusRecord& status) {
  switch (status.status) {
    case RuleStatus::kInProgress: return fmt::format("{} judges the run", status.rule_id);
    case RuleStatus::kIssuesFound: return fmt::format("{} found an issue", status.rule_id);
    case RuleStatus::kNoIssuesFound: return fmt::format("{} found no issue", status.rule_id);
    case RuleStatus::kStopping: return fmt::format("{} is being stopped", status.rule_id);
    case RuleStatus::kStopped: return fmt::format("{} was stopped", status.rule_id);
    case RuleStatus::kError: return fmt::format("{} failed", status.rule_id);
    case RuleStatus::kNotApplicable: return fmt::format("{} had nothing to judge", status.rule_id);
  }
  return {};
}

}  // namespace

void describe_run_change(const RunView& view, Event& event) {
  event.headline = headline_of_run(view);
  event.text = fmt::format("{}\n{}", view.table.transitions().back().message, standing_text(view));
}

void describe_rule_change(const RunView& view, const rules::RuleStatusRecord& status, Event& event) {
  event.headline = headline_of_rule(status);
  event.text =
      status.details.empty() ? standing_text(view) : fmt::format("{}\n{}", status.details, standing_text(view));
}

void describe_alert(const RunView& view, const rules::VerdictRecord& verdict, Event& event) {
  event.headline = fmt::format("{} fired at {}", verdict.rule_id, rules::place_text(verdict.place));
  event.text = verdict.verdict.message;
  if (!verdict.verdict.advice.empty()) event.text += fmt::format("\nWhat to try: {}", verdict.verdict.advice);
  event.text += "\n" + standing_text(view);
}

}  // namespace trainwarden::events
