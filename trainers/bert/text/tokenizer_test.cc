#include "text/tokenizer.h"

#include <gtest/gtest.h>

namespace bert {
namespace {

using Pieces = std::vector<std::string>;

Vocabulary small_vocabulary() {
  return Vocabulary({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "want", "##want", "##ed", "wa", "un", "runn",
                     "##ing", ",", "\u017C", "##\u017C"},
                    "the test");
}

std::vector<std::string> pieces_of(std::string_view text) {
  const Tokenizer tokenizer(small_vocabulary(), {});
  std::vector<std::string> pieces;
  for (const std::int32_t id : tokenizer.ids(text)) pieces.push_back(tokenizer.vocabulary().piece(id));
  return pieces;
}

// The cases of BERT's own tokenization_test.py.
TEST(TokenizerTest, TakesTheLongestPieceEachTime) {
  EXPECT_EQ(pieces_of("unwanted running"), (Pieces{"un", "##want", "##ed", "runn", "##ing"}));
  EXPECT_EQ(pieces_of(""), (Pieces{}));
}
TEST(TokenizerTest, GivesUpAWordThatDoesNotComeOut) {
  EXPECT_EQ(pieces_of("unwantedX running"), (Pieces{"[UNK]", "runn", "##ing"}));
}
TEST(TokenizerTest, SplitsWordsFirst) {
  EXPECT_EQ(pieces_of("UNwant\u00E9d,running"), (Pieces{"un", "##want", "##ed", ",", "runn", "##ing"}));
}

TEST(TokenizerTest, DoesNotTakeAPieceThatIsNoBeginningForOne) {
  EXPECT_EQ(pieces_of("ing"), (Pieces{"[UNK]"}));
}
TEST(TokenizerTest, KnowsNoSpecialPieceInAText) {
  EXPECT_EQ(pieces_of("[MASK]"), (Pieces{"[UNK]", "[UNK]", "[UNK]"}));
}
TEST(TokenizerTest, GivesUpAVeryLongWord) {
  std::string word;
  for (int i = 0; i < 25; ++i) word += "want";
  EXPECT_EQ(pieces_of(word).size(), 25u);  // 100 characters
  EXPECT_EQ(pieces_of(word + "ed"), (Pieces{"[UNK]"}));
  const Tokenizer google(small_vocabulary(), {.folding = {}, .max_word_characters = 200});
  EXPECT_EQ(google.ids(word + word).size(), 50u);
  EXPECT_EQ(google.ids(word + word + "ed"), (std::vector<std::int32_t>{1}));
  // Characters, not bytes.
  word.clear();
  for (int i = 0; i < 100; ++i) word += "\u017C";
  EXPECT_EQ(
      Tokenizer(small_vocabulary(), {.folding = {.strip_accents = false}, .max_word_characters = 100}).ids(word).size(),
      100u);
}

TEST(TokenizerTest, FindsPiecesOfAnyLength) {
  std::vector<std::string> pieces(std::begin(kSpecialPieces), std::end(kSpecialPieces));
  std::string longer;
  for (int bytes = 1; bytes <= 40; ++bytes) pieces.push_back(longer += static_cast<char>('a' + bytes % 7));
  const Tokenizer tokenizer(Vocabulary(pieces, "the test"), {});
  for (std::int32_t id = 5; id < static_cast<std::int32_t>(pieces.size()); ++id) {
    EXPECT_EQ(tokenizer.ids(pieces[static_cast<std::size_t>(id)]), (std::vector<std::int32_t>{id}));
  }
  EXPECT_EQ(tokenizer.ids(longer + "x"), (std::vector<std::int32_t>{1}));
}

std::vector<Piece> ranges_of(std::string_view text) {
  return Tokenizer(small_vocabulary(), {}).pieces(text);
}

TEST(TokenizerTest, SaysWherePiecesComeFrom) {
  EXPECT_EQ(ranges_of(" UNwant\u00E9d, nope"),
            (std::vector<Piece>{{9, 1, 3}, {6, 3, 7}, {7, 7, 10}, {12, 10, 11}, {1, 12, 16}}));
  // What is left out within a piece belongs to it; around it to none.
  EXPECT_EQ(ranges_of("\xff"
                      "wa\xfe"
                      "nt\x80"),
            (std::vector<Piece>{{5, 1, 6}}));
  EXPECT_EQ(ranges_of("\u0301wa\u0301 "), (std::vector<Piece>{{8, 2, 4}}));
  // Marks that are put into order.
  EXPECT_EQ(ranges_of("\u302E\U0001D165 "), (std::vector<Piece>{{1, 0, 7}}));
}

TEST(TokenizerTest, GivesTheSameIdsWithRangesAndWithout) {
  const Tokenizer tokenizer(small_vocabulary(), {});
  const std::string text = "Unwanted \u00C9d, want\u00ADed running \u535A \xf0\x9f unx";
  std::vector<std::int32_t> ids = {77};
  tokenizer.append_ids(text, ids);
  std::vector<std::int32_t> expected = {77};
  for (const Piece& piece : tokenizer.pieces(text)) expected.push_back(piece.id);
  EXPECT_EQ(ids, expected);
}

}  // namespace
}  // namespace bert
