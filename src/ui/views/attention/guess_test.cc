#include "ui/views/attention/guess.h"

#include <gtest/gtest.h>

#include "ui/views/attention/attention_testing.h"

namespace trainwarden::views::attention {
namespace {

using testing::Test;

AttentionMap guess(const TestRun& run) {
  const auto trial = run.open();
  auto map = guess_map(*trial);
  EXPECT_TRUE(map.ok()) << map.status().to_string();
  return *std::move(map);
}

// What GluonNLP's BERT saves under the patterns of seed 000, with 12 layers.
TestStep gluon_step(std::int64_t layers) {
  TestStep step{.step = 0};
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const std::string cell = "bertencoder0_transformer" + std::to_string(layer) + "_multiheadattentioncell0_";
    const int seed = static_cast<int>(layer);
    step.tensors.push_back(weights(cell + "output_1", {2, 3, 5, 5}, seed));
    step.tensors.push_back(numbers(cell + "output_0", {2, 5, 12}, seed));
    step.tensors.push_back(numbers(cell + "query_output_0", {2, 5, 12}, seed));
    step.tensors.push_back(numbers(cell + "key_output_0", {2, 5, 12}, seed + 1));
  }
  step.tensors.push_back(tokens("input_tokens", {10}));
  return step;
}

TEST(GuessMap, FindsTheLayersOfGluonInTheirOrder) {
  TestRun run;
  run.add(gluon_step(12));
  const AttentionMap map = guess(run);
  EXPECT_EQ(map.source, MapSource::kGuessed);
  EXPECT_EQ(map.note, "");
  ASSERT_EQ(map.layers.size(), 12U);
  const LayerMap& last = map.layers[10];
  EXPECT_EQ(last.name, "bertencoder0_transformer10_multiheadattentioncell0");
  EXPECT_EQ(last.attention, "bertencoder0_transformer10_multiheadattentioncell0_output_1");
  EXPECT_EQ(last.query, "bertencoder0_transformer10_multiheadattentioncell0_query_output_0");
  EXPECT_EQ(last.key, "bertencoder0_transformer10_multiheadattentioncell0_key_output_0");
  EXPECT_EQ(last.heads, 3);
  EXPECT_EQ(last.key_value_heads, 3);
  EXPECT_EQ(last.head_size, 4);
  EXPECT_DOUBLE_EQ(last.scale, 0.5);
  EXPECT_EQ(last.mask, MaskKind::kNone);
  EXPECT_EQ(last.layout, Layout::kBTD);
  EXPECT_EQ(map.tokens, "input_tokens");
  EXPECT_EQ(map.candidates.attention.size(), 12U);
  EXPECT_NE(map.candidates.attention[2].reason.find("rows sum to one"), std::string::npos);
}

TEST(GuessMap, TakesScoresBeforeTheirSoftmaxForNoAttention) {
  TestRun run;
  run.add({.step = 0,
           .tensors = {numbers("layer.0.attention_scores", {1, 2, 4, 4}, 1),
                       weights("layer.0.attention_probs", {1, 2, 4, 4}, 2)}});
  const AttentionMap map = guess(run);
  ASSERT_EQ(map.layers.size(), 1U);
  EXPECT_EQ(map.layers[0].attention, "layer.0.attention_probs");
  ASSERT_EQ(map.candidates.attention.size(), 2U);
  EXPECT_NE(map.candidates.attention[1].reason.find("not taken: has negative numbers"), std::string::npos);
}

TEST(GuessMap, SeesThatTokensLookBackOnly) {
  TestRun run;
  run.add({.step = 0, .tensors = {weights("h.0.attn_weights", {2, 2, 6, 6}, 1, true)}});
  EXPECT_EQ(guess(run).layers.at(0).mask, MaskKind::kCausal);
}

TEST(GuessMap, TellsHeadsFromTokensByGroups) {
  TestRun run;
  run.add({.step = 0,
           .tensors = {numbers("model.layers.0.self_attn.q_proj", {1, 8, 6, 4}, 1),
                       numbers("model.layers.0.self_attn.k_proj", {1, 2, 6, 4}, 2),
                       numbers("model.layers.1.self_attn.q_proj", {1, 6, 8, 4}, 1),
                       numbers("model.layers.1.self_attn.k_proj", {1, 6, 2, 4}, 2)}});
  const AttentionMap map = guess(run);
  ASSERT_EQ(map.layers.size(), 2U);
  EXPECT_EQ(map.layers[0].layout, Layout::kBHTD);
  EXPECT_EQ(map.layers[1].layout, Layout::kBTHD);
  for (const LayerMap& layer : map.layers) {
    EXPECT_EQ(layer.heads, 8);
    EXPECT_EQ(layer.key_value_heads, 2);
  }
  EXPECT_NE(map.note.find("nobody knows the mask"), std::string::npos);
}

TEST(GuessMap, MakesALayerWithoutAttentionLikeOneThatHasIt) {
  TestRun run;
  run.add({.step = 0,
           .tensors = {weights("l.1.attn", {1, 2, 6, 6}, 1, true), numbers("l.1.query", {1, 6, 8}, 1),
                       numbers("l.1.key", {1, 6, 8}, 2), numbers("l.0.query", {1, 6, 8}, 1),
                       numbers("l.0.key", {1, 6, 8}, 2), numbers("l.2.query", {1, 6, 12}, 1),
                       numbers("l.2.key", {1, 6, 12}, 2)}});
  const AttentionMap map = guess(run);
  ASSERT_EQ(map.layers.size(), 3U);
  EXPECT_EQ(map.layers[0].attention, "");
  EXPECT_EQ(map.layers[0].heads, 2);
  EXPECT_EQ(map.layers[0].mask, MaskKind::kCausal);
  EXPECT_EQ(map.layers[2].heads, 0);  // its queries are wider
}

TEST(GuessMap, DoesNotInventHeads) {
  TestRun run;
  run.add({.step = 0, .tensors = {numbers("l.0.query", {1, 6, 8}, 1), numbers("l.0.key", {1, 6, 8}, 2)}});
  const AttentionMap map = guess(run);
  ASSERT_EQ(map.layers.size(), 1U);
  EXPECT_EQ(map.layers[0].heads, 0);
  EXPECT_NE(map.note.find("write heads = N"), std::string::npos);
}

TEST(GuessMap, SaysThatFusedTensorsCannotBeSplit) {
  TestRun run;
  run.add({.step = 0, .tensors = {numbers("h.0.attn.qkv", {1, 6, 24}, 1)}});
  const AttentionMap map = guess(run);
  EXPECT_EQ(map.source, MapSource::kNone);
  EXPECT_TRUE(map.layers.empty());
  EXPECT_NE(map.note.find("holds queries, keys and values in one"), std::string::npos);
}

TEST(GuessMap, FindsAttentionWithoutAName) {
  TestRun run;
  run.add({.step = 0,
           .tensors = {weights("out_7", {1, 2, 4, 4}, 1), numbers("conv", {2, 3, 4, 4}, 2), strings("s", {"a"})}});
  const AttentionMap map = guess(run);
  ASSERT_EQ(map.layers.size(), 1U);
  EXPECT_EQ(map.layers[0].attention, "out_7");
  EXPECT_EQ(map.tokens, "s");
}

TEST(GuessMap, OfARunWithoutAttentionSaysWhatToDo) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("loss", {1}), reduced("attention", {1, 2})}});
  const AttentionMap map = guess(run);
  EXPECT_EQ(map.source, MapSource::kNone);
  EXPECT_NE(map.note.find("attention.toml"), std::string::npos);
}

