#include "ui/views/attention/rollout.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "ui/views/attention/attention_testing.h"

namespace trainwarden::views::attention {
namespace {

constexpr std::int64_t kHeads = 2, kTokens = 5;
using Square = std::vector<std::vector<double>>;

TestRun run_of_layers(std::int64_t layers, std::int64_t tokens = kTokens) {
  TestRun run;
  TestStep saved{.step = 3, .mode = Mode::kEval, .mode_step = 0};
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    saved.tensors.push_back(
        weights("layer." + std::to_string(layer) + ".attn", {2, kHeads, tokens, tokens}, static_cast<int>(layer)));
  }
  saved.tensors.push_back(attention::tokens("tokens", {2, tokens}));
  run.add(saved);
  run.end();
  return run;
}

// 0.5 A + 0.5 I of item 1, by the book.
Square mixed(int layer) {
  const std::vector<float> all = some_weights({2, kHeads, kTokens, kTokens}, layer);
  Square square(kTokens, std::vector<double>(kTokens));
  for (std::int64_t q = 0; q < kTokens; ++q) {
    for (std::int64_t k = 0; k < kTokens; ++k) {
      double& cell = square[static_cast<std::size_t>(q)][static_cast<std::size_t>(k)];
      for (std::int64_t head = 0; head < kHeads; ++head) {
        const std::int64_t at = ((kHeads + head) * kTokens + q) * kTokens + k;
        cell += 0.5 * static_cast<double>(all[static_cast<std::size_t>(at)]) / kHeads;
      }
      if (q == k) cell += 0.5;
    }
  }
  return square;
}

Square product(const Square& a, const Square& b) {
  Square c(kTokens, std::vector<double>(kTokens));
  for (std::size_t i = 0; i < kTokens; ++i) {
    for (std::size_t j = 0; j < kTokens; ++j) {
      for (std::size_t k = 0; k < kTokens; ++k) c[i][j] += a[i][k] * b[k][j];
    }
  }
  return c;
}

TEST(RolloutTest, MultipliesTheMeansOfHeadsMixedWithTheResidualFromTheInputUp) {
  const TestRun run = run_of_layers(3);
  const Square expected = product(mixed(2), product(mixed(1), mixed(0)));
  const auto look = look_at_rollout(look_into(run), {.layer = 2, .item = 1});
  ASSERT_TRUE(look.ok()) << look.status().to_string();
  ASSERT_EQ(look->weights.size(), static_cast<std::size_t>(kTokens * kTokens));
  for (std::size_t q = 0; q < kTokens; ++q) {
    const auto row = look->weights.begin() + static_cast<std::ptrdiff_t>(q * kTokens);
    EXPECT_NEAR(std::accumulate(row, row + kTokens, 0.0), 1, 1e-6);
    for (std::size_t k = 0; k < kTokens; ++k) EXPECT_NEAR(row[static_cast<std::ptrdiff_t>(k)], expected[q][k], 1e-6);
  }
  EXPECT_EQ(look->query_labels.texts.front(), "t5");  // the item's own
}

TEST(RolloutTest, OfTheFirstLayerIsItsMixedMean) {
  const auto look = look_at_rollout(look_into(run_of_layers(2)), {.layer = 0, .item = 1});
  ASSERT_TRUE(look.ok()) << look.status().to_string();
  EXPECT_NEAR(look->weights[1], mixed(0)[0][1], 1e-6);
}

TEST(RolloutTest, IsOfAllTokensWhateverIsShownOfIt) {
  const TestRun run = run_of_layers(2);
  const auto whole = look_at_rollout(look_into(run), {.layer = 1});
  const auto cut = look_at_rollout(look_into(run), {.layer = 1, .first = 2});
  ASSERT_TRUE(whole.ok() && cut.ok());
  EXPECT_EQ(cut->queries, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(cut->query_labels.texts.size(), 2U);
  EXPECT_EQ(cut->weights, (std::vector<float>{whole->weights[0], whole->weights[1], whole->weights[kTokens],
                                              whole->weights[kTokens + 1]}));
}

TEST(RolloutTest, RefusesWhatItCannotMultiply) {
  TestRun cross;
  cross.add({.step = 1, .tensors = {weights("layer.0.attn", {1, 2, 4, 7}, 1)}});
  cross.end();
  EXPECT_EQ(look_at_rollout(look_into(cross), {}).status().code(), Code::kFailedPrecondition);
  const TestRun large = run_of_layers(1, kMostRolloutTokens + 1);
  const Status status = look_at_rollout(look_into(large), {}).status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument) << status.to_string();
  EXPECT_EQ(look_at_rollout(look_into(run_of_layers(2)), {.layer = 2}).status().code(), Code::kOutOfRange);
  EXPECT_EQ(look_at_rollout(look_into(run_of_layers(2)), {.item = 9}).status().code(), Code::kOutOfRange);
}

}  // namespace
}  // namespace trainwarden::views::attention
