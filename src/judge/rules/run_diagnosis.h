// What a run's own signals and its rules' verdicts say together: the diagnosis of the run.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "judge/diagnosis/diagnosis.h"
#include "judge/diagnosis/history.h"
#include "trainwarden/rule.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"

namespace trainwarden::rules {

inline constexpr std::string_view kDiagnosisRule = "Diagnosis";                      // that fires when there is one
inline constexpr std::int64_t kWholeRun = std::numeric_limits<std::int64_t>::max();  // a run up to its last step

// Takes in what the step holds for a diagnosis: the records of its examination, and the signals that it knows. Of
// several workers the first one speaks for all. Steps in rising order.
Status feed_step(const StepWindow& window, diagnosis::TrainingHistory& history);

// The diagnosis of one run that grows: a step that was read once is not read again. One thread at a time.
class RunDiagnosis {
 public:
  // Of all that the run holds now, as of the trial's last refresh, with what its rules have found; of that, what was
  // known when the global step `until` had ended. Always of the same run; `until` must not fall.
  diagnosis::Diagnosis now(Trial& trial, std::int64_t until = kWholeRun);

 private:
  diagnosis::TrainingHistory history_;
  std::int64_t last_step_ = -1;  // global, of those that were read
};

// The same, once.
inline diagnosis::Diagnosis diagnose_run(Trial& trial, std::int64_t until = kWholeRun) {
  return RunDiagnosis().now(trial, until);
}

}  // namespace trainwarden::rules
