#include "core/base/json_marks.h"

#include <gtest/gtest.h>

namespace trainwarden {
namespace {

TEST(JsonMarksTest, WhatDrivesATerminalIsEscapedAndNothingElse) {
  EXPECT_EQ(escape_marks("{\n  \"größe\": \"漢 😀 é\"\n}"), "{\n  \"größe\": \"漢 😀 é\"\n}");
  EXPECT_EQ(escape_marks("\"\x7f\""), "\"\\u007f\"");
  EXPECT_EQ(escape_marks("\"\xc2\x9b[31m\""), "\"\\u009b[31m\"");  // the one-character form of ESC [
  EXPECT_EQ(escape_marks("\"\xd8\x9c\""), "\"\\u061c\"");          // ARABIC LETTER MARK
  EXPECT_EQ(escape_marks("\"a\xe2\x80\xaez\""), "\"a\\u202ez\"");  // writes from right to left
  EXPECT_EQ(escape_marks("\"\xe2\x81\xa6\xe2\x80\xa8\""), "\"\\u2066\\u2028\"");
  EXPECT_EQ(escape_marks("\"\xd8\xa7\xe2\x82\xac\xc2\xa9\""), "\"\xd8\xa7\xe2\x82\xac\xc2\xa9\"");  // neighbours stay
}

TEST(JsonMarksTest, BrokenBytesAreLeftToTheSerializer) {
  EXPECT_EQ(escape_marks("\xc2"), "\xc2");
  EXPECT_EQ(escape_marks(""), "");
}

}  // namespace
}  // namespace trainwarden
