// Studies as answers of the page.
#pragma once

#include <functional>
#include <string>

#include "data/format/json.h"
#include "tune/study/study.h"

namespace trainwarden::work_answers {

inline constexpr std::size_t kMostStudyTrials = 10'000;  // of one answer
inline constexpr std::size_t kMostTrialSteps = 200;      // of one trial's metric
inline constexpr std::size_t kMostStudySteps = 60'000;   // of an answer, where trials have eight or more each

// The run of a job as an answer; null: there is no such job.
using RunOfJob = std::function<format::OrderedJson(const std::string& job)>;

// views::study_head_json(). Here and below secrets are masked (core/base/secret_mask.h): in values of parameters, in
// their choices, and in reasons.
format::OrderedJson study_row_json(const tune::Study& study, std::int64_t now_unix_ns);

// views::study_json() of the trials from this number on, kMostStudyTrials at most, with thinned series and each with
// its "run"; and "from", "count" (trials in all), "cut" (there are more than here).
format::OrderedJson study_page_json(const tune::Study& study, std::size_t from, const RunOfJob& run_of,
                                    std::int64_t now_unix_ns);

}  // namespace trainwarden::work_answers
