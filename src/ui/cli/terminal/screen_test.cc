#include "ui/cli/terminal/screen.h"

#include <gtest/gtest.h>

namespace trainwarden::cli {
namespace {

Terminal colourful() {
  Terminal terminal;
  terminal.interactive = terminal.unicode = true;
  terminal.colors = ColorDepth::k256;
  return terminal;
}

// What a terminal shows after these bytes: of the sequences that changes() writes, and no others.
class FakeTerminal {
 public:
  FakeTerminal(int rows, int columns) : rows_(static_cast<std::size_t>(rows), std::string(columns, ' ')) {}

  void take(std::string_view bytes) {
    while (!bytes.empty()) bytes.remove_prefix(bytes[0] == '\x1b' ? take_sequence(bytes) : take_character(bytes[0]));
  }
  const std::vector<std::string>& rows() const { return rows_; }
  std::size_t characters() const { return characters_; }

 private:
  std::size_t take_character(char character) {
    rows_.at(row_).at(column_++) = character;
    ++characters_;
    return 1;
  }
  std::size_t take_sequence(std::string_view bytes) {
    const std::size_t end = bytes.find_first_of("HJm");
    if (bytes[end] == 'H') {
      row_ = std::stoul(std::string(bytes.substr(2))) - 1;
      column_ = std::stoul(std::string(bytes.substr(bytes.find(';') + 1))) - 1;
    } else if (bytes[end] == 'J') {
      for (std::string& row : rows_) row.assign(row.size(), ' ');
    }
    return end + 1;
  }
  std::vector<std::string> rows_;
  std::size_t row_ = 0, column_ = 0, characters_ = 0;
};

TEST(ScreenTest, PutsTextWhereThereIsRoom) {
  Screen screen(2, 6);
  EXPECT_EQ(screen.put(0, 1, "abc"), 4);
  EXPECT_EQ(screen.put(1, 3, "abcdef"), 6);
  screen.put(5, 0, "outside");
  screen.put_right(0, 6, "z");
  EXPECT_EQ(screen.to_text(), " abc z\n   abc\n");
  EXPECT_EQ(screen.put(0, 0, "xyz", Ink::kPlain, 2), 2);
  EXPECT_EQ(screen.to_text(), "xybc z\n   abc\n");
}

TEST(ScreenTest, KeepsWideCharactersWhole) {
  Screen screen(1, 5);
  screen.put(0, 0, "漢字漢");  // the third would need a sixth cell
  EXPECT_EQ(screen.to_text(), "漢字\n");
  screen.put(0, 4, "x");
  EXPECT_EQ(screen.to_text(), "漢字x\n");
}

TEST(ScreenTest, KeepsAccentsWithTheirLetter) {
  Screen screen(1, 3);
  screen.put(0, 0, "\u0301e\u0301x");  // the first accent has no letter
  EXPECT_EQ(screen.to_text(), "e\u0301x\n");
}

TEST(ScreenTest, LetsNoControlCharacterThrough) {
  Screen screen(1, 20);
  screen.put(0, 0, "a\x1b[31mb\x07\u009bc\n");
  EXPECT_EQ(screen.to_text(), "a?[31mb??c?\n");
  screen.put(0, 0, "\u202eabc\u2066d");
  EXPECT_TRUE(screen.to_text().starts_with("?abc?d"));
}

TEST(ScreenTest, LeavesEmptyRowsAtTheEndOut) {
  Screen screen(4, 4);
  screen.put(1, 0, "x");
  EXPECT_EQ(screen.to_text(), "\nx\n");
  EXPECT_EQ(Screen(3, 3).to_text(), "");
}

TEST(ScreenTest, ColoursOnlyWhereTheTerminalDoes) {
  Screen screen(1, 4);
  screen.put(0, 0, "ok", Ink::kGood);
  EXPECT_EQ(screen.to_lines(Terminal{}), "ok\n");
  EXPECT_EQ(screen.to_lines(colourful()), "\x1b[0;38;5;36mok\x1b[0m\n");
}

TEST(ScreenChangesTest, WritesNothingWhenNothingChanged) {
  Screen screen(2, 8);
  screen.put(0, 0, "same", Ink::kGood);
  EXPECT_EQ(changes(&screen, screen, colourful()), "");
}

TEST(ScreenChangesTest, WritesOnlyWhatDiffers) {
  Screen before(2, 20), after(2, 20);
  before.put(0, 0, "step 119 of 300");
  after.put(0, 0, "step 120 of 300");
  FakeTerminal terminal(2, 20);
  terminal.take(changes(nullptr, before, colourful()));
  EXPECT_EQ(terminal.rows()[0], "step 119 of 300     ");
  const std::size_t written = terminal.characters();
  terminal.take(changes(&before, after, colourful()));
  EXPECT_EQ(terminal.rows()[0], "step 120 of 300     ");
  EXPECT_EQ(terminal.characters() - written, 2u) << "the 2 and the 0";
}

TEST(ScreenChangesTest, WipesWhatIsGone) {
  Screen before(1, 8), after(1, 8);
  before.put(0, 0, "abcdef");
  after.put(0, 0, "ab");
  FakeTerminal terminal(1, 8);
  terminal.take(changes(nullptr, before, colourful()));
  terminal.take(changes(&before, after, colourful()));
  EXPECT_EQ(terminal.rows()[0], "ab      ");
}

TEST(ScreenChangesTest, WritesAllAnewForAnotherSize) {
  Screen before(1, 8), after(2, 8);
  before.put(0, 0, "abc");
  after.put(0, 0, "abc");
  EXPECT_TRUE(changes(&before, after, colourful()).starts_with("\x1b[0m\x1b[2J"));
}

TEST(ScreenChangesTest, EndsWithAPlainInk) {
  Screen screen(1, 4);
  screen.put(0, 0, "no", Ink::kBad);
  EXPECT_TRUE(changes(nullptr, screen, colourful()).ends_with("no\x1b[0m"));
  EXPECT_EQ(changes(nullptr, screen, Terminal{}).find("38;5"), std::string::npos) << "NO_COLOR";
}

TEST(ScreenChangesTest, WritesAWideCharacterWhoseSecondHalfWasCovered) {
  Screen before(1, 4), after(1, 4);
  before.put(0, 0, "漢");
  after.put(0, 0, "漢");
  after.put(0, 1, "x");  // a letter on its second half
  EXPECT_NE(changes(&before, after, colourful()).find('x'), std::string::npos);
}

}  // namespace
}  // namespace trainwarden::cli
