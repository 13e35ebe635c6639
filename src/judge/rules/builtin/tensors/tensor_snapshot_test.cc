// TensorSnapshot: what is alike, and what the answer rests on.
#include "judge/rules/builtin/tensors/tensor_snapshot.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "judge/rules/trial_window.h"
#include "read/trial/run_testing.h"

namespace trainwarden::rules {
namespace {

constexpr std::size_t kMost = 1 << 20;

Likeness compare(const TestTensor& a, const TestTensor& b, const Closeness& closeness = {}, std::size_t most = kMost) {
  TestRun run;
  run.add({.step = 0, .tensors = {a}});
  run.add({.step = 1, .tensors = {b}});
  const auto trial = run.open();
  const TensorSpot spot{a.name, trial->workers().at(0), ""};
  const auto before = TensorSnapshot::take(spot, TrialWindow(*trial, 0), most);
  const auto now = TensorSnapshot::take(spot, TrialWindow(*trial, 1), most);
  EXPECT_TRUE(before.ok() && now.ok()) << before.status().to_string() << now.status().to_string();
  if (!before.ok() || !now.ok()) return {};
  const auto likeness = TensorSnapshot::compare(*before, *now, closeness);
  EXPECT_TRUE(likeness.ok());
  return likeness.value_or(Likeness());
}

TEST(TensorSnapshot, ValuesAreAlikeWhenAllAreClose) {
  const Closeness one_percent{0.01, 0, false};
  EXPECT_TRUE(compare(kept("a", {1, 99}), kept("a", {1, 100}), one_percent).alike);  // 1 <= 0.01 * 100
  EXPECT_FALSE(compare(kept("a", {1, 100}), kept("a", {1, 99}), one_percent).alike);
  EXPECT_EQ(compare(kept("a", {1, 99}), kept("a", {1, 100}), one_percent).largest_difference, 1);
  EXPECT_TRUE(compare(kept("a", {2, 0}), kept("a", {2.5F, 0}), {0, 0.5, false}).alike);
  EXPECT_EQ(compare(kept("a", {1}), kept("a", {1})).ground, LikenessGround::kValues);
}

TEST(TensorSnapshot, EveryChunkIsCompared) {
  std::vector<float> before(10'000, 1);
  std::vector<float> now = before;
  EXPECT_TRUE(compare(kept("a", before), kept("a", now)).alike);
  now.back() = 2;
  EXPECT_FALSE(compare(kept("a", before), kept("a", now)).alike);
}

TEST(TensorSnapshot, InfinitiesAndNaN) {
  EXPECT_TRUE(compare(kept("a", {INFINITY}), kept("a", {INFINITY})).alike);
  EXPECT_FALSE(compare(kept("a", {1}), kept("a", {INFINITY})).alike);
  EXPECT_FALSE(compare(kept("a", {-INFINITY}), kept("a", {INFINITY})).alike);
  for (const auto& make : {kept, summarised}) {
    EXPECT_FALSE(compare(make("a", {NAN, 1}, {}), make("a", {NAN, 1}, {})).alike);
    EXPECT_TRUE(compare(make("a", {NAN, 1}, {}), make("a", {NAN, 1}, {}), {1e-5, 1e-8, true}).alike);
  }
  EXPECT_FALSE(compare(kept("a", {NAN, 1}), kept("a", {1, NAN}), {1e-5, 1e-8, true}).alike);
}

TEST(TensorSnapshot, HashesTellTheOrderStatisticsDoNot) {
  const Likeness hashed = compare(summarised("a", {1, 2}), summarised("a", {2, 1}));
  EXPECT_FALSE(hashed.alike);
  EXPECT_EQ(hashed.ground, LikenessGround::kHash);
  const Likeness reduced_only = compare(reduced("a", {1, 2}), summarised("a", {2, 1}));
  EXPECT_TRUE(reduced_only.alike);
  EXPECT_EQ(reduced_only.ground, LikenessGround::kStatistics);
  EXPECT_FALSE(compare(reduced("a", {1, 2}), reduced("a", {1, 2.0001F})).alike);
}

TEST(TensorSnapshot, ValuesAreComparedWithHashes) {
  const Likeness same = compare(kept("a", {1, 2}), summarised("a", {1, 2}));
  EXPECT_TRUE(same.alike);
  EXPECT_EQ(same.ground, LikenessGround::kHash);
  EXPECT_FALSE(compare(summarised("a", {1, 2}), kept("a", {2, 1})).alike);
}

TEST(TensorSnapshot, LargeValuesAreRememberedByTheirFingerprint) {
  const Likeness likeness = compare(kept("a", {1, 2}), kept("a", {1, 2}), {}, 7);
  EXPECT_TRUE(likeness.alike);
  EXPECT_EQ(likeness.ground, LikenessGround::kHash);
  EXPECT_FALSE(compare(kept("a", {1, 2}), kept("a", {2, 1}), {}, 7).alike);
  EXPECT_EQ(compare(kept("a", {1, 2}), kept("a", {1, 2}), {}, 8).ground, LikenessGround::kValues);
}

TEST(TensorSnapshot, AnotherShapeIsAnotherTensor) {
  EXPECT_FALSE(compare(kept("a", {1, 1}), kept("a", {1, 1, 1})).alike);
  EXPECT_FALSE(compare(reduced("a", {1, 1}), shaped(reduced("a", {1, 1}), {2, 1})).alike);
}

TEST(TensorSnapshot, ScalarsAreValues) {
  EXPECT_TRUE(compare(scalar("a", 1), scalar("a", 1.000001F)).alike);
  EXPECT_FALSE(compare(scalar("a", 1), scalar("a", 1.1F)).alike);
}

}  // namespace
}  // namespace trainwarden::rules
