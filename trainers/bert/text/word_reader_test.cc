#include "text/word_reader.h"

#include <gtest/gtest.h>

namespace bert {
namespace {

using Words = std::vector<std::string>;

Words words_of(std::string_view text, const FoldingOptions& options = {}) {
  return basic_words(text, Folding(options));
}

// The cases of BERT's own tokenization_test.py.
TEST(WordReaderTest, LowersAndSplitsPunctuation) {
  EXPECT_EQ(words_of(" \tHeLLo!how  \n Are yoU?  "), (Words{"hello", "!", "how", "are", "you", "?"}));
}
TEST(WordReaderTest, TakesAccentsAway) {
  EXPECT_EQ(words_of("H\u00E9llo"), (Words{"hello"}));
}
TEST(WordReaderTest, PutsIdeographsAlone) {
  EXPECT_EQ(words_of("ah\u535A\u63A8zz"), (Words{"ah", "\u535A", "\u63A8", "zz"}));
}

TEST(WordReaderTest, TakesAccentsAwayThatStandBehindTheirLetter) {
  EXPECT_EQ(words_of("e\u0301te\u0301 \u0301"), (Words{"ete"}));
}
TEST(WordReaderTest, LowersOtherScripts) {
  EXPECT_EQ(words_of("\u0416\u0423\u041A \u0386\u03B8\u03B7\u03BD\u03B1 \u0130stanbul"),
            (Words{"\u0436\u0443\u043A", "\u03B1\u03B8\u03B7\u03BD\u03B1", "istanbul"}));
}
TEST(WordReaderTest, WritesHangulInLetters) {
  EXPECT_EQ(words_of("\uD55C"), (Words{"\u1112\u1161\u11AB"}));
  EXPECT_EQ(words_of("\uAC00"), (Words{"\u1100\u1161"}));
}
TEST(WordReaderTest, SplitsSymbolsOfAsciiAndPunctuationOfUnicode) {
  EXPECT_EQ(words_of("a+b$c^d\u201Ce\u201D"), (Words{"a", "+", "b", "$", "c", "^", "d", "\u201C", "e", "\u201D"}));
  EXPECT_EQ(words_of("5\u20AC"), (Words{"5\u20AC"}));  // a currency sign is no punctuation
}
TEST(WordReaderTest, LeavesControlCharactersOut) {
  EXPECT_EQ(words_of(std::string("a\x01\x1b") + '\0' + "b\u200Dc\u00ADd\uFFFD"), (Words{"abcd"}));
}
TEST(WordReaderTest, SplitsAtSpacesOfUnicode) {
  EXPECT_EQ(words_of("a\u00A0b\u3000c\u2028d"), (Words{"a", "b", "c", "d"}));
}
TEST(WordReaderTest, PassesOverBytesThatAreNoText) {
  EXPECT_EQ(words_of("a\xff"
                     "b \xc3 c\xe2\x82"),
            (Words{"ab", "c"}));
  EXPECT_EQ(words_of("x\xc0\x80y\xed\xa0\x80z"), (Words{"xyz"}));  // overlong, a surrogate
}
TEST(WordReaderTest, OrdersMarksThatStay) {
  // U+302E (class 224) and U+1D165 (216) are no accents; U+0334 (class 1), which is one, lies between them.
  EXPECT_EQ(words_of("a\u302E\u0334\U0001D165"), (Words{"a\U0001D165\u302E"}));
  EXPECT_EQ(words_of("a\u302Eb\U0001D165"), (Words{"a\u302Eb\U0001D165"}));
  EXPECT_EQ(words_of("a\u302E\U0001D165", {.strip_accents = false}), (Words{"a\u302E\U0001D165"}));
}
TEST(WordReaderTest, KeepsCaseAndAccentsWhereItIsAsked) {
  EXPECT_EQ(words_of("H\u00C9llo!", {.lower_case = false}), (Words{"H\u00C9llo", "!"}));
  EXPECT_EQ(words_of("H\u00C9llo", {.lower_case = false, .strip_accents = true}), (Words{"HEllo"}));
  EXPECT_EQ(words_of("H\u00C9llo", {.strip_accents = false}), (Words{"h\u00E9llo"}));
  EXPECT_EQ(words_of("\u0130", {.strip_accents = false}), (Words{"i\u0307"}));
}
TEST(WordReaderTest, KeepsIdeographsTogetherWhereItIsAsked) {
  EXPECT_EQ(words_of("ah\u535A\u63A8zz", {.split_chinese = false}), (Words{"ah\u535A\u63A8zz"}));
}
TEST(WordReaderTest, SplitsWhatBecomesPunctuation) {
  EXPECT_EQ(words_of("a\u226Eb"), (Words{"a", "<", "b"}));
  EXPECT_EQ(words_of("a\u037Eb"), (Words{"a", ";", "b"}));
}
TEST(WordReaderTest, ReadsALongWordWhole) {
  for (const std::size_t bytes : {63, 64, 65, 127, 128, 1'000'000}) {
    EXPECT_EQ(words_of(std::string(bytes, 'A')), (Words{std::string(bytes, 'a')}));
    EXPECT_EQ(words_of("b " + std::string(bytes, 'A') + ".c"), (Words{"b", std::string(bytes, 'a'), ".", "c"}));
  }
}
TEST(WordReaderTest, FindsNoWordInNothing) {
  EXPECT_EQ(words_of(""), Words{});
  EXPECT_EQ(words_of(" \n\u0301"), Words{});
}

}  // namespace
}  // namespace bert
