// StatusDetails: a rule's status in the words of the source.
#pragma once

#include <string>
#include <string_view>

#include "judge/rules/verdict_record.h"

namespace trainwarden::rules {

// The source has no word for "nothing to judge": that is its Error, with details that say so. Of a rule of the default
// set as it is in the set, which judges whatever a training has of it, it is NoIssuesFound: nobody asked for that rule,
// and programs written for the source take Error for a failure.
std::string evaluation_status_of(RuleStatus status, std::string_view rule, const RuleParameters& parameters);

// Of a rule with an issue the sentence that programs written for the source look for, and then ours. `fired`: the first
// verdict that was more than a note; null when it is not known. At most 1024 bytes.
std::string status_details_of(const RuleStatusRecord& status, const VerdictRecord* fired);

// Names a rule on a run. Its last eight characters tell the rules of a run apart, as those of the source's do.
std::string rule_arn_of(std::string_view run_name, std::string_view journal, std::string_view rule_id);

}  // namespace trainwarden::rules
