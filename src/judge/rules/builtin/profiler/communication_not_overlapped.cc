// CommunicationNotOverlapped: workers exchange gradients while nothing else is done.
//
// Source: the exposed part of communication, as HTA measures its overlap; the limit of 10 % is that of PyTorch's plugin
// for TensorBoard. Ours: of several workers the one that is in it least is judged, since the others also wait for it;
// and communication can hide behind the backward pass only.
//
// State: sums of phases, by worker (PhaseShares).
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/profiler/finding.h"
#include "judge/rules/builtin/profiler/phase_rule.h"
#include "judge/rules/builtin/profiler/profiler_rules.h"

namespace trainwarden::rules {
namespace communication_not_overlapped_rule {
namespace {

constexpr Phase kSync[] = {Phase::kGradientSync};
constexpr Phase kBackward[] = {Phase::kBackward};
constexpr double kHidden = 0.8;  // of what could be hidden usually is
constexpr const char* kAdvice =
    "Let gradients travel while the backward pass goes on (DistributedDataParallel instead of all_reduce after it, "
    "smaller buckets), send less (bf16 compression, no_sync() while gradients are added up), or use larger batches; "
    "phase/gradient_sync falls.";

class CommunicationNotOverlapped final : public PhaseRule {
 public:
  using PhaseRule::PhaseRule;

 private:
  Verdict judge(const StepWindow& window) override {
    const std::vector<std::string> workers = shares().workers();
    if (workers.size() < 2) return Verdict::not_applicable("one worker has nobody to exchange gradients with");
    if (!shares().has_seen(Phase::kGradientSync)) {
      return Verdict::not_applicable("the run says nothing of the time in which gradients are exchanged");
    }
    const auto least = std::min_element(workers.begin(), workers.end(), [&](const auto& a, const auto& b) {
      return shares().share(a, kSync).mean < shares().share(b, kSync).mean;
    });
    const ShareRange share = shares().share(*least, kSync);
    const double seconds = share.mean * shares().seconds() / std::max(1.0, shares().steps());
    const double backward = shares().share(*least, kBackward).mean;
    // What does not fit behind the backward pass stays where it is.
    if (!is_worth_it(share, seconds) || backward < limits().share) return Verdict::ok();
    const double room = share.mean > 0 ? std::min(1.0, backward / share.mean) : 0;
    const Cost cost = cost_of(share, {kHidden * room, 0, 1});
    std::string message = fmt::format(
        "Exchanging gradients takes {:.3g} % of the time in which nothing else is done, {} a step, also on {}, which "
        "is in it least. Behind the backward pass, training is {}.",
        100 * share.mean, seconds_text(seconds), *least, gain_text(cost));
    return finding(std::move(message), kAdvice, cost,
                   {own("sync_share", share.mean, limits().share, window),
                    own("sync_seconds", seconds, limits().seconds_a_step, window)},
                   window.global_step());
  }
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const PhaseLimits limits = read_phase_limits(read);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new CommunicationNotOverlapped(limits));
}

}  // namespace
}  // namespace communication_not_overlapped_rule

RuleKind communication_not_overlapped() {
  return {
      {.name = "CommunicationNotOverlapped",
       .summary = "Fires when workers exchange gradients while nothing else is done.",
       .parameters = phase_limit_parameters("0.1", "0.005"),
       .topic = "profiling",
       .details =
           "Fires when `phase/gradient_sync` takes at least `threshold` of the wall time of train steps, and "
           "`min_seconds` of each, also on the worker that is in it least: the others wait there for late ones, which "
           "is what Straggler judges. Not where `phase/backward` is below `threshold`: it has no room for them.\n\n"
           "Predicted gain: four fifths of it hidden behind the backward pass, as far as that is long enough. Bounds: "
           "none of it, and all of it.\n\n"
           "Needs the phases of train steps of two workers or more. Of asynchronous operations of the program only "
           "the call is seen. Evidence: `step_share`, `gain`, `gain_min`, `gain_max`, `sync_share`, `sync_seconds`.",
       .source = "exposed communication as in HTA, the limit as in PyTorch's plugin for TensorBoard; the least worker "
                 "and the gain's bounds are ours",
       .profiles = true},
      communication_not_overlapped_rule::create};
}

}  // namespace trainwarden::rules
