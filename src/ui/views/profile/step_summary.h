// Step summary: how long train steps took, which took far longer and why, and which worker is slower than the others.
#pragma once

#include <span>
#include <vector>

#include "read/profile/step_follower.h"
#include "trainwarden/trial.h"
#include "ui/views/profile/profile_report.h"

namespace trainwarden::views {

inline constexpr std::size_t kMostOutliers = 50;          // listed
inline constexpr std::size_t kMostProfiledWorkers = 256;  // with a row each

ProfiledSteps summarise_steps(Trial& trial, const profile::StepFollower& follower);
std::vector<ProfiledWorker> summarise_workers(const profile::StepFollower& follower, const std::string& host);

// By the phase that made a step long: "checkpoint", "evaluation", "data wait", "capture"; empty for others.
std::string cause_of_phase(std::string_view phase);

// Of any numbers; 0 of none.
double median_of(std::vector<double> values);

}  // namespace trainwarden::views
