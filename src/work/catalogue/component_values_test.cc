#include "work/catalogue/component_values.h"

#include <gtest/gtest.h>

namespace trainwarden::catalogue {
namespace {

std::string complaint(const NamedValues& named) {
  FoundComponent found;
  found.component.now.parameters["lr"] = 0.1;
  found.component.now.metrics["val.loss"] = {};
  return check_named_values({found}, named).message();
}

TEST(ComponentValuesTest, WhatAComponentHasIsFound) {
  EXPECT_EQ(complaint({{"lr", "val.loss"}, {}}), "");
  EXPECT_EQ(complaint({{}, {"Parameters.lr", "Parameters.lr.Value", "Metrics.val.loss", "Metrics.val.loss.Max"}}), "");
  EXPECT_EQ(complaint({{}, {"CreationTime", "Tags.any", "Parents.TrialName"}}), "");
}

TEST(ComponentValuesTest, WhatNoneHasIsNamedWithWhatThereIs) {
  EXPECT_EQ(complaint({{"lrr"}, {}}), "no component has a value \"lrr\"; did you mean \"lr\"?");
  EXPECT_EQ(complaint({{"accuracy"}, {}}), "no component has a value \"accuracy\"; there are lr, val.loss");
  EXPECT_EQ(complaint({{}, {"Metrics.accuracy.Max"}}),
            "no component has a value \"Metrics.accuracy.Max\"; there are Parameters.lr, Metrics.val.loss");
  EXPECT_EQ(complaint({{}, {"Parameters.val.loss"}}).substr(0, 46), "no component has a value \"Parameters.val.loss\"");
}

}  // namespace
}  // namespace trainwarden::catalogue
