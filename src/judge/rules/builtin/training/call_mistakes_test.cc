#include "judge/rules/builtin/training/call_mistakes.h"

#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace trainwarden::rules {
namespace {

using signals::Call;

// "z": zero_grad, "f": forward, "b": backward, "s": step, "c": clip, "u": unscale.
std::vector<Call> call_list(std::string_view letters) {
  std::vector<Call> calls;
  for (const char letter : letters) {
    calls.push_back(static_cast<Call>(std::string_view("fbszcu").find(letter) + 1));
  }
  return calls;
}

// After a step that was as it should be, unless `history` says something else.
constexpr CallHistory kBefore{.backward_seen = true, .known = true, .steps_since_backward = 1};

bool finds(CallMistake mistake, std::string_view letters, const CallContext& context, CallHistory history = kBefore) {
  return find_call_mistakes(call_list(letters), context, history)[static_cast<std::size_t>(mistake)];
}

bool finds_any(std::string_view letters, const CallContext& context, CallHistory history = kBefore) {
  for (const bool found : find_call_mistakes(call_list(letters), context, history)) {
    if (found) return true;
  }
  return false;
}

constexpr CallContext kPlain{.optimizers = 1};
constexpr CallContext kTwo{.optimizers = 2};
constexpr CallContext kUnknown{};
constexpr CallContext kScaled{.optimizers = 1, .scaled = true};

TEST(CallMistakes, UsualOrdersAreFine) {
  EXPECT_FALSE(finds_any("zfbs", kPlain));
  EXPECT_FALSE(finds_any("fzbs", kPlain));
  EXPECT_FALSE(finds_any("fbs", kPlain));
  EXPECT_FALSE(finds_any("zfbfbfbs", kPlain));  // accumulation
  EXPECT_FALSE(finds_any("zfbbs", kPlain));     // two losses of one forward pass
  EXPECT_FALSE(finds_any("zfbzfbs", kPlain));   // LBFGS; a step that a scaler left out
  EXPECT_FALSE(finds_any("zffbs", kTwo));       // a GAN's parts
  EXPECT_FALSE(finds_any("zfbszffbs", kTwo));
  EXPECT_FALSE(finds_any("zfbss", kTwo));  // one pass, two optimizers
  EXPECT_FALSE(finds_any("zfbsss", kUnknown));
  EXPECT_FALSE(finds_any("zfbucs", kScaled));
  EXPECT_FALSE(finds_any("zfbcs", kPlain));  // clipping without a scaler
  EXPECT_FALSE(finds_any("zf", kPlain));     // nothing steps
}

TEST(CallMistakes, AStepMayEndBetweenABackwardPassAndItsUse) {
  CallHistory history = kBefore;
  for (const std::string_view step : {"zfb", "szfb", "szfb", "szfbs"}) {
    for (const bool found : find_call_mistakes(call_list(step), kTwo, history)) EXPECT_FALSE(found) << step;
  }
}

TEST(CallMistakes, AStepNeedsABackwardPass) {
  EXPECT_TRUE(finds(CallMistake::kStepWithoutBackward, "zfs", kPlain));
  EXPECT_TRUE(finds(CallMistake::kStepWithoutBackward, "zfbss", kPlain));
  EXPECT_FALSE(finds_any("zfs", kTwo));
  EXPECT_TRUE(finds(CallMistake::kStepWithoutBackward, "zfss", kTwo));
  EXPECT_FALSE(finds_any("zfs", kUnknown));
  EXPECT_FALSE(finds_any("zfs", kPlain, {}));  // whose gradients come from nobody knows where
  CallHistory missed = kBefore;
  missed.forget();
  EXPECT_FALSE(finds_any("zfs", kPlain, missed));
}

TEST(CallMistakes, ABackwardPassThatNeverCameIsToldByMissingGradients) {
  CallContext context{.optimizers = 1, .gradients = Gradients::kNone};
  EXPECT_TRUE(finds(CallMistake::kNeverBackward, "zfs", context, {}));
  EXPECT_FALSE(finds_any("zs", context, {}));
  for (const Gradients other : {Gradients::kUnknown, Gradients::kZero, Gradients::kSome}) {
    context.gradients = other;
    EXPECT_FALSE(finds_any("zfs", context, {}));
  }
}

TEST(CallMistakes, ZeroingBetweenBackwardAndStep) {
  CallContext context{.optimizers = 1, .gradients = Gradients::kZero};
  EXPECT_TRUE(finds(CallMistake::kZeroedBeforeStep, "fbzs", context));
  EXPECT_TRUE(finds(CallMistake::kZeroedBeforeStep, "fbfbzs", context));
  context.gradients = Gradients::kNone;
  EXPECT_TRUE(finds(CallMistake::kZeroedBeforeStep, "fbzs", context));
  for (const std::size_t other : {0, 2}) {  // not known; it may be the other's that were zeroed
    EXPECT_FALSE(finds_any("fbzs", {.optimizers = other, .gradients = Gradients::kZero}));
  }
  for (const Gradients other : {Gradients::kUnknown, Gradients::kSome}) {
    EXPECT_FALSE(finds_any("fbzs", {.optimizers = 1, .gradients = other}));
  }
}

TEST(CallMistakes, ClippingBeforeUnscaling) {
  EXPECT_TRUE(finds(CallMistake::kClippedBeforeUnscale, "zfbcs", kScaled));
  EXPECT_TRUE(finds(CallMistake::kClippedBeforeUnscale, "zfbcus", kScaled));
}

TEST(CallMistakes, ABackwardPassWithoutForwardAgainstTheHabit) {
  CallContext context = kPlain;
  EXPECT_FALSE(finds_any("zbs", context));
  context.forward_always = true;
  EXPECT_TRUE(finds(CallMistake::kBackwardTwice, "zbs", context));
  EXPECT_FALSE(finds_any("zfbs", context));
}

TEST(CallMistakes, Description) {
  EXPECT_EQ(describe_calls(call_list("zffbcus")), "zero_grad, 2 × forward, backward, clip, unscale, step");
  EXPECT_EQ(describe_calls({}), "nothing");
  EXPECT_EQ(describe_calls(call_list("fbfbfbfbfbfbfbfbfbfb")).substr(0, 16), "forward, backwar");
  EXPECT_NE(describe_calls(call_list("fbfbfbfbfbfbfbfbfbfb")).find("..."), std::string::npos);
}

}  // namespace
}  // namespace trainwarden::rules