TEST(GuessMap, KeepsTheAttentionOfALayerWhoseQueriesDoNotFit) {
  TestRun run;
  run.add({.step = 0,
           .tensors = {weights("l.0.attn", {1, 3, 4, 4}, 1), numbers("l.0.query", {1, 4, 8}, 2),
                       numbers("l.0.key", {1, 4, 8}, 3)}});
  const AttentionMap map = guess(run);
  ASSERT_EQ(map.layers.size(), 1U);
  EXPECT_EQ(map.layers[0].attention, "l.0.attn");
  EXPECT_FALSE(map.layers[0].has_queries());
  EXPECT_NE(map.note.find("3 heads do not divide the 8 numbers"), std::string::npos);
}

TEST(GuessMap, KeepsSelfAndCrossAttentionOfOneLayerApart) {
  TestRun run;
  run.add({.step = 0,
           .tensors = {numbers("dec.layers.0.self_attn.q_proj", {1, 2, 3, 4}, 1),
                       numbers("dec.layers.0.self_attn.k_proj", {1, 2, 3, 4}, 2),
                       weights("dec.layers.0.self_attn.weights", {1, 2, 3, 3}, 3),
                       numbers("dec.layers.0.encoder_attn.q_proj", {1, 2, 3, 4}, 4),
                       numbers("dec.layers.0.encoder_attn.k_proj", {1, 2, 7, 4}, 5),
                       weights("dec.layers.0.encoder_attn.weights", {1, 2, 3, 7}, 6)}});
  const AttentionMap map = guess(run);
  ASSERT_EQ(map.layers.size(), 2U);
  EXPECT_EQ(map.layers[0].attention, "dec.layers.0.encoder_attn.weights");
  EXPECT_EQ(map.layers[1].attention, "dec.layers.0.self_attn.weights");
  EXPECT_EQ(map.layers[0].layout, Layout::kBHTD);
}

}  // namespace
}  // namespace trainwarden::views::attention
