// The mistakes that the order of a step's calls shows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rules/signals.h"

namespace trainwarden::rules {

enum class CallMistake : std::uint8_t {
  kNeverBackward,         // the optimizer steps, gradients there are none, and no backward pass has ever been seen
  kStepWithoutBackward,   // the optimizer stepped, and there was no backward pass in the step
  kZeroedBeforeStep,      // gradients were zeroed after the last backward pass, and the optimizer stepped without any
  kClippedBeforeUnscale,  // gradients were clipped while they were still multiplied by the loss scale
  kBackwardTwice,         // backward pass without a forward pass, in a program that had one in every step before
};
inline constexpr std::size_t kCallMistakes = 5;

// What the optimizer had to step with, as far as was captured.
enum class Gradients : std::uint8_t { kUnknown, kNone, kZero, kSome };

// What the order is judged by, besides the calls of the step.
struct CallContext {
  bool one_optimizer = false;   // known to be just one: what is zeroed belongs to what steps
  bool scaled = false;          // a gradient scaler is in use, at a scale other than 1
  bool backward_seen = false;   // in an earlier step
  bool forward_always = false;  // every one of many earlier steps had a forward pass
  Gradients gradients = Gradients::kUnknown;
};

// One flag for each CallMistake. `calls` must hold a step of an optimizer, else nothing is found.
std::array<bool, kCallMistakes> find_call_mistakes(std::span<const signals::Call> calls, const CallContext& context);

std::string describe_calls(std::span<const signals::Call> calls);  // "zero_grad, forward, 2 × backward, step"

}  // namespace trainwarden::rules
