// Options that say what is captured, as variables for the program.
#include "ui/cli/options/capture_choice.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace trainwarden::cli {
namespace {

using Variables = std::map<std::string, std::string>;

TEST(CaptureChoice, NothingSaidIsNothingSet) {
  EXPECT_EQ(CaptureChoice().environment().value_or({{"?", "?"}}), Variables());
}

TEST(CaptureChoice, EachOptionIsAVariable) {
  const CaptureChoice choice{.budget = "2%",
                             .include_collections = {"weights", "gradients"},
                             .include = {"relu"},
                             .save_interval = "10",
                             .keep = "values,hash"};
  EXPECT_EQ(choice.environment().value_or({}), (Variables{{"TRAINWARDEN_BUDGET", "2%"},
                                                          {"TRAINWARDEN_INCLUDE_COLLECTIONS", "weights,gradients"},
                                                          {"TRAINWARDEN_INCLUDE", "relu"},
                                                          {"TRAINWARDEN_SAVE_INTERVAL", "10"},
                                                          {"TRAINWARDEN_KEEP", "values,hash"}}));
}

TEST(CaptureChoice, SeveralPatternsAreOne) {
  const CaptureChoice choice{.include = {"^a|b", "c,d"}};
  EXPECT_EQ(choice.environment().value_or({}), (Variables{{"TRAINWARDEN_INCLUDE", "(?:^a|b)|(?:c,d)"}}));
}

TEST(CaptureChoice, RunsThatAreShownInOneFolderHaveOneOfTheirOwnBeneathIt) {
  const CaptureChoice choice{.tensorboard = "board"};
  const Board board = choice.board("runs/first").value_or({});
  EXPECT_EQ(board.folder, "board/first");
  EXPECT_EQ(board.logdir, "board");
  EXPECT_EQ(CaptureChoice().board("runs/first").value_or({"?", "?"}).folder, "");
}

TEST(CaptureChoice, WhatTheHookWouldRefuseIsAnError) {
  for (const CaptureChoice& choice :
       {CaptureChoice{.budget = "much"}, CaptureChoice{.include = {"("}}, CaptureChoice{.save_interval = "0"},
        CaptureChoice{.keep = "weights"}, CaptureChoice{.include_collections = {"weihgts"}}}) {
    EXPECT_EQ(choice.environment().status().code(), Code::kInvalidArgument);
  }
}

}  // namespace
}  // namespace trainwarden::cli
