#include "read/trial/step_text.h"

#include <gtest/gtest.h>

namespace trainwarden::trial {
namespace {

const std::vector<std::int64_t> kSteps = {0, 10, 20, 30, 40};

TEST(StepText, NamesTheMode) {
  EXPECT_EQ(step_text(7, Mode::kGlobal), "step 7");
  EXPECT_EQ(step_text(7, Mode::kTrain), "train step 7");
}

TEST(StepText, NearestSteps) {
  EXPECT_EQ(nearest_steps(kSteps, 25), "10, 20, 30, 40");
  EXPECT_EQ(nearest_steps(kSteps, -5), "0, 10");
  EXPECT_EQ(nearest_steps(kSteps, 99), "30, 40");
  EXPECT_EQ(nearest_steps({}, 1), "none");
}

TEST(StepText, NameHint) {
  const std::vector<std::string> names = {"conv0.weight", "conv0.bias", "gradient/conv0.weight", "fc.weight",
                                          "a.weight"};
  EXPECT_EQ(name_hint("conv0.wieght", names), "; did you mean \"conv0.weight\"?");
  EXPECT_EQ(name_hint("CONV0", names),
            "; names like it are \"conv0.weight\", \"conv0.bias\", \"gradient/conv0.weight\"");
  EXPECT_EQ(name_hint("embedding", names), "");
  EXPECT_EQ(name_hint("", names), "");
}

}  // namespace
}  // namespace trainwarden::trial
