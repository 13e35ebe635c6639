#include "ui/views/attention/head_look.h"

#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "ui/views/attention/attention_testing.h"
#include "ui/views/attention/neuron_look.h"

namespace trainwarden::views::attention {
namespace {

HeadLook look_at(const TestRun& run, const HeadQuestion& question = {}) {
  auto look = look_at_heads(look_into(run), question);
  EXPECT_TRUE(look.ok()) << look.status().to_string();
  return look.ok() ? *std::move(look) : HeadLook{};
}

// softmax(q·k/√d) in double, by the book. Queries [B, H, T, d], keys [B, Hkv, S, d].
std::vector<double> by_the_book(const std::vector<float>& q, const Shape& qs, const std::vector<float>& k,
                                const Shape& ks, std::int64_t item, std::int64_t head, std::int64_t query,
                                bool causal = false) {
  const std::int64_t d = qs[3];
  const std::int64_t key_head = head * ks[1] / qs[1];
  std::vector<double> weights;
  double sum = 0;
  for (std::int64_t key = 0; key < ks[2]; ++key) {
    double dot = 0;
    for (std::int64_t i = 0; i < d; ++i) {
      dot += static_cast<double>(q[static_cast<std::size_t>(((item * qs[1] + head) * qs[2] + query) * d + i)]) *
             static_cast<double>(k[static_cast<std::size_t>(((item * ks[1] + key_head) * ks[2] + key) * d + i)]);
    }
    const bool hidden = causal && key > query + ks[2] - qs[2];
    weights.push_back(hidden ? 0 : std::exp(dot / std::sqrt(static_cast<double>(d))));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

// [B, H, T, d] as [B, T, H, d], which packed is [B, T, H·d] as well.
std::vector<float> tokens_first(const std::vector<float>& numbers, const Shape& s) {
  std::vector<float> turned(numbers.size());
  std::size_t from = 0;
  for (std::int64_t b = 0; b < s[0]; ++b) {
    for (std::int64_t h = 0; h < s[1]; ++h) {
      for (std::int64_t t = 0; t < s[2]; ++t) {
        for (std::int64_t i = 0; i < s[3]; ++i) {
          turned[static_cast<std::size_t>(((b * s[2] + t) * s[1] + h) * s[3] + i)] = numbers[from++];
        }
      }
    }
  }
  return turned;
}

void expect_by_the_book(const HeadLook& look, const std::vector<float>& q, const Shape& qs, const std::vector<float>& k,
                        const Shape& ks, double tolerance, bool causal = false) {
  ASSERT_EQ(look.weights.size(), look.heads.size() * look.queries.size() * static_cast<std::size_t>(look.keys));
  std::size_t at = 0;
  for (const std::int64_t head : look.heads) {
    for (const std::int64_t query : look.queries) {
      const auto expected = by_the_book(q, qs, k, ks, look.item, head, query, causal);
      double sum = 0;
      for (std::int64_t key = 0; key < look.keys; ++key, ++at) {
        EXPECT_NEAR(look.weights[at], expected[static_cast<std::size_t>(key)], tolerance)
            << head << ' ' << query << ' ' << key;
        sum += static_cast<double>(look.weights[at]);
      }
      EXPECT_NEAR(sum, 1, 1e-5);
    }
  }
}

TEST(LookAtHeads, GivesCapturedWeightsToTheBit) {
  const Shape shape{2, 3, 4, 4};
  TestRun run;
  run.add({.step = 5, .tensors = {weights("l.0.attn", shape, 1)}, .mode = Mode::kEval, .mode_step = 2});
  const HeadLook look = look_at(run, {.heads = {2, 0}, .item = 1});
  const std::vector<float> all = some_weights(shape, 1);
  ASSERT_EQ(look.weights.size(), 32U);
  EXPECT_TRUE(std::equal(look.weights.begin(), look.weights.begin() + 16, all.begin() + (3 + 2) * 16));
  EXPECT_TRUE(std::equal(look.weights.begin() + 16, look.weights.end(), all.begin() + 3 * 16));
  EXPECT_FALSE(look.recomputed);
  EXPECT_EQ(look.place.step, 5);
  EXPECT_EQ(look.place.mode, Mode::kEval);
  EXPECT_EQ(look.place.mode_step, 2);
  EXPECT_EQ(look.items, 2);
}

TEST(LookAtHeads, MakesWeightsOfQueriesAndKeysInEachLayout) {
  const Shape qs{2, 4, 5, 6};
  const Shape ks{2, 2, 5, 6};  // two heads of keys for four of queries
  const std::vector<float> q = some_numbers(qs.element_count(), 1);
  const std::vector<float> k = some_numbers(ks.element_count(), 2);
  TestRun headed;
  headed.add({.step = 0, .tensors = {shaped(kept("l.query", q), qs), shaped(kept("l.key", k), ks)}});
  TestRun flipped;
  flipped.add({.step = 0,
               .tensors = {shaped(kept("l.query", tokens_first(q, qs)), {2, 5, 4, 6}),
                           shaped(kept("l.key", tokens_first(k, ks)), {2, 5, 2, 6})}});
  TestRun flat;  // the heads are known from another layer's attention only by a captured matrix of its own
  flat.add({.step = 0,
            .tensors = {shaped(kept("l.query", tokens_first(q, qs)), {2, 5, 24}),
                        shaped(kept("l.key", tokens_first(k, ks)), {2, 5, 12}), weights("l.attn", {2, 4, 5, 5}, 3)}});
  flat.add({.step = 1,
            .tensors = {shaped(kept("l.query", tokens_first(q, qs)), {2, 5, 24}),
                        shaped(kept("l.key", tokens_first(k, ks)), {2, 5, 12})}});
  for (const TestRun* run : {&headed, &flipped, &flat}) {
    for (const std::int64_t item : {0, 1}) {
      const HeadLook look = look_at(*run, {.item = item});
      EXPECT_TRUE(look.recomputed);
      EXPECT_EQ(look.key_heads, (std::vector<std::int64_t>{0, 0, 1, 1}));
      expect_by_the_book(look, q, qs, k, ks, 1e-6);
    }
  }
}

TEST(LookAtHeads, ReadsHalfPrecision) {
  const Shape qs{1, 2, 3, 4};
  const Shape ks{1, 1, 3, 4};
  const std::vector<float> q = some_numbers(qs.element_count(), 1);
  const std::vector<float> k = some_numbers(ks.element_count(), 2);
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    TestRun run;
    run.add(
        {.step = 0,
         .tensors = {in_half(shaped(kept("l.query", q), qs), dtype), in_half(shaped(kept("l.key", k), ks), dtype)}});
    expect_by_the_book(look_at(run), q, qs, k, ks, dtype == DType::kFloat16 ? 1e-3 : 8e-3);
  }
}

TEST(LookAtHeads, LooksBackOnlyWhereTheMaskSaysSo) {
  const Shape shape{1, 2, 4, 4};
  const std::vector<float> q = some_numbers(shape.element_count(), 1);
  const std::vector<float> k = some_numbers(shape.element_count(), 2);
  TestRun run;
  run.add({.step = 0,
           .tensors = {weights("l.attn", shape, 3, true), shaped(kept("l.query", q), shape),
                       shaped(kept("l.key", k), shape)}});
  run.add({.step = 1, .tensors = {shaped(kept("l.query", q), shape), shaped(kept("l.key", k), shape)}});
  const HeadLook look = look_at(run, {.step = 1});
  EXPECT_TRUE(look.recomputed);
  expect_by_the_book(look, q, shape, k, shape, 1e-6, true);
  EXPECT_EQ(look.weights[1], 0.0F);  // the first token sees itself alone
}

TEST(LookAtHeads, TakesMoreKeysThanQueries) {
  const Shape qs{1, 2, 3, 4};
  const Shape ks{1, 2, 7, 4};
  const std::vector<float> q = some_numbers(qs.element_count(), 1);
  const std::vector<float> k = some_numbers(ks.element_count(), 2);
  TestRun run;
  run.add(
      {.step = 0, .tensors = {shaped(kept("x.query", q), qs), shaped(kept("x.key", k), ks), tokens("tokens", {1, 3})}});
  const HeadLook look = look_at(run);
  EXPECT_EQ(look.query_length, 3);
  EXPECT_EQ(look.key_length, 7);
  expect_by_the_book(look, q, qs, k, ks, 1e-6);
  EXPECT_EQ(look.query_labels.texts.size(), 3U);
  EXPECT_TRUE(look.key_labels.texts.empty());
  EXPECT_NE(look.key_labels.note.find("has shape [1, 3] at this step, the attention has 1 items of 7 tokens"),
            std::string::npos);
}

TEST(LookAtHeads, LeavesRowsWithNanAsTheyAre) {
  const Shape shape{1, 1, 3, 4};
  std::vector<float> q = some_numbers(12, 1);
  q[5] = std::numeric_limits<float>::quiet_NaN();
  TestRun run;
  run.add({.step = 0, .tensors = {shaped(kept("l.query", q), shape), numbers("l.key", shape, 2)}});
  const HeadLook look = look_at(run);
  for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(std::isnan(look.weights[i]), i / 3 == 1) << i;
}

TEST(LookAtHeads, CutsToTheFirstTokensAndToRows) {
  const Shape shape{1, 2, 6, 6};
  TestRun run;
  run.add({.step = 0, .tensors = {weights("l.attn", shape, 1), tokens("tokens", {1, 6})}});
  const std::vector<float> all = some_weights(shape, 1);
  const HeadLook cut = look_at(run, {.heads = {1}, .first = 2});
  EXPECT_EQ(cut.weights, (std::vector<float>{all[36], all[37], all[42], all[43]}));
  EXPECT_EQ(cut.query_labels.texts, (std::vector<std::string>{"t0", "t1"}));
  EXPECT_EQ(cut.query_length, 6);
  const HeadLook rows = look_at(run, {.heads = {1}, .queries = std::vector<std::int64_t>{5, 0}});
  ASSERT_EQ(rows.weights.size(), 12U);
  EXPECT_TRUE(std::equal(rows.weights.begin(), rows.weights.begin() + 6, all.end() - 6));
}

TEST(LookAtHeads, TakesTheNewestStepThatIsNotLater) {
  TestRun run;
  run.add({.step = 0, .tensors = {weights("l.attn", {1, 1, 3, 3}, 1)}});
  run.add({.step = 4, .tensors = {weights("l.attn", {1, 1, 3, 3}, 2)}});
  run.add({.step = 5, .tensors = {scalar("loss", 1)}});
  EXPECT_EQ(look_at(run).place.step, 4);
  const HeadLook earlier = look_at(run, {.step = 3});
  EXPECT_EQ(earlier.place.step, 0);
  EXPECT_FALSE(earlier.place.asked_for);
  EXPECT_TRUE(look_at(run, {.step = 4}).place.asked_for);
}

TEST(LookAtHeads, SaysWhatIsNotThere) {
  TestRun run;
  run.add({.step = 3, .tensors = {weights("l.attn", {2, 2, 3, 3}, 1)}});
  const RunAttention attention = look_into(run);
  const auto error = [&](const HeadQuestion& question) { return look_at_heads(attention, question).status(); };
  EXPECT_EQ(error({.layer = 1}).message(), "there is no layer 1: expected 0 to 0");
  EXPECT_EQ(error({.heads = {2}}).message(), "there is no head 2: expected 0 to 1");
  EXPECT_EQ(error({.item = 2}).message(), "there is no batch item 2: expected 0 to 1");
  EXPECT_EQ(error({.queries = std::vector<std::int64_t>{3}}).message(), "there is no query 3: expected 0 to 2");
  EXPECT_EQ(error({.step = 2}).message(), "no attention at or before step 2; the first is at step 3");
  EXPECT_EQ(error({.step = 2}).code(), Code::kOutOfRange);
}

TEST(LookAtHeads, SendsLongTextsToTheTiles) {
  TestRun run;
  run.add({.step = 0, .tensors = {numbers("l.query", {1, 1, 1030, 2}, 1), numbers("l.key", {1, 1, 1030, 2}, 2)}});
  const RunAttention attention = look_into(run);
  const Status error = look_at_heads(attention, {}).status();
  EXPECT_EQ(error.code(), Code::kInvalidArgument);
  EXPECT_NE(error.message().find("tiles"), std::string::npos);
  EXPECT_TRUE(look_at_heads(attention, {.first = 1024}).ok());
  EXPECT_TRUE(look_at_heads(attention, {.queries = std::vector<std::int64_t>{1029}}).ok());
}

TEST(LookAtHeads, OfAnEmptyRunSaysThatThereIsNoAttention) {
  const TestRun run;
  const Status error = look_at_heads(look_into(run), {}).status();
  EXPECT_EQ(error.code(), Code::kFailedPrecondition);
  EXPECT_NE(error.message().find("No tensor of this run looks like attention"), std::string::npos);
}

// Fault 2 of the seeds' helper: after the first click, q·k was of query q and the product of query n-1-q.
TEST(LookAtNeuron, ShowsOneAndTheSameQueryInAllPanels) {
  const Shape qs{2, 4, 5, 6};
  const Shape ks{2, 2, 5, 6};
  const std::vector<float> q = some_numbers(qs.element_count(), 1);
  const std::vector<float> k = some_numbers(ks.element_count(), 2);
  TestRun run;
  run.add({.step = 0, .tensors = {shaped(kept("l.query", q), qs), shaped(kept("l.key", k), ks)}});
  const RunAttention attention = look_into(run);
  for (std::int64_t query = 0; query < 5; ++query) {
    const auto look = look_at_neuron(attention, {.head = 3, .item = 1, .query = query});
    ASSERT_TRUE(look.ok()) << look.status().to_string();
    EXPECT_EQ(look->key_head, 1);
    for (std::int64_t i = 0; i < 6; ++i) {
      EXPECT_EQ(look->query_vector[static_cast<std::size_t>(i)],
                q[static_cast<std::size_t>(((4 + 3) * 5 + query) * 6 + i)]);
    }
    const auto expected = by_the_book(q, qs, k, ks, 1, 3, query);
    double sum = 0;
    for (std::size_t key = 0; key < 5; ++key) {
      const auto row = look->product.begin() + static_cast<std::ptrdiff_t>(key * 6);
      EXPECT_NEAR(std::accumulate(row, row + 6, 0.0), look->dot[key], 1e-6);
      EXPECT_NEAR(look->dot[key] / std::sqrt(6.0), look->scaled[key], 1e-6);
      EXPECT_NEAR(look->softmax[key], expected[key], 1e-6);
      EXPECT_EQ(look->key_vectors[key * 6], k[((2 + 1) * 5 + key) * 6]);
      sum += static_cast<double>(look->softmax[key]);
    }
    EXPECT_NEAR(sum, 1, 1e-6);
  }
}

TEST(LookAtNeuron, CutsAfterTheSoftmaxAndShowsWhatWasCaptured) {
  const Shape shape{1, 2, 4, 4};
  TestRun run;
  run.add({.step = 0,
           .tensors = {weights("l.attn", shape, 3, true), numbers("l.query", shape, 1), numbers("l.key", shape, 2)}});
  const RunAttention attention = look_into(run);
  const auto whole = look_at_neuron(attention, {.query = 2});
  const auto cut = look_at_neuron(attention, {.query = 2, .first = 2});
  ASSERT_TRUE(whole.ok() && cut.ok());
  ASSERT_EQ(cut->softmax.size(), 2U);
  EXPECT_EQ(cut->softmax[1], whole->softmax[1]);
  EXPECT_LT(cut->softmax[0] + cut->softmax[1], 1.0F);
  EXPECT_EQ(cut->product.size(), 8U);
  EXPECT_EQ(cut->captured.size(), 2U);
  EXPECT_EQ(whole->captured[1], some_weights(shape, 3, true)[9]);
  EXPECT_EQ(whole->scaled[3], -std::numeric_limits<float>::infinity());  // hidden by the mask
  EXPECT_EQ(whole->softmax[3], 0.0F);
}

TEST(LookAtNeuron, NeedsQueriesAndKeys) {
  TestRun run;
  run.add({.step = 0, .tensors = {weights("l.attn", {1, 1, 3, 3}, 1)}});
  EXPECT_EQ(look_at_neuron(look_into(run), {}).status().code(), Code::kFailedPrecondition);
}

}  // namespace
}  // namespace trainwarden::views::attention
