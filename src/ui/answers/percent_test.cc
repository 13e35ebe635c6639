#include "ui/answers/percent.h"

#include <gtest/gtest.h>

namespace trainwarden::answers {
namespace {

TEST(DecodePercent, GivesTextOrSaysWhatIsWrong) {
  EXPECT_EQ(*decode_percent("a%20b%C3%a9", false), "a bé");
  EXPECT_EQ(*decode_percent("a+b", false), "a+b");
  EXPECT_EQ(*decode_percent("a+b", true), "a b");
  for (const char* text : {"%", "%2", "%zz", "%00", "%ff", "\xff"}) {
    EXPECT_EQ(decode_percent(text, false).status().code(), Code::kInvalidArgument) << text;
  }
}

TEST(EncodePercent, IsTakenBack) {
  EXPECT_EQ(encode_percent("a b/\"\r\n"), "a%20b%2F%22%0D%0A");
  for (const char* text : {"", "conv1.weight", "a%20b", "é+&=?#"}) {
    EXPECT_EQ(*decode_percent(encode_percent(text), true), text);
  }
}

}  // namespace
}  // namespace trainwarden::answers
