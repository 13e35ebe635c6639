// read_profile: a run's ProfileReport, as far as its files go by now.
#pragma once

#include <chrono>
#include <string>

#include "trainwarden/status.h"
#include "ui/views/profile/profile_report.h"
#include "ui/views/shelf.h"

namespace trainwarden::views {

struct ProfileQuestion {
  std::size_t buckets = 600;                 // of the timeline
  std::chrono::milliseconds patience{1000};  // with judging, and as long with operators; what is left comes later
  std::chrono::milliseconds judge_at_most_every{10'000};
};

// Errors as those of reading. What was read is remembered with the run, so that only what is new is read again.
Result<ProfileReport> read_profile(const OpenRun::Use& run, const ProfileQuestion& question = {});

struct TimelineQuestion {
  std::int64_t from_unix_ns = 0;  // 0: when the training began
  std::int64_t to_unix_ns = 0;    // 0: when it ended, or now
  std::size_t buckets = 600;
};
inline constexpr std::size_t kMostTimelineBuckets = 2000;
// Lines of an answer. More are left out and counted.
inline constexpr std::size_t kMostSystemLines = 400;
inline constexpr std::size_t kMostPhaseLines = 256;

// The timeline alone. Of a stretch that is finer than what is remembered the samples are read.
Result<ProfileTimeline> read_profile_timeline(const OpenRun::Use& run, const TimelineQuestion& question);

}  // namespace trainwarden::views
