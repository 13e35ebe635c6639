#include "rules/builtin/training/call_mistakes.h"

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

// What happened to the gradients that a step uses: the calls after the last backward pass, at each optimizer's step.
struct SinceBackward {
  bool any = false;  // there was a backward pass
  bool zeroed = false;
  bool unscaled = false;
  bool clipped_scaled = false;
};

void take(Call call, SinceBackward& since) {
  switch (call) {
    case Call::kBackward: since = {.any = true}; break;
    case Call::kZeroGrad: since.zeroed = true; break;
    case Call::kUnscale: since.unscaled = true; break;
    case Call::kClip: since.clipped_scaled |= !since.unscaled; break;
    case Call::kForward:
    case Call::kStep: break;
  }
}

}  // namespace

std::array<bool, kCallMistakes> find_call_mistakes(std::span<const Call> calls, const CallContext& context) {
  std::array<bool, kCallMistakes> found{};
  const auto set = [&](CallMistake mistake) { found[static_cast<std::size_t>(mistake)] = true; };
  if (!has(calls, Call::kStep)) return found;
  if (!has(calls, Call::kBackward)) {
    if (context.backward_seen) set(CallMistake::kStepWithoutBackward);
    const bool none = context.gradients == Gradients::kNone;  // else the program computes them in its own way
    if (!context.backward_seen && none && has(calls, Call::kForward)) set(CallMistake::kNeverBackward);
    return found;
  }
  if (context.forward_always && !has(calls, Call::kForward)) set(CallMistake::kBackwardTwice);
  SinceBackward since;
  for (const Call call : calls) {
    take(call, since);
    if (call != Call::kStep || !since.any) continue;
    const bool own = context.gradients == Gradients::kSome;  // the program puts others in their place
    if (context.one_optimizer && since.zeroed && !own) set(CallMistake::kZeroedBeforeStep);
    if (context.scaled && since.clipped_scaled) set(CallMistake::kClippedBeforeUnscale);
    since = {};
  }
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
