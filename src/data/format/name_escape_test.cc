#include "data/format/name_escape.h"

#include <gtest/gtest.h>

#include <random>

namespace trainwarden::format {
namespace {

TEST(NameEscapeTest, OrdinaryNamesStandAsTheyAre) {
  for (const char* name : {"", "conv0.weight", "gradient/conv0.weight", "metadata__", "größe", "\xE2\x82\xAC",
                           "\xF0\x9F\x98\x80", "tab\tand \"quotes\" and \\", "a\x7F"}) {
    EXPECT_EQ(escape_name(name), name);
    EXPECT_EQ(unescape_name(name).value_or("?"), name);
  }
}

TEST(NameEscapeTest, OddNamesAreEscaped) {
  EXPECT_EQ(escape_name("__metadata__"), "%5F_metadata__");
  EXPECT_EQ(escape_name("100%"), "100%25");
  EXPECT_EQ(escape_name("a\xFF"
                        "b"),
            "a%FFb");
  EXPECT_EQ(escape_name("\xC0\x80"), "%C0%80") << "overlong";
  EXPECT_EQ(escape_name("\xE0\x9F\xBF"), "%E0%9F%BF") << "overlong";
  EXPECT_EQ(escape_name("\xED\xA0\x80"), "%ED%A0%80") << "surrogate";
  EXPECT_EQ(escape_name("\xF4\x90\x80\x80"), "%F4%90%80%80") << "past U+10FFFF";
  EXPECT_EQ(escape_name("\xE2\x82"), "%E2%82") << "cut";
}

TEST(NameEscapeTest, AnyBytesRoundTripAsJson) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string name(random() % 12, '\0');
    for (char& c : name)
      c = static_cast<char>(random() % 4 == 0 ? random()
                                              : "%_\xE2\x82\xAC"
                                                "a"[random() % 6]);
    const std::string written = escape_name(name);
    const std::string json = dump_json({{"name", written}});
    EXPECT_EQ(string_field(Json::parse(json, nullptr, false), "name").value_or("?"), written);
    EXPECT_EQ(unescape_name(written).value_or("?"), name);
  }
}

TEST(NameEscapeTest, OtherWrittenFormsAreRefused) {
  for (const char* written :
       {"%", "a%", "a%4", "%41", "%zz", "%5f_metadata__", "%5F", "%ff", "__metadata__", "\xFF", "%C3%A9", "%2"}) {
    EXPECT_EQ(unescape_name(written).status().code(), Code::kDataLoss) << written;
  }
}

}  // namespace
}  // namespace trainwarden::format
