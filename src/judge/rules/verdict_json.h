// Verdicts and statuses as the JSON documents that are in the journal: events, answers of the server and of the command
// line hold the same.
#pragma once

#include "data/format/json.h"
#include "judge/rules/verdict_record.h"

namespace trainwarden::rules {

format::OrderedJson verdict_json(const VerdictRecord& record);
format::OrderedJson rule_status_json(const RuleStatusRecord& record);

}  // namespace trainwarden::rules
