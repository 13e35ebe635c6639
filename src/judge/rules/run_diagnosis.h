// What a run's own signals and its rules' verdicts say together: the diagnosis of the run.
#pragma once

#include "judge/diagnosis/diagnosis.h"
#include "judge/diagnosis/history.h"
#include "trainwarden/rule.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"

namespace trainwarden::rules {

// Takes in what the step holds for a diagnosis: the records of its examination, and the signals that it knows. Of
// several workers the first one speaks for all. Steps in rising order.
Status feed_step(const StepWindow& window, diagnosis::TrainingHistory& history);

// All that the run holds now, as of the trial's last refresh, with what its rules have found.
Result<diagnosis::Diagnosis> diagnose_run(Trial& trial);

}  // namespace trainwarden::rules
