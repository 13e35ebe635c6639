// MachineRule: what the rules over the machine's samples have in common. They judge windows of time, half second by
// half second, from the end of the first step on; of the steps they take the phases.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "judge/rules/builtin/profiler/moments.h"
#include "judge/rules/builtin/profiler/phase_shares.h"
#include "judge/rules/parameters.h"
#include "trainwarden/rule.h"

namespace trainwarden::rules {

class MachineRule : public Rule {
 public:
  Verdict evaluate(const StepWindow& window) final;
  std::optional<TimeSchedule> schedule() const final { return reader_.schedule(); }
  Verdict evaluate_time(const TimeWindow& window) final;
  std::vector<Collection> needs() const override;

 protected:
  // Names of metrics as MomentReader has them.
  MachineRule(std::vector<std::string> roles, std::int64_t cadence_ns);

  // One moment of one machine while the training trained. Runs of which no step is known at all are judged from their
  // first sample on.
  virtual void see(const Moment& moment) = 0;
  virtual void see_step(const StepWindow& window) { static_cast<void>(window); }
  // After the moments of a window.
  virtual Verdict judge(const TimeWindow& window) = 0;
  bool run_ended() const { return run_ended_; }  // and the window is its last

  const PhaseShares& phases() const { return phases_; }

 private:
  bool trains(const TimeWindow& window, std::int64_t unix_ns) const;

  MomentReader reader_;
  PhaseShares phases_;
  bool has_steps_ = false;
  bool run_ended_ = false;
  std::int64_t first_step_unix_ns_ = 0;  // when it had ended
  Verdict standing_;                     // of the last window
};

// Of the parameter scan_interval_us.
std::int64_t read_cadence_ns(ParameterReader& read);
// `patience`, in samples of half a second.
Patience read_patience(ParameterReader& read);
// `window`, the same.
std::size_t read_window(ParameterReader& read);

inline constexpr const char* kNoGpu = "no GPU was sampled";
// How SageMaker's counts are to be read; for the details of descriptions.
inline constexpr const char* kCountsInHalfSeconds =
    "Parameters that count samples (`patience`, `window`) count half seconds, since the service samples twice a "
    "second: 100 are 50 s, at whatever rate the machine was sampled. A run that ends before its patience is over is "
    "judged at its end, when at least 4 s are known.";

// Of a fault that costs a share of the time and of which it is known only what mending it gains at most.
Verdict bounded_finding(std::string message, std::string advice, double step_share, double gain_max,
                        std::vector<Evidence> own, std::int64_t global_step, Severity severity = Severity::kWarning);

// "GPU-0 on node7".
std::string gpu_text(const std::string& node, const std::string& gpu);

}  // namespace trainwarden::rules
