// Guard: rules that judge inside the training process, before an optimizer steps, and may keep the step from being
// made.
//
//   auto hook = trainwarden::Hook::open(options);
//   TRAINWARDEN_RETURN_IF_ERROR(trainwarden::Guard::install(*hook, {*parse_rule_spec("ExplodingTensor")},
//                                                           {.on_fire = OnFire::kSkipStep}));
//   for (...) {
//     ...                                                     // forward, backward, save losses and gradients
//     const StepAdvice advice = hook->judge_step();
//     if (advice == StepAdvice::kProceed) optimizer.step();   // else the weights and the optimizer's state stay
//     if (hook->end_step().stop_requested) break;
//   }
//
// The adapters for PyTorch and LibTorch ask by themselves, and take the rules from the environment when they open a
// hook.
//
// What a rule sees. judge_step() shows what was saved in the step since it was asked last: losses, activations,
// gradients. Rules that ask for what comes later (weights, biases, buffers, optimizer_state, signals, scalars) judge
// when the step ends, with all of it before them, and can stop the training but not veto the step. Where nobody asks
// before the step ends (evaluation), all rules judge at its end. Each rule sees a tensor of a step once. Only this
// worker's tensors are seen: in a job of several workers veto by what all of them see alike, such as gradients after
// they were averaged; else replicas part.
//
// What the rules need is captured besides what the hook was opened for; when they may veto, no budget leaves that out.
//
// Promises. No call throws. A rule that throws, or takes longer than the time limit three times in a row, is parked
// with a verdict, and the others go on; one that never returns cannot be parked. What judging costs is on the hook's
// bill. Verdicts go into a journal of their own in the run (docs/format), written by the hook's writer thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trainwarden/export.h"
#include "trainwarden/hook.h"
#include "trainwarden/rule.h"
#include "trainwarden/status.h"

namespace trainwarden {

// What happens when a verdict has fired that is more than a note and not muted.
enum class OnFire : std::uint8_t {
  kReport,    // it is recorded
  kSkipStep,  // the optimizer's step is left out, and the training goes on with the next batch
  kStop,      // the optimizer's step is left out, and the training ends
};
TRAINWARDEN_API std::string_view name(OnFire on_fire);  // "report", "skip_step", "stop"
// Also with a dash, "skip-step". kInvalidArgument for other words.
TRAINWARDEN_API Result<OnFire> parse_on_fire(std::string_view word);

struct GuardRule {
  RuleSpec spec;  // what it is called in verdicts; of a built-in one, what it was created from
  std::unique_ptr<Rule> rule;
};

struct GuardOptions {
  OnFire on_fire = OnFire::kReport;
  bool keep_going = false;                   // judge on with a rule that has fired; kSkipStep always does
  std::chrono::milliseconds time_limit{50};  // of one evaluation by one rule
  // Warnings that come at so many steps in a row veto no more until the rule was silent once: a training that only
  // looks bad must not starve. Errors always veto.
  int warnings_in_a_row = 10;
  bool write_journal = true;
  std::vector<std::string> mute;  // keys, as `trainwarden` shows them: verdicts that veto nothing
};

class TRAINWARDEN_API Guard {
 public:
  // Call it once, before the first step ends, from the thread that drives training. A hook that is switched off
  // takes no guard, which is no error. kInvalidArgument: a rule that does not exist or is null, or a built-in one that
  // cannot judge in here, as it needs more than statistics and scalars of one step. kAlreadyExists: the hook has a
  // guard.
  static Status install(Hook& hook, std::vector<GuardRule> rules, const GuardOptions& options = {});
  static Status install(Hook& hook, const std::vector<RuleSpec>& rules, const GuardOptions& options = {});
  // What TRAINWARDEN_GUARD_RULES (one spec in each line; "default": all that come by default and can judge in here) and
  // TRAINWARDEN_ON_FIRE say. Nothing is installed when the first is not set.
  static Status install_from_environment(Hook& hook);

  // The rules of these words: specs, or "default". kInvalidArgument as install().
  static Result<std::vector<RuleSpec>> parse_rules(const std::vector<std::string>& words);
};

}  // namespace trainwarden
