#include "read/transfer/csv_field.h"

#include <gtest/gtest.h>

namespace trainwarden::transfer {
namespace {

TEST(CsvFieldTest, WhatASpreadsheetWouldRunIsText) {
  EXPECT_EQ(csv_field("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0");
  EXPECT_EQ(csv_field("@SUM(A1)"), "'@SUM(A1)");
  EXPECT_EQ(csv_field("+a"), "'+a");
  EXPECT_EQ(csv_field("-a"), "'-a");
  EXPECT_EQ(csv_field("\t=1"), "'\t=1");
  EXPECT_EQ(csv_field("\r=1,2"), "\"'\r=1,2\"");
  EXPECT_EQ(csv_field("=\"x\""), "\"'=\"\"x\"\"\"");
}

TEST(CsvFieldTest, NumbersAndOtherTextsStay) {
  for (const char* text : {"", "-1.5", "+2", "-1e-3", "conv0.weight", "a=b", "(3)", "-inf"}) {
    EXPECT_EQ(csv_field(text), text);
  }
  EXPECT_EQ(csv_field("a,\"b\""), "\"a,\"\"b\"\"\"");
}

}  // namespace
}  // namespace trainwarden::transfer
