// The mistakes that the order of a step's calls shows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "judge/rules/signals.h"

namespace trainwarden::rules {

enum class CallMistake : std::uint8_t {
  kNeverBackward,         // the optimizer steps, gradients there are none, and no backward pass has ever been seen
  kStepWithoutBackward,   // more steps of optimizers since the last backward pass than there are optimizers
  kZeroedBeforeStep,      // gradients were zeroed after the last backward pass, and the optimizer stepped without any
  kClippedBeforeUnscale,  // gradients were clipped while they were still multiplied by the loss scale
  kBackwardTwice,         // backward pass without a forward pass, in a program that had one in every step before
};
inline constexpr std::size_t kCallMistakes = 5;

// What the optimizer had to step with, as far as was captured.
enum class Gradients : std::uint8_t { kUnknown, kNone, kZero, kSome };

// What the order is judged by, besides the calls of the step.
struct CallContext {
  std::size_t optimizers = 0;   // how many there are; 0: not known
  bool scaled = false;          // a gradient scaler is in use, at a scale other than 1
  bool forward_always = false;  // every one of many earlier steps had a forward pass
  Gradients gradients = Gradients::kUnknown;
};

// What has happened to the gradients that the next step of an optimizer will use. It goes on over the ends of steps,
// since with several optimizers a step may end between a backward pass and the step that uses it.
struct CallHistory {
  bool backward_seen = false;            // ever
  bool known = false;                    // every call since the last backward pass is known
  std::size_t steps_since_backward = 0;  // of optimizers
  bool zeroed = false;                   // since the last backward pass, and so below
  bool unscaled = false;
  bool clipped_scaled = false;

  void forget() { known = false; }  // calls were missed
};

// One flag for each CallMistake. Without a step of an optimizer among the calls nothing is found.
std::array<bool, kCallMistakes> find_call_mistakes(std::span<const signals::Call> calls, const CallContext& context,
                                                   CallHistory& history);

std::string describe_calls(std::span<const signals::Call> calls);  // "zero_grad, forward, 2 × backward, step"

}  // namespace trainwarden::rules
