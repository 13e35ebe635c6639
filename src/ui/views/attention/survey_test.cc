#include "ui/views/attention/survey.h"

#include <cmath>

#include <gtest/gtest.h>

#include "ui/views/attention/attention_testing.h"
#include "ui/views/attention/pooling.h"

namespace trainwarden::views::attention {
namespace {

using namespace std::chrono_literals;

TEST(LookAtAtlas, ShowsEachHeadOfEachLayer) {
  TestRun run;
  const Shape small{1, 1, 4, 4};
  const Shape large{1, 2, 4, 4};
  run.add({.step = 0, .tensors = {weights("l.0.attn", small, 1), weights("l.1.attn", large, 2)}});
  const auto look = look_at_atlas(look_into(run), {}, 0, 4);
  ASSERT_TRUE(look.ok()) << look.status().to_string();
  const Atlas& atlas = *look->atlas;
  EXPECT_EQ(atlas.survey.layers, 2);
  EXPECT_EQ(atlas.survey.heads, 2);
  ASSERT_EQ(atlas.max.size(), 4U * 16);
  const std::vector<float> first = some_weights(small, 1);
  const std::vector<float> second = some_weights(large, 2);
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(atlas.max[i], to_byte(static_cast<double>(first[i])));
    EXPECT_EQ(atlas.max[16 + i], 0);  // layer 0 has no head 1
    EXPECT_EQ(atlas.max[48 + i], to_byte(static_cast<double>(second[16 + i])));
  }
  EXPECT_FALSE(std::isnan(atlas.survey.metrics[0][0]));
  EXPECT_TRUE(std::isnan(atlas.survey.metrics[1][0]));
  EXPECT_EQ(atlas.query_length, 4);
}

TEST(LookAtAtlas, SaysWhichLayerIsNotThere) {
  TestRun run;
  run.add({.step = 0, .tensors = {weights("l.0.attn", {1, 1, 3, 3}, 1), weights("l.1.attn", {1, 1, 3, 3}, 2)}});
  run.add({.step = 1, .tensors = {weights("l.1.attn", {1, 1, 3, 3}, 2)}});
  const RunAttention attention = look_into(run);
  const auto look = look_at_atlas(attention, 1, 0, 8);
  ASSERT_TRUE(look.ok()) << look.status().to_string();
  EXPECT_EQ(look->atlas->note, "layer 0: layer 0 (\"l.0.attn\") at step 1: attention was not captured there");
  EXPECT_TRUE(std::isnan(look->atlas->survey.metrics[0][0]));
  EXPECT_EQ(look_at_atlas(attention, 1, 7, 8).status().code(), Code::kOutOfRange);
}

TEST(LookAtAtlas, IsTheSameForCapturedAndForMadeWeights) {
  const Shape shape{1, 2, 16, 4};
  TestRun run;
  const TestTensor query = numbers("l.query", shape, 1);
  const TestTensor key = numbers("l.key", shape, 2);
  run.add({.step = 0, .tensors = {query, key}});
  const RunAttention attention = look_into(run);
  const auto made = look_at_atlas(attention, {}, 0, 16);
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  const Atlas& atlas = *made->atlas;
  double drift = 0;
  for (const HeadMetrics& metrics : atlas.survey.metrics) drift += static_cast<double>(metrics[6]);
  EXPECT_EQ(drift, 0);  // it is the first step
  // Rows sum to one: so do the means of the 16 x 16 picture, as far as bytes show.
  for (std::size_t row = 0; row < 32; ++row) {
    double sum = 0;
    for (std::size_t i = 0; i < 16; ++i) sum += std::pow(atlas.mean[row * 16 + i] / 255.0, 2);
    EXPECT_NEAR(sum, 1, 0.02);
  }
}

TEST(MeasureSteps, MeasuresAllWithTimeAndAPartWithout) {
  TestRun run;
  for (std::int64_t step = 0; step < 9; ++step) {
    run.add(
        {.step = step, .tensors = {weights("l.attn", {1, 2, 3, 3}, static_cast<int>(step)), tokens("tokens", {1, 3})}});
  }
  const auto open = std::make_shared<OpenRun>("run", run.open());
  const RunAttention attention(open, {});
  const auto hasty = measure_steps(attention, 0, 0ms);
  ASSERT_TRUE(hasty.ok()) << hasty.status().to_string();
  EXPECT_EQ(hasty->steps, std::vector<std::int64_t>{8});  // the newest first
  EXPECT_EQ(hasty->pending, 8);
  const auto all = measure_steps(attention, 0, 1min);
  EXPECT_EQ(all->steps.size(), 9U);
  EXPECT_EQ(all->pending, 0);
  EXPECT_EQ(all->surveys[0]->metrics[0][6], 0);  // drift
  EXPECT_GT(all->surveys[5]->metrics[0][6], 0.0F);
  EXPECT_EQ(all->surveys[8], hasty->surveys[0]);  // remembered

  run.add({.step = 9, .tensors = {weights("l.attn", {1, 2, 3, 3}, 3)}});  // the run goes on
  ASSERT_TRUE(open->use(0ms).ok());
  EXPECT_EQ(measure_steps(attention, 0, 0ms)->steps.size(), 10U);
}

TEST(MeasureSteps, PassesOverAStepWithASmallerBatch) {
  TestRun run;
  run.add({.step = 0, .tensors = {weights("l.attn", {2, 1, 3, 3}, 1)}});
  run.add({.step = 1, .tensors = {weights("l.attn", {1, 1, 3, 3}, 1)}});
  const auto over = measure_steps(look_into(run), 1, 1min);
  ASSERT_TRUE(over.ok()) << over.status().to_string();
  EXPECT_EQ(over->steps, std::vector<std::int64_t>{0});
  EXPECT_EQ(over->pending, 0);
  EXPECT_EQ(over->note, "step 1: there is no batch item 1: expected 0 to 0");
}

TEST(MeasureSteps, ComparesNoRowsOfDifferentTexts) {
  TestRun run;
  run.add({.step = 0, .tensors = {weights("l.attn", {1, 1, 3, 3}, 1), tokens("tokens", {1, 3})}});
  run.add(
      {.step = 1, .tensors = {weights("l.attn", {1, 1, 3, 3}, 1), shaped(strings("tokens", {"a", "b", "c"}), {1, 3})}});
  const auto over = measure_steps(look_into(run), 0, 1min);
  ASSERT_TRUE(over.ok()) << over.status().to_string();
  EXPECT_EQ(over->surveys[0]->metrics[0][6], 0);
  EXPECT_TRUE(std::isnan(over->surveys[1]->metrics[0][6]));
}

}  // namespace
}  // namespace trainwarden::views::attention
