#include "rules/builtin/training/call_mistakes.h"

#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace trainwarden::rules {
namespace {

using signals::Call;

// "z": zero_grad, "f": forward, "b": backward, "s": step, "c": clip, "u": unscale.
std::vector<Call> calls(std::string_view letters) {
  std::vector<Call> calls;
  for (const char letter : letters) {
    calls.push_back(static_cast<Call>(std::string_view("fbszcu").find(letter) + 1));
  }
  return calls;
}

bool finds(CallMistake mistake, std::string_view letters, const CallContext& context) {
  return find_call_mistakes(calls(letters), context)[static_cast<std::size_t>(mistake)];
}

bool finds_any(std::string_view letters, const CallContext& context) {
  for (const bool found : find_call_mistakes(calls(letters), context)) {
    if (found) return true;
  }
  return false;
}

constexpr CallContext kPlain{.one_optimizer = true, .backward_seen = true};
constexpr CallContext kScaled{.one_optimizer = true, .scaled = true, .backward_seen = true};

TEST(CallMistakes, UsualOrdersAreFine) {
  EXPECT_FALSE(finds_any("zfbs", kPlain));
  EXPECT_FALSE(finds_any("fzbs", kPlain));
  EXPECT_FALSE(finds_any("fbs", kPlain));
  EXPECT_FALSE(finds_any("zfbfbfbs", kPlain));                    // accumulation
  EXPECT_FALSE(finds_any("zfbbs", kPlain));                       // two losses of one forward pass
  EXPECT_FALSE(finds_any("szfbzfb", kPlain));                     // LBFGS, told at the begin of its step
  EXPECT_FALSE(finds_any("zfbzfbs", kPlain));                     // LBFGS at its end; a skipped step
  EXPECT_FALSE(finds_any("zffbs", {.backward_seen = true}));      // a GAN's parts
  EXPECT_FALSE(finds_any("zfbszffbs", {.backward_seen = true}));  //
  EXPECT_FALSE(finds_any("zfbss", {.backward_seen = true}));      // one pass, two optimizers
  EXPECT_FALSE(finds_any("zfbucs", kScaled));                     //
  EXPECT_FALSE(finds_any("zfbzfbcs", kPlain));                    // clipping without a scaler
  EXPECT_FALSE(finds_any("zf", kPlain));                          // nothing steps
}

TEST(CallMistakes, AStepNeedsABackwardPass) {
  EXPECT_TRUE(finds(CallMistake::kStepWithoutBackward, "zfs", kPlain));
  EXPECT_FALSE(finds_any("zfs", {.one_optimizer = true}));  // whose gradients come from nobody knows where
}

TEST(CallMistakes, ABackwardPassThatNeverCameIsToldByMissingGradients) {
  CallContext context{.one_optimizer = true, .gradients = Gradients::kNone};
  EXPECT_TRUE(finds(CallMistake::kNeverBackward, "zfs", context));
  EXPECT_FALSE(finds_any("zs", context));
  for (const Gradients other : {Gradients::kUnknown, Gradients::kZero, Gradients::kSome}) {
    context.gradients = other;
    EXPECT_FALSE(finds_any("zfs", context));
  }
}

TEST(CallMistakes, ZeroingBetweenBackwardAndStep) {
  EXPECT_TRUE(finds(CallMistake::kZeroedBeforeStep, "fbzs", kPlain));
  EXPECT_TRUE(finds(CallMistake::kZeroedBeforeStep, "fbfbzs", kPlain));
  EXPECT_FALSE(finds_any("fbzs", {.backward_seen = true}));  // the other optimizer's
  CallContext own = kPlain;
  own.gradients = Gradients::kSome;
  EXPECT_FALSE(finds_any("fbzs", own));
}

TEST(CallMistakes, ClippingBeforeUnscaling) {
  EXPECT_TRUE(finds(CallMistake::kClippedBeforeUnscale, "zfbcs", kScaled));
  EXPECT_TRUE(finds(CallMistake::kClippedBeforeUnscale, "zfbcus", kScaled));
  EXPECT_FALSE(finds_any("zfbcs", kPlain));
}

TEST(CallMistakes, ABackwardPassWithoutForwardAgainstTheHabit) {
  CallContext context = kPlain;
  EXPECT_FALSE(finds_any("zbs", context));
  context.forward_always = true;
  EXPECT_TRUE(finds(CallMistake::kBackwardTwice, "zbs", context));
  EXPECT_FALSE(finds_any("zfbs", context));
}

TEST(CallMistakes, Description) {
  EXPECT_EQ(describe_calls(calls("zffbcus")), "zero_grad, 2 × forward, backward, clip, unscale, step");
  EXPECT_EQ(describe_calls({}), "nothing");
  EXPECT_EQ(describe_calls(calls("fbfbfbfbfbfbfbfbfbfb")).substr(0, 16), "forward, backwar");
  EXPECT_NE(describe_calls(calls("fbfbfbfbfbfbfbfbfbfb")).find("..."), std::string::npos);
}

}  // namespace
}  // namespace trainwarden::rules
