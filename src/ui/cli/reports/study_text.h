// Studies and their trials: for people.
#pragma once

#include <string>
#include <vector>

#include "tune/study/study.h"

namespace trainwarden::cli {

// Whether the target is met, first; then how the study stands, what mattered where that is known, and its best trials,
// the best first.
std::string study_text(const tune::Study& study, std::int64_t now_unix_ns, std::size_t most_trials);
// Of one trial: its values, metrics and how it ended.
std::string trial_text(const tune::Study& study, std::size_t trial);
// "trial 3 complete in 12.1 s, f1 0.91: learning_rate=3e-05"
std::string trial_line(const tune::Study& study, std::size_t trial);
std::string studies_table(const std::vector<tune::Study>& studies, std::int64_t now_unix_ns);
// A row a trial, with a title line; what a spreadsheet would take for a formula is a text.
std::string trials_csv(const tune::Study& study);

}  // namespace trainwarden::cli
