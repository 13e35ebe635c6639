// What events say to people.
#pragma once

#include <string>

#include "judge/rules/verdict_record.h"
#include "react/events/event.h"
#include "react/events/run_view.h"

namespace trainwarden::events {

// Fill in `headline` and `text`; the view is as after the change.
void describe_run_change(const RunView& view, Event& event);
void describe_rule_change(const RunView& view, const rules::RuleStatusRecord& status, Event& event);
void describe_alert(const RunView& view, const rules::VerdictRecord& verdict, Event& event);

}  // namespace trainwarden::events
