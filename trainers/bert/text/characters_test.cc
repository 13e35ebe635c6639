#include "text/characters.h"

#include <gtest/gtest.h>

namespace bert {
namespace {

TEST(CharactersTest, WritesWhatItReads) {
  for (char32_t character = 0; character <= 0x10ffff; ++character) {
    if (character >= 0xd800 && character < 0xe000) continue;
    std::string text;
    append_utf8(character, text);
    text += "x";
    std::size_t used = 0;
    ASSERT_EQ(decode_utf8(text, used), character);
    ASSERT_EQ(used, text.size() - 1) << static_cast<std::uint32_t>(character);
  }
}

TEST(CharactersTest, TakesOneByteOfWhatIsNoText) {
  for (const std::string_view bytes : {"\x80", "\xc0\x80", "\xc3", "\xe2\x82", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                       "\xff", "\xe0\x80\xaf", "\xf0\x80\x80\x80", "\xc3(", "\xf8\x88\x80\x80\x80"}) {
    std::size_t used = 0;
    EXPECT_EQ(decode_utf8(bytes, used), kReplacement) << bytes;
    EXPECT_EQ(used, 1u);
  }
  EXPECT_EQ(to_utf32("a\xed\xa0\x80z"), U"a\ufffd\ufffd\ufffdz");
}

}  // namespace
}  // namespace bert
