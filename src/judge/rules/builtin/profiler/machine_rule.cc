#include "judge/rules/builtin/profiler/machine_rule.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "judge/rules/needs.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace {

constexpr std::int64_t kMostMoments = 100'000;  // 14 hours
constexpr std::int64_t kLeastScanUs = 500'000, kMostScanUs = 3'600'000'000;

}  // namespace

MachineRule::MachineRule(std::vector<std::string> roles, std::int64_t cadence_ns)
    : reader_(std::move(roles), cadence_ns),
      standing_(Verdict::insufficient_data("nothing of the machine was sampled yet")) {}

std::vector<Collection> MachineRule::needs() const {
  return {need_values("scalars", 1)};
}

Verdict MachineRule::evaluate(const StepWindow& window) {
  phases_.take(window);
  if (!std::exchange(has_steps_, true)) {
    for (const std::string& worker : window.workers()) {
      first_step_unix_ns_ = std::max(first_step_unix_ns_, window.ended_unix_ns(worker));
    }
  }
  see_step(window);
  // What it says of the machine is said of no step.
  if (standing_.outcome == Outcome::kInsufficientData) return Verdict::insufficient_data(standing_.message);
  if (standing_.outcome == Outcome::kNotApplicable) return Verdict::not_applicable(standing_.message);
  return Verdict::not_applicable("it judges stretches of time, and takes the phases of steps");
}

bool MachineRule::trains(const TimeWindow& window, std::int64_t unix_ns) const {
  if (has_steps_) return unix_ns >= first_step_unix_ns_;
  return window.trial.workers().empty();
}

Verdict MachineRule::evaluate_time(const TimeWindow& window) {
  run_ended_ = is_last_window(window);
  reader_.take(window, [&](const Moment& moment) {
    if (trains(window, moment.from_unix_ns)) see(moment);
  });
  if (!has_steps_ && !window.trial.workers().empty()) {
    standing_ = Verdict::insufficient_data("no step has ended yet");
  } else {
    standing_ = judge(window);
  }
  return standing_;
}

std::int64_t read_cadence_ns(ParameterReader& read) {
  return read.integer("scan_interval_us", kLeastScanUs, kMostScanUs) * 1000;
}

Patience read_patience(ParameterReader& read) {
  return {static_cast<std::size_t>(read.integer("patience", 0, kMostMoments))};
}

std::size_t read_window(ParameterReader& read) {
  return static_cast<std::size_t>(read.integer("window", 2, kMostMoments));
}

Verdict bounded_finding(std::string message, std::string advice, double step_share, double gain_max,
                        std::vector<Evidence> own, std::int64_t global_step, Severity severity) {
  std::vector<Evidence> evidence = {{"", "", "step_share", step_share, 0, global_step},
                                    {"", "", "gain_min", 1, 0, global_step},
                                    {"", "", "gain_max", gain_max, 0, global_step}};
  std::move(own.begin(), own.end(), std::back_inserter(evidence));
  return fired(std::move(message), std::move(advice), std::move(evidence), severity);
}

std::string gpu_text(const std::string& node, const std::string& gpu) {
  return fmt::format("{} on {}", printable(gpu), printable(node));
}

}  // namespace trainwarden::rules
