// A run's profile as an answer. What is not known is null.
#pragma once

#include "data/format/json.h"
#include "ui/views/profile/profile_report.h"

namespace trainwarden::answers {

format::OrderedJson json_of(const views::ProfileReport& report);
format::OrderedJson json_of(const views::ProfileTimeline& timeline);

}  // namespace trainwarden::answers
