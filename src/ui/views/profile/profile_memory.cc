#include "ui/views/profile/profile_memory.h"

#include <algorithm>
#include <limits>

#include "ui/views/profile/recorded_parameters.h"

namespace trainwarden::views {
namespace {

constexpr std::size_t kMostDigestValues = 16'384;  // of one series
constexpr std::size_t kMostLineBuckets = 8'192;    // of one series
constexpr std::size_t kFewestLineBuckets = 1'024;
constexpr std::size_t kFewLines = 64;           // so many have all the room
constexpr std::size_t kMostPhaseTimes = 1'024;  // of workers and phases

// The kinds in their order, then by instance and part: "2" before "10".
bool line_before(const UsageLine& a, const UsageLine& b) {
  if (a.kind != b.kind) return a.kind < b.kind;
  if (a.instance != b.instance) return a.instance < b.instance;
  if (a.part.size() != b.part.size()) return a.part.size() < b.part.size();
  return a.part < b.part;
}

}  // namespace

Status ProfileMemory::refresh(Trial& trial) {
  span_ = profile_span(trial);
  TRAINWARDEN_RETURN_IF_ERROR(steps_.refresh(trial, std::numeric_limits<std::int64_t>::max(),
                                             [this](const profile::FollowedStep& step) { take(step); }));
  return follower_.refresh(trial, [this](const profile::UsageSeries& series) { take(series, span_.to_unix_ns); });
}

void ProfileMemory::take(const profile::UsageSeries& series, std::int64_t end_unix_ns) {
  const LineKey key(series.kind, series.instance, series.part);
  auto known = line_of_.find(key);
  if (known == line_of_.end()) {
    if (usage_.size() >= kMostUsageLines) {
      ++left_out_lines_;
      return;
    }
    const std::size_t buckets = usage_.size() < kFewLines ? kMostLineBuckets : kFewestLineBuckets;
    known = line_of_.emplace(key, usage_.size()).first;
    usage_.push_back({series.kind, series.instance, series.part, series.worker, 0, ValueDigest(kMostDigestValues),
                      TimeBuckets(span_.from_unix_ns, buckets)});
  }
  UsageLine& line = usage_[known->second];
  // Of several samplers of one machine the one that was read first has the word for its time.
  for (const Sample& sample : series.samples) {
    if (sample.unix_ns <= line.last_unix_ns || sample.unix_ns >= end_unix_ns) continue;
    line.last_unix_ns = sample.unix_ns;
    line.digest.add(sample.value);
    line.buckets.add(sample.unix_ns, sample.value);
  }
}

void ProfileMemory::take(const profile::FollowedStep& step) {
  const auto length_ns = static_cast<std::int64_t>(static_cast<double>(step.time.seconds) * 1e9);
  for (const auto& [phase, seconds] : step.seconds) {
    const std::pair key(step.worker, phase);
    auto known = phase_of_.find(key);
    if (known == phase_of_.end()) {
      if (phases_.size() >= kMostPhaseTimes) {
        ++left_out_lines_;
        continue;
      }
      known = phase_of_.emplace(key, phases_.size()).first;
      const std::size_t buckets = phases_.size() < kFewLines ? kMostLineBuckets : kFewestLineBuckets;
      phases_.push_back({step.worker, phase, TimeBuckets(span_.from_unix_ns, buckets)});
    }
  }
  if (step.time.seconds <= 0) return;
  const double length = static_cast<double>(step.time.seconds);
  for (PhaseTimes& times : phases_) {
    if (times.worker != step.worker) continue;
    const auto found = step.seconds.find(times.phase);
    const double share = found == step.seconds.end() ? 0 : std::min(1.0, found->second / length);
    times.buckets.spread(step.time.end_unix_ns - length_ns, step.time.end_unix_ns, share);
  }
}

std::vector<const UsageLine*> ProfileMemory::usage() const {
  std::vector<const UsageLine*> lines;
  for (const UsageLine& line : usage_) {
    if (line.digest.count() > 0) lines.push_back(&line);
  }
  std::sort(lines.begin(), lines.end(), [](const UsageLine* a, const UsageLine* b) { return line_before(*a, *b); });
  return lines;
}

ProfileJudge& ProfileMemory::judge(Trial& trial) {
  if (!judge_) judge_ = std::make_unique<ProfileJudge>(trial, recorded_parameters(trial));
  return *judge_;
}

}  // namespace trainwarden::views
