#include "core/base/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace trainwarden {
namespace {

using Strings = std::vector<std::string>;

TEST(Text, BytesThatAreNoUtf8AreReplacedOneByOne) {
  EXPECT_EQ(with_valid_utf8("größe"), "größe");
  EXPECT_EQ(with_valid_utf8("a\xff\xfe b"), "a\uFFFD\uFFFD b");
  EXPECT_EQ(with_valid_utf8("cut \xc3"), "cut \uFFFD");
  EXPECT_EQ(with_valid_utf8(""), "");
}

TEST(Text, SplitsLists) {
  EXPECT_EQ(split_list("a, b ,c"), (Strings{"a", "b", "c"}));
  EXPECT_EQ(split_list(",,a,, ,"), (Strings{"a"}));
  EXPECT_EQ(split_list(""), Strings{});
  EXPECT_EQ(split_list("one"), (Strings{"one"}));
  EXPECT_EQ(split_list("a:b c", ':'), (Strings{"a", "b c"}));
}

TEST(Text, Trims) {
  EXPECT_EQ(trim(" \t a b \r\n"), "a b");
  EXPECT_EQ(trim(" \n "), "");
  EXPECT_EQ(trim(""), "");
  EXPECT_EQ(lower("AbC-É"), "abc-É");
}

TEST(Text, ParsesNumbersWhole) {
  EXPECT_EQ(parse_double("0.1"), 0.1);
  EXPECT_EQ(parse_double("-1e-3"), -1e-3);
  EXPECT_EQ(parse_double("+2"), 2.0);
  EXPECT_TRUE(std::isnan(parse_double("nan").value()));
  EXPECT_EQ(parse_double("inf"), std::numeric_limits<double>::infinity());
  for (const char* bad : {"", "1x", " 1", "1 ", "+-1", "--1", "1e999", "one"})
    EXPECT_EQ(parse_double(bad), std::nullopt);

  EXPECT_EQ(parse_int("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(parse_int("+7"), 7);
  for (const char* bad : {"", "9223372036854775808", "1.5", "0x10", "7 "}) EXPECT_EQ(parse_int(bad), std::nullopt);
}

TEST(Text, ParsesBools) {
  for (const char* yes : {"true", "True", "1", "yes", "on", "ON"}) EXPECT_EQ(parse_bool(yes), true);
  for (const char* no : {"false", "False", "0", "no", "off"}) EXPECT_EQ(parse_bool(no), false);
  for (const char* bad : {"", "2", "maybe", "tru"}) EXPECT_EQ(parse_bool(bad), std::nullopt);
}

TEST(Text, FindsTheNearestWord) {
  const Strings words = {"save_interval", "save_steps", "start_step", "end_step"};
  EXPECT_EQ(nearest("save_intervall", words), "save_interval");
  EXPECT_EQ(nearest("SaveInterval", words), "save_interval");
  EXPECT_EQ(nearest("strat_step", words), "start_step");  // two neighbours swapped count as one slip
  EXPECT_EQ(nearest("colour", words), std::nullopt);
  EXPECT_EQ(nearest("", words), std::nullopt);
  EXPECT_EQ(nearest("x", {}), std::nullopt);
  EXPECT_EQ(did_you_mean("save_step", words), "; did you mean \"save_steps\"?");
  EXPECT_EQ(did_you_mean("colour", words), "");
}

TEST(Text, FormatsBytes) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(format_bytes(std::uint64_t{3} << 30), "3.0 GiB");
  EXPECT_EQ(format_bytes(std::numeric_limits<std::uint64_t>::max()), "16.0 EiB");
}

TEST(Text, FormatsDurations) {
  EXPECT_EQ(format_duration_ns(0), "0 ns");
  EXPECT_EQ(format_duration_ns(999), "999 ns");
  EXPECT_EQ(format_duration_ns(1'234), "1.2 µs");
  EXPECT_EQ(format_duration_ns(999'960), "1.0 ms");
  EXPECT_EQ(format_duration_ns(1'200'000), "1.2 ms");
  EXPECT_EQ(format_duration_ns(59'949'000'000), "59.9 s");
  EXPECT_EQ(format_duration_ns(59'960'000'000), "1 min 0 s");
  EXPECT_EQ(format_duration_ns(185'000'000'000), "3 min 5 s");
  EXPECT_EQ(format_duration_ns(3'599'600'000'000), "1 h 0 min");
  EXPECT_EQ(format_duration_ns(90'000'000'000'000), "1 d 1 h");
  EXPECT_EQ(format_duration_ns(-1'200'000), "-1.2 ms");
  EXPECT_EQ(format_duration_ns(std::numeric_limits<std::int64_t>::min()).front(), '-');
}

TEST(Text, PrintableKeepsTextAndShowsTheRest) {
  EXPECT_EQ(printable("conv0.weight größe 漢 😀"), "conv0.weight größe 漢 😀");
  EXPECT_EQ(printable("a\nb\x1b[0m\x7f"), "a\\x0Ab\\x1B[0m\\x7F");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xC2\\x9B");           // the one-character form of ESC [
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\xE2\\x80\\xAE");  // writes from right to left
  EXPECT_EQ(printable("\xd8\x9c"), "\\xD8\\x9C");           // ARABIC LETTER MARK, another mark of direction
  EXPECT_EQ(printable("\xff"), "\\xFF");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xC0\\xAF");                    // overlong '/'
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xED\\xA0\\x80");           // half a surrogate pair
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xF4\\x90\\x80\\x80");  // past U+10FFFF
  EXPECT_EQ(printable("\xe6\xbc"), "\\xE6\\xBC");                    // cut short
}

}  // namespace
}  // namespace trainwarden
