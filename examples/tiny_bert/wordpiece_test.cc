#include "wordpiece.h"

#include <gtest/gtest.h>

namespace tiny_bert {
namespace {

using Pieces = std::vector<std::string>;

Vocabulary small() {
  return Vocabulary({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "want", "##want", "##ed", "wa", "un", "runn",
                     "##ing", ",", "\u017C", "##\u017C"},
                    "the test");
}

std::vector<std::string> pieces_of(std::string_view text) {
  const Vocabulary vocabulary = small();
  std::vector<std::string> pieces;
  for (const std::int64_t id : wordpieces(vocabulary, text)) pieces.push_back(vocabulary.piece(id));
  return pieces;
}

// The cases of BERT's own tokenization_test.py.
TEST(WordpieceTest, TakesTheLongestPieceEachTime) {
  EXPECT_EQ(pieces_of("unwanted running"), (Pieces{"un", "##want", "##ed", "runn", "##ing"}));
  EXPECT_EQ(pieces_of(""), (Pieces{}));
}
TEST(WordpieceTest, GivesUpAWordThatDoesNotComeOut) {
  EXPECT_EQ(pieces_of("unwantedX running"), (Pieces{"[UNK]", "runn", "##ing"}));
}
TEST(WordpieceTest, SplitsWordsFirst) {
  EXPECT_EQ(pieces_of("UNwant\u00E9d,running"), (Pieces{"un", "##want", "##ed", ",", "runn", "##ing"}));
}

TEST(WordpieceTest, DoesNotTakeAPieceThatIsNoBeginningForOne) {
  EXPECT_EQ(pieces_of("ing"), (Pieces{"[UNK]"}));
}
TEST(WordpieceTest, KnowsNoSpecialPieceInAText) {
  EXPECT_EQ(pieces_of("[MASK]"), (Pieces{"[UNK]", "[UNK]", "[UNK]"}));
}
TEST(WordpieceTest, GivesUpAVeryLongWord) {
  std::string word = "un";
  for (int i = 0; i < 49; ++i) word += "want";
  EXPECT_EQ(pieces_of(word).size(), 50u);  // 198 characters
  EXPECT_EQ(pieces_of(word + "want"), (Pieces{"[UNK]"}));
}

}  // namespace
}  // namespace tiny_bert
