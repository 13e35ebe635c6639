#include "trainwarden/transfer.h"

#include <gtest/gtest.h>

namespace trainwarden {
namespace {

std::vector<std::int64_t> held(const std::string& text) {
  const auto ranges = parse_step_ranges(text);
  EXPECT_TRUE(ranges.ok()) << ranges.status().to_string();
  std::vector<std::int64_t> steps;
  for (std::int64_t step = 0; ranges.ok() && step < 12; ++step) {
    for (const StepRange& range : *ranges) {
      if (range.holds(step)) {
        steps.push_back(step);
        break;
      }
    }
  }
  return steps;
}

using Steps = std::vector<std::int64_t>;

TEST(StepRange, EndsAreExclusiveAndPartsMayBeLeftOut) {
  EXPECT_EQ(held("2:5"), Steps({2, 3, 4}));
  EXPECT_EQ(held("9:"), Steps({9, 10, 11}));
  EXPECT_EQ(held(":2"), Steps({0, 1}));
  EXPECT_EQ(held("::5"), Steps({0, 5, 10}));
  EXPECT_EQ(held("1:9:3"), Steps({1, 4, 7}));
}

TEST(StepRange, AListIsTheUnion) {
  EXPECT_EQ(held("0, 7,3:5"), Steps({0, 3, 4, 7}));
}

TEST(StepRange, WhatNamesNoStepsIsRefused) {
  for (const char* text : {"", "a", "1:2:3:4", "-1", "0:5:0", "5:x", "0x10"}) {
    const auto ranges = parse_step_ranges(text);
    EXPECT_FALSE(ranges.ok()) << text;
    EXPECT_EQ(ranges.status().code(), Code::kInvalidArgument) << text;
  }
}

TEST(ExportFormat, NamesAreReadBack) {
  for (const auto format :
       {ExportFormat::kSmdebug, ExportFormat::kTensorBoard, ExportFormat::kSafetensors, ExportFormat::kNpz,
        ExportFormat::kCsv, ExportFormat::kJson, ExportFormat::kMcap, ExportFormat::kParquet}) {
    EXPECT_EQ(parse_export_format(name(format)), format);
  }
  EXPECT_EQ(parse_export_format("hdf5"), std::nullopt);
}

}  // namespace
}  // namespace trainwarden
