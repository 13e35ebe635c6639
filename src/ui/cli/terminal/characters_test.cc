#include "ui/cli/terminal/characters.h"

#include <gtest/gtest.h>

#include "core/base/text.h"

namespace trainwarden::cli {
namespace {

TEST(CharactersTest, KnowsHowWideTheyAre) {
  EXPECT_EQ(cell_width(U'a'), 1);
  EXPECT_EQ(cell_width(U'é'), 1);
  EXPECT_EQ(cell_width(U'⣿'), 1);
  EXPECT_EQ(cell_width(U'漢'), 2);
  EXPECT_EQ(cell_width(U'한'), 2);
  EXPECT_EQ(cell_width(U'😀'), 2);
  EXPECT_EQ(cell_width(0xff21), 2);  // a full-width A
  EXPECT_EQ(cell_width(0x301), 0);   // an acute accent
  EXPECT_EQ(cell_width(0x200d), 0);  // joins emoji
  EXPECT_EQ(cell_width(0xad), 1);    // a soft hyphen, which terminals show
}

TEST(CharactersTest, AddsUpATextsWidth) {
  EXPECT_EQ(text_cells("loss"), 4);
  EXPECT_EQ(text_cells("e\u0301"), 1);
  EXPECT_EQ(text_cells("漢字 ok"), 7);
  EXPECT_EQ(text_cells(""), 0);
}

TEST(CharactersTest, WritesUtf8) {
  const std::u32string text = U"aé€😀";
  EXPECT_EQ(to_utf8(text), "aé€😀");
  EXPECT_EQ(to_utf32(to_utf8(text)), text);
}

}  // namespace
}  // namespace trainwarden::cli
