#include "judge/rules/builtin/training/call_mistakes.h"

#include <algorithm>

#include <fmt/format.h>

namespace trainwarden::rules {
namespace {

using signals::Call;

constexpr std::size_t kMostDescribed = 16;

bool has(std::span<const Call> calls, Call call) {
  return std::find(calls.begin(), calls.end(), call) != calls.end();
}

std::string_view name_of(Call call) {
  switch (call) {
    case Call::kForward: return "forward";
    case Call::kBackward: return "backward";
    case Call::kStep: return "step";
    case Call::kZeroGrad: return "zero_grad";
    case Call::kClip: return "clip";
    case Call::kUnscale: return "unscale";
  }
  return "unknown";
}

void take(Call call, CallHistory& history) {
  switch (call) {
    case Call::kBackward: history = {.backward_seen = true, .known = true}; break;
    case Call::kStep: ++history.steps_since_backward; break;
    case Call::kZeroGrad: history.zeroed = true; break;
    case Call::kUnscale: history.unscaled = true; break;
    case Call::kClip: history.clipped_scaled |= !history.unscaled; break;
    case Call::kForward: break;
  }
}

}  // namespace

std::array<bool, kCallMistakes> find_call_mistakes(std::span<const Call> calls, const CallContext& context,
                                                   CallHistory& history) {
  std::array<bool, kCallMistakes> found{};
  const auto set = [&](CallMistake mistake) { found[static_cast<std::size_t>(mistake)] = true; };
  // Else the program has put others in their place, or may have.
  const bool no_gradients = context.gradients == Gradients::kNone || context.gradients == Gradients::kZero;
  for (const Call call : calls) {
    if (call == Call::kStep && history.known) {
      const bool first = history.steps_since_backward == 0;
      const bool one_too_many = context.optimizers > 0 && history.steps_since_backward >= context.optimizers;
      if (one_too_many) set(CallMistake::kStepWithoutBackward);
      if (first && context.optimizers == 1 && history.zeroed && no_gradients) set(CallMistake::kZeroedBeforeStep);
      if (first && context.scaled && history.clipped_scaled) set(CallMistake::kClippedBeforeUnscale);
    }
    take(call, history);
  }
  const bool steps = has(calls, Call::kStep);
  const bool forward = has(calls, Call::kForward);
  // With gradients the program computes them in its own way.
  const bool none = context.gradients == Gradients::kNone;
  if (steps && forward && none && !history.backward_seen) set(CallMistake::kNeverBackward);
  if (steps && !forward && has(calls, Call::kBackward) && context.forward_always) set(CallMistake::kBackwardTwice);
  return found;
}

std::string describe_calls(std::span<const Call> calls) {
  std::string text;
  std::size_t described = 0;
  for (std::size_t at = 0; at < calls.size();) {
    const auto other = std::find_if(calls.begin() + static_cast<std::ptrdiff_t>(at), calls.end(),
                                    [&](Call call) { return call != calls[at]; });
    const auto end = static_cast<std::size_t>(other - calls.begin());
    if (!text.empty()) text += ", ";
    if (described++ == kMostDescribed) return text + "...";
    text += end - at == 1 ? std::string(name_of(calls[at])) : fmt::format("{} × {}", end - at, name_of(calls[at]));
    at = end;
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace trainwarden::rules
