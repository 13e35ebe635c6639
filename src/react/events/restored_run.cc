#include "react/events/restored_run.h"

#include <algorithm>
#include <utility>

#include "judge/rules/verdict_record.h"

namespace trainwarden::events {
namespace {

using format::OrderedJson;

constexpr std::int64_t kMillisecond = 1'000'000;

void take_origin(const Event& event, Intake& intake) {
  const auto origin = event.data.find("origin");
  if (origin == event.data.end() || !origin->is_object()) return;
  const auto journal = origin->find("journal");
  const auto entry = origin->find("entry");
  if (journal == origin->end() || !journal->is_string() || entry == origin->end() || !entry->is_number_unsigned()) {
    return;
  }
  std::uint64_t& taken = intake[journal->get<std::string>()];
  taken = std::max(taken, entry->get<std::uint64_t>() + 1);
}

void take_alert(const Event& event, RestoredRun& run) {
  const auto alert = event.data.find("alert");
  if (alert == event.data.end()) return;
  const auto verdict = rules::decode_verdict(alert->dump());
  if (!verdict.ok() || !*verdict) return;
  const rules::StepPlace& place = (**verdict).place;
  run.alerts.push_back({(**verdict).rule_id, (**verdict).parameters, place.global_step, place.to_unix_ns, event.key});
}

// The list of the newest event has milliseconds; the events themselves have the rest.
void restore_nanoseconds(std::vector<RunTransition>& transitions, const std::vector<Event>& changes) {
  auto event = changes.begin();
  for (RunTransition& row : transitions) {
    for (; event != changes.end(); ++event) {
      if (event->unix_ns / kMillisecond * kMillisecond == row.start_unix_ns &&
          event->change.to.ends_with(name(row.status))) {
        row.start_unix_ns = (event++)->unix_ns;
        break;
      }
      if (event->unix_ns > row.start_unix_ns + kMillisecond) break;
    }
  }
}

}  // namespace

RestoredRun restore_run(const Ledger& ledger) {
  RestoredRun run;
  run.intake = ledger.intake();
  std::vector<Event> changes;
  Event last;
  for (std::uint64_t seq = 1; seq <= ledger.last_seq(); ++seq) {
    Event event = ledger.event(seq);
    if (event.type == kLostType) continue;
    take_origin(event, run.intake);
    if (event.change.kind == ChangeKind::kAlert) take_alert(event, run);
    if (event.change.kind == ChangeKind::kRule && event.change.to == name(RuleStatus::kInProgress)) {
      run.taken_up_unix_ns[event.change.rule] = event.unix_ns;
    }
    last = std::move(event);
    if (last.change.kind != ChangeKind::kRun) continue;
    changes.push_back(last);
    changes.back().data = {};
  }
  run.modified_unix_ns = last.unix_ns;
  if (!last.data.is_object()) return run;
  if (last.data.contains("SecondaryStatusTransitions")) {
    run.transitions = transitions_of(last.data["SecondaryStatusTransitions"]);
    restore_nanoseconds(run.transitions, changes);
  }
  if (last.data.contains("DebugRuleEvaluationStatuses")) {
    run.rules = rule_rows_of(last.data["DebugRuleEvaluationStatuses"]);
  }
  return run;
}

}  // namespace trainwarden::events
