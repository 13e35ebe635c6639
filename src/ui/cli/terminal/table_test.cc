#include "ui/cli/terminal/table.h"

#include <limits>

#include <gtest/gtest.h>

namespace trainwarden::cli {
namespace {

TEST(Table, AlignsColumnsAndLeavesNoBlanksAtTheEnd) {
  Table table({{"NAME"}, {"STEPS", Align::kRight}, {"STATE"}});
  table.add_row({"first", "7", "running"});
  table.add_row({"a-longer-name", "12345", ""});
  EXPECT_EQ(table.to_string(),
            "NAME           STEPS  STATE\n"
            "first              7  running\n"
            "a-longer-name  12345\n");
}

TEST(Table, CountsCodePointsNotBytes) {
  Table table({{"NAME"}, {"N"}});
  table.add_row({"größe", "1"});
  table.add_row({"small", "2"});
  EXPECT_EQ(table.to_string(), "NAME   N\ngröße  1\nsmall  2\n");
}

TEST(Table, WithoutRowsHasOnlyTitles) {
  const Table table({{"NAME"}});
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(table.to_string(), "NAME\n");
}

TEST(FormatNumber, IsShortAndNamesWhatIsNotFinite) {
  EXPECT_EQ(format_number(0.1), "0.1");
  EXPECT_EQ(format_number(2.3025850929940457), "2.30259");
  EXPECT_EQ(format_number(1e-7), "1e-07");
  EXPECT_EQ(format_number(std::numeric_limits<double>::quiet_NaN()), "NaN");
  EXPECT_EQ(format_number(std::numeric_limits<double>::infinity()), "Infinity");
  EXPECT_EQ(format_number(-std::numeric_limits<double>::infinity()), "-Infinity");
}

TEST(FormatSteps, ShortensLongLists) {
  EXPECT_EQ(format_steps({}), "");
  EXPECT_EQ(format_steps({0, 10, 20}), "0, 10, 20");
  EXPECT_EQ(format_steps({0, 1, 2, 3, 4, 5, 6, 7, 8}), "0, 1, 2, ... 8 (9)");
}

}  // namespace
}  // namespace trainwarden::cli
