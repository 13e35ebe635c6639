// ProfileMemory: all that is known of where a run's time went, read on while it grows, in memory that has a limit.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "read/profile/step_follower.h"
#include "read/profile/system_usage.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"
#include "ui/views/profile/operator_summary.h"
#include "ui/views/profile/profile_judge.h"
#include "ui/views/profile/profile_report.h"
#include "ui/views/profile/profile_span.h"
#include "ui/views/profile/time_buckets.h"
#include "ui/views/profile/value_digest.h"

namespace trainwarden::views {

// Series of machines that are followed. More are counted.
inline constexpr std::size_t kMostUsageLines = 600;

// One series of a machine.
struct UsageLine {
  const profile::UsageKind* kind = nullptr;
  std::string instance;
  std::string part;
  std::string worker;  // whose journal it was first found in
  std::int64_t last_unix_ns = 0;
  ValueDigest digest;
  TimeBuckets buckets;
};

// The share of one phase of one worker over time.
struct PhaseTimes {
  std::string worker;
  std::string phase;
  TimeBuckets buckets;
};

// One thread at a time.
class ProfileMemory {
 public:
  // Takes in what has come since.
  Status refresh(Trial& trial);

  const ProfileSpan& span() const { return span_; }
  const profile::StepFollower& steps() const { return steps_; }
  std::vector<const UsageLine*> usage() const;  // in the order in which it is shown
  const std::vector<PhaseTimes>& phases() const { return phases_; }
  std::size_t left_out_lines() const { return left_out_lines_; }
  OperatorSummary& operators() { return operators_; }
  ProfileJudge& judge(Trial& trial);  // of this trial, always the same

 private:
  using LineKey = std::tuple<const profile::UsageKind*, std::string, std::string>;
  void take(const profile::UsageSeries& series, std::int64_t end_unix_ns);
  void take(const profile::FollowedStep& step);

  ProfileSpan span_;
  profile::StepFollower steps_;
  profile::UsageFollower follower_;
  std::vector<UsageLine> usage_;
  std::map<LineKey, std::size_t> line_of_;
  std::vector<PhaseTimes> phases_;
  std::map<std::pair<std::string, std::string>, std::size_t> phase_of_;
  std::size_t left_out_lines_ = 0;
  OperatorSummary operators_;
  std::unique_ptr<ProfileJudge> judge_;
};

}  // namespace trainwarden::views
