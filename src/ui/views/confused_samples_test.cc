#include "ui/views/confused_samples.h"

#include <gtest/gtest.h>

#include "read/trial/run_testing.h"

namespace trainwarden::views {
namespace {

using Place = std::vector<std::int64_t>;

// At each of three steps the samples 1 and 3 of class 1 are taken for class 0.
TestRun confused() {
  TestRun run;
  for (std::int64_t step = 0; step < 3; ++step) {
    run.add({.step = step,
             .tensors = {kept_integers("labels", {0, 1, -100, 1}), kept_integers("predictions", {0, 0, 0, 0})}});
  }
  return run;
}

TEST(ConfusedSamples, AreThoseOfTheNewestStepsFirst) {
  const TestRun run = confused();
  const auto found = confused_samples(*run.open(), {"labels", "predictions", {0, 2, {}}, 1, 0, 3});
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  ASSERT_EQ(found->samples.size(), 3U);
  EXPECT_EQ(found->samples[0].global_step, 2);
  EXPECT_EQ(found->samples[0].place, Place{1});  // what is ignored keeps its place
  EXPECT_EQ(found->samples[1].place, Place{3});
  EXPECT_EQ(found->samples[2].global_step, 1);
  EXPECT_TRUE(found->more);
}

TEST(ConfusedSamples, AreNoneWhereNothingWasConfused) {
  const TestRun run = confused();
  const auto none = confused_samples(*run.open(), {"labels", "predictions", {0, 2, {}}, 0, 1, 3});
  EXPECT_TRUE(none->samples.empty());
  EXPECT_FALSE(none->more);
  EXPECT_TRUE(confused_samples(*run.open(), {"labels", "predictions", {7, 9, {}}, 1, 0, 3})->samples.empty());
}

TEST(ConfusedSamples, HaveAPlaceInEachDimension) {
  TestRun run;
  TestTensor labels = kept_integers("labels", {0, 0, 0, 0, 0, 1});
  labels.shape = {2, 3};
  TestTensor predictions = kept_integers("predictions", {0, 0, 0, 0, 0, 0});
  predictions.shape = {2, 3};
  run.add({.step = 0, .tensors = {labels, predictions}});
  const auto found = confused_samples(*run.open(), {"labels", "predictions", {0, 0, {}}, 1, 0, 3});
  ASSERT_EQ(found->samples.size(), 1U);
  EXPECT_EQ(found->samples[0].place, (Place{1, 2}));
  EXPECT_FALSE(found->more);
}

}  // namespace
}  // namespace trainwarden::views
