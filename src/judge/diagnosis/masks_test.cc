// What is read off the masks of attentions: both sides of each.
#include <gtest/gtest.h>

#include "judge/diagnosis/diagnosis_testing.h"

namespace trainwarden::diagnosis {
namespace {

TEST(Masks, OneOfKeysThatHidesWhatDiffersIsTurnedAround) {
  EXPECT_EQ(cause_of_numbers({{"mask_keys", {0.6, 1.2, 0.001}}}), "attention_mask");
  EXPECT_EQ(cause_of_numbers({{"mask_keys", {0.4, 0.001, 1.2}}}), "");
  EXPECT_EQ(cause_of_numbers({{"mask_keys", {0.4, 1.0, 0.8}}}), "");  // behind a layer that mixes places
}

TEST(Masks, OneThatIsFilledIn) {
  const auto filled_before = [](const char* operation, const char* shares) {
    return cause_of_graph(
        fmt::format(R"([["{}",[1],{{"dim":-1,"axes":3}}],["MaskedFill",[2],{{"filled":[{}]}}],["leaf",[],{{}}]])",
                    operation, shares));
  };
  const auto filled = [&](const char* shares) { return filled_before("Softmax", shares); };
  EXPECT_EQ(filled("1, 0, 1, 0.3"), "attention_mask");  // of keys: no padding, all others
  EXPECT_EQ(filled("1, 1, 0, 0.3"), "");
  EXPECT_EQ(filled("0, 0, 1, 1"), "attention_mask");  // of pairs: what was is hidden
  EXPECT_EQ(filled("0, 1, 0, 0"), "");                // a causal one
  EXPECT_EQ(filled("0, 0, 1, 0"), "");                // each from itself, as in a contrastive loss
  EXPECT_EQ(filled_before("Max", "0, 0, 1, 1"), "");  // distances, of which the largest is taken
}

TEST(Masks, NoneInADecoderThatIsFedWithItsTargets) {
  const auto cause = [](const char* first, const char* second, double fed) {
    TrainingUnderTest training;
    training.compared =
        R"({"function":"cross_entropy","predicted":[128,2],"target":[128],"predicted_dtype":"float32","target_dtype":"int64"})";
    training.graph =
        fmt::format(R"([["Add",[1,2],{{}}],["Softmax",[3],{{"dim":-1,"axes":3,"queries":8,"keys":8,"pairs":[{}]}}],)"
                    R"(["Softmax",[3],{{"dim":-1,"axes":3,"queries":8,"keys":8,"pairs":[{}]}}],["leaf",[],{{}}]])",
                    first, second);
    training.numbers = {{"fed", {0, fed}}, {"input_shape", {16, 5}}};
    return first_cause(training.diagnosis());
  };
  EXPECT_EQ(cause("0,0,0,0", "0,0,0,0", 1), "attention_mask");
  EXPECT_EQ(cause("0,0,0,0", "1,0,0,1", 1), "");    // one is causal; the other may be an encoder's
  EXPECT_EQ(cause("0,0,0,0", "0,0,0,0", 0.2), "");  // nothing is fed
}

TEST(Masks, OfADecoderThatLooksAtItsEncoder) {
  const auto cause = [](const char* keys) {
    TrainingUnderTest training;
    training.compared =
        R"({"function":"cross_entropy","predicted":[128,2],"target":[128],"predicted_dtype":"float32","target_dtype":"int64"})";
    training.graph = fmt::format(
        R"([["Softmax",[1],{{"dim":-1,"axes":3,"queries":8,"keys":8,"pairs":[0,0,0,0]}}],["Div",[2],{{}}],["Bmm",[3,{}],{{}}],)"
        R"(["Mm",[5],{{}}],["Mm",[6],{{}}],["Embedding",[7],{{}}],["Embedding",[7],{{}}],["leaf",[],{{}}]])",
        keys);
    training.numbers = {{"fed", {0, 1}}, {"input_shape", {16, 5}}};
    return first_cause(training.diagnosis());
  };
  EXPECT_EQ(cause("3"), "attention_mask");
  EXPECT_EQ(cause("4"), "");  // its keys are of another sequence
}

TEST(Masks, OneThatShowsInTheWeights) {
  const auto cause = [](const char* shares) {
    return cause_of_graph(fmt::format(R"([["Softmax",[1],{{"dim":-1,"axes":4,{}}}],["leaf",[],{{}}]])", shares));
  };
  EXPECT_EQ(cause(R"("hidden_keys":[0,1,0.3])"), "attention_mask");
  EXPECT_EQ(cause(R"("hidden_keys":[1,0,0.3])"), "");
  EXPECT_EQ(cause(R"("hidden_keys":[0,0,0.3])"), "");  // whoever masks nothing may have reasons
  EXPECT_EQ(cause(R"("pairs":[0,0,1])"), "attention_mask");
  EXPECT_EQ(cause(R"("pairs":[1,0,0])"), "");
  EXPECT_EQ(cause(R"("pairs":[0.3,0.3,0.3],"hidden_keys":[1,0,0.3])"), "");
}

// Scores of 8 queries and keys, and whatever comes between them and their softmax.
std::string attention(const char* between, double peak) {
  return fmt::format(R"([["Softmax",[1],{{"dim":-1,"axes":4,"queries":8,"keys":8,"peak":{}}}],{},["leaf",[],{{}}]])",
                     peak, between);
}

TEST(Masks, NoneWhereTheTargetsAreTheNextTokens) {
  const auto cause = [](const std::string& nodes, double next) {
    TrainingUnderTest training;
    training.graph = nodes;
    training.numbers = {{"shift_match", {0.3, next, 0.3, 0.3}}, {"input_shape", {16, 8}}};
    return first_cause(training.diagnosis());
  };
  const std::string open = attention(R"(["Div",[2],{"factor":1}],["Bmm",[3],{}])", 0.2);
  EXPECT_EQ(cause(open, 1), "attention_mask");
  EXPECT_EQ(cause(open, 0.4), "");  // another task
  EXPECT_EQ(cause(attention(R"(["MaskedFill",[2],{}],["Bmm",[3],{}])", 0.2), 1), "");
  EXPECT_EQ(cause(attention(R"(["Add",[2],{}],["Bmm",[3],{}])", 0.2), 1), "");  // of a mask of infinities
  const auto hidden = [&](const char* pairs) {
    return cause(fmt::format(R"([["Softmax",[1],{{"dim":3,"axes":4,"queries":8,"keys":8,"pairs":[{}]}}],)"
                             R"(["Add",[2],{{}}],["leaf",[],{{}}]])",
                             pairs),
                 1);
  };
  EXPECT_EQ(hidden("0, 0, 0"), "attention_mask");        // a bias was added that hides nothing
  EXPECT_EQ(hidden("0.4, 0.4, 0.4"), "attention_mask");  // padding alone
  EXPECT_EQ(hidden("1, 0, 0"), "");
  EXPECT_EQ(hidden("1, 0.4, 0.7"), "");                           // and what lies far back
  EXPECT_EQ(hidden("0.75, 0, 0, 0"), "attention_mask");           // all but the next one
  EXPECT_EQ(hidden("0.89, 0.17, 0.04, 0.18"), "attention_mask");  // and padding
  EXPECT_EQ(hidden("1, 0, 0, 1"), "");
  EXPECT_EQ(hidden("1, 0.17, 0.04, 1"), "");
  const auto torchs_own = [](const char* hides) {
    return fmt::format(R"([["ScaledDotProductFlashAttentionForCpu",[1],{{"hides":{}}}],["leaf",[],{{}}]])", hides);
  };
  EXPECT_EQ(cause(torchs_own("false"), 1), "attention_mask");
  EXPECT_EQ(cause(torchs_own("true"), 1), "");
}

TEST(Masks, AttentionThatIsCertainFromTheFirstStepOn) {
  const char* const scores = R"(["Bmm",[2],{}])";
  EXPECT_EQ(cause_of_graph(attention(scores, 0.97)), "attention_collapse");
  EXPECT_EQ(cause_of_graph(attention(scores, 0.3)), "");
}

}  // namespace
}  // namespace trainwarden::diagnosis
