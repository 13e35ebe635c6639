#include "work/log_metrics/literal_head.h"

#include <gtest/gtest.h>

namespace trainwarden::log_metrics {
namespace {

std::string head_of(std::string_view regex) {
  return literal_head(regex).text;
}

TEST(LiteralHead, EndsWhereThePatternIsMoreThanText) {
  EXPECT_EQ(head_of("loss: ([0-9.]+)"), "loss: ");
  EXPECT_EQ(head_of("loss:\\s*(\\S+)"), "loss:");
  EXPECT_EQ(head_of("loss"), "loss");
  EXPECT_EQ(head_of("\\[loss\\]=(.)"), "[loss]=");
  EXPECT_EQ(head_of("colou?r"), "colo");
  EXPECT_EQ(head_of("as*"), "a");
  EXPECT_EQ(head_of("as+"), "as");
  EXPECT_EQ(head_of("a{2}"), "");
  EXPECT_EQ(head_of(""), "");
  EXPECT_EQ(head_of("\\"), "");
}

TEST(LiteralHead, IsNotToldWhereAMatchMayBeginInSeveralWays) {
  EXPECT_EQ(head_of("loss: (.)|acc: (.)"), "");
  EXPECT_EQ(head_of("(?:loss|acc): (.)"), "");
  EXPECT_EQ(head_of("loss: (a|b)"), "loss: ");
  EXPECT_EQ(head_of("loss: [|](.)"), "loss: ");
  EXPECT_EQ(head_of("loss: []|](.)"), "loss: ");
  EXPECT_EQ(head_of("loss: \\|(.)"), "loss: |");
  EXPECT_EQ(head_of("(?i)loss"), "");
}

TEST(LiteralHead, SeesWhatSaysWhereItMayStand) {
  for (const char* regex : {"^loss: ", "\\bloss: ", "(?<![\\w/])loss: ", "(?<=^|,)loss: ", ".*\\bloss: "}) {
    EXPECT_EQ(head_of(regex), "loss: ") << regex;
    EXPECT_TRUE(literal_head(regex).anchored) << regex;
  }
  for (const char* regex : {"loss: ", ".*loss: ", "^.*loss: ", ".*?loss: "}) {
    EXPECT_EQ(head_of(regex), "loss: ") << regex;
    EXPECT_FALSE(literal_head(regex).anchored) << regex;
  }
}

}  // namespace
}  // namespace trainwarden::log_metrics
