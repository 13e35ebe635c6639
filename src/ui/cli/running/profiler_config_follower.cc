#include "ui/cli/running/profiler_config_follower.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/pause.h"
#include "data/format/control_record.h"
#include "react/actions/request.h"
#include "react/watch/common_step.h"
#include "read/trial/trial_access.h"
#include "store/storage/naming.h"
#include "trainwarden/trial.h"
#include "ui/cli/options/profiler_config_choice.h"
#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {
namespace {

constexpr std::chrono::milliseconds kConfigLookInterval{1000};
constexpr double kNanosecond = 1e-9;

using foreign::SmdebugProfileRange;
using foreign::SmdebugProfilerConfig;

double unix_seconds() {
  return static_cast<double>(system_clock().unix_ns()) * kNanosecond;
}

std::optional<SmdebugProfileRange> wanted_range(const SmdebugProfilerConfig& config) {
  return config.operators ? config.operators : config.stacks;
}

}  // namespace

ProfilerConfigFollower::ProfilerConfigFollower(std::filesystem::path file, std::filesystem::path run,
                                               SmdebugProfilerConfig known, Sampling sampling)
    : file_(std::move(file)), run_(std::move(run)), known_(std::move(known)), sampling_(std::move(sampling)) {
  // Steps are in the hook's own configuration from the start; times are asked for when they come.
  if (const auto range = wanted_range(known_); range && range->by_time()) due_ = range;
  thread_ = std::jthread([this](const std::stop_token& stop) { follow_config(stop); });
}

void ProfilerConfigFollower::follow_config(const std::stop_token& stop) {
  try {
    while (!stop.stop_requested()) {
      look_at_file();
      ask_when_due();
      pause_for(kConfigLookInterval, stop);
    }
  } catch (const std::exception& error) {
    emit(stderr, "trainwarden: warning: {} is followed no more: {}\n", file_.string(), error.what());
  }
}

void ProfilerConfigFollower::look_at_file() {
  std::error_code missing;
  const auto changed = std::filesystem::last_write_time(file_, missing);
  if (missing || changed == changed_) return;
  changed_ = changed;
  const auto now = read_profiler_config(file_);
  if (!now.ok()) {
    emit(stderr, "trainwarden: warning: what was known before stays: {}\n", now.status().message());
    return;
  }
  take_config(*now);
  known_ = *now;
}

void ProfilerConfigFollower::take_config(const SmdebugProfilerConfig& now) {
  if (now.interval_ms != known_.interval_ms || now.disabled != known_.disabled) {
    emit(stderr, "trainwarden: {}: {}\n", file_.string(), sampling_(now));
  }
  const auto range = wanted_range(now);
  if (range && range != wanted_range(known_)) due_ = range;
  if (!range) due_ = std::nullopt;
}

void ProfilerConfigFollower::ask_when_due() {
  if (run_ == kAsksNobody || !due_ || due_->start_unix_seconds.value_or(0) > unix_seconds()) return;
  const Status status = ask_for(*due_);
  // The run has not begun yet, or cannot be written just now.
  if (status.code() == Code::kNotFound || status.code() == Code::kUnavailable) return;
  if (!status.ok()) emit(stderr, "trainwarden: warning: {}: {}\n", file_.string(), status.message());
  due_ = std::nullopt;
}

// As `trainwarden profile` asks: the workers hear of it at the end of a step.
Status ProfilerConfigFollower::ask_for(const SmdebugProfileRange& range) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto trial, Trial::open(run_));
  const watch::RunPace pace = watch::pace_of(*trial);
  format::ProfileRequest request{.steps = std::min(range.steps, format::kMaxProfileSteps),
                                 .requested_by = "profilerconfig.json"};
  request.unix_ns = system_clock().unix_ns();
  request.first_step = range.start_step.value_or(watch::first_common_step(pace, request.unix_ns));
  if (range.by_time()) {
    const double begin = range.start_unix_seconds.value_or(unix_seconds());
    const double left = range.seconds ? begin + *range.seconds - unix_seconds() : 1e18;
    if (left <= 0) return {};
    if (pace.step_ns <= 0) return Status(Code::kUnavailable, "no step has ended yet");
    const double steps = left / (static_cast<double>(pace.step_ns) * kNanosecond);
    request.steps = static_cast<std::int64_t>(std::clamp(steps, 1.0, static_cast<double>(format::kMaxProfileSteps)));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(request.key, storage::random_name());
  return actions::put_request(TrialAccess::location(*trial).storage(), TrialAccess::identity(*trial),
                              {format::RequestKind::kProfile, request.key}, format::encode_profile_request(request));
}

}  // namespace trainwarden::cli
