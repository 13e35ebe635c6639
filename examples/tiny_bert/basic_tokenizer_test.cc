#include "basic_tokenizer.h"

#include <gtest/gtest.h>

namespace tiny_bert {
namespace {

using Words = std::vector<std::string>;

// The cases of BERT's own tokenization_test.py.
TEST(BasicTokenizerTest, LowersAndSplitsPunctuation) {
  EXPECT_EQ(basic_words(" \tHeLLo!how  \n Are yoU?  "), (Words{"hello", "!", "how", "are", "you", "?"}));
}
TEST(BasicTokenizerTest, TakesAccentsAway) {
  EXPECT_EQ(basic_words("H\u00E9llo"), (Words{"hello"}));
}
TEST(BasicTokenizerTest, PutsIdeographsAlone) {
  EXPECT_EQ(basic_words("ah\u535A\u63A8zz"), (Words{"ah", "\u535A", "\u63A8", "zz"}));
}

TEST(BasicTokenizerTest, TakesAccentsAwayThatStandBehindTheirLetter) {
  EXPECT_EQ(basic_words("e\u0301te\u0301 \u0301"), (Words{"ete"}));
}
TEST(BasicTokenizerTest, LowersOtherScripts) {
  EXPECT_EQ(basic_words("\u0416\u0423\u041A \u0386\u03B8\u03B7\u03BD\u03B1 \u0130stanbul"),
            (Words{"\u0436\u0443\u043A", "\u03B1\u03B8\u03B7\u03BD\u03B1", "istanbul"}));
}
TEST(BasicTokenizerTest, WritesHangulInLetters) {
  EXPECT_EQ(basic_words("\uD55C"), (Words{"\u1112\u1161\u11AB"}));
  EXPECT_EQ(basic_words("\uAC00"), (Words{"\u1100\u1161"}));
}
TEST(BasicTokenizerTest, SplitsSymbolsOfAsciiAndPunctuationOfUnicode) {
  EXPECT_EQ(basic_words("a+b$c^d\u201Ce\u201D"), (Words{"a", "+", "b", "$", "c", "^", "d", "\u201C", "e", "\u201D"}));
  EXPECT_EQ(basic_words("5\u20AC"), (Words{"5\u20AC"}));  // a currency sign is no punctuation
}
TEST(BasicTokenizerTest, LeavesControlCharactersOut) {
  EXPECT_EQ(basic_words(std::string("a\x01\x1b") + '\0' + "b\u200Dc\u00ADd\uFFFD"), (Words{"abcd"}));
}
TEST(BasicTokenizerTest, SplitsAtSpacesOfUnicode) {
  EXPECT_EQ(basic_words("a\u00A0b\u3000c\u2028d"), (Words{"a", "b", "c", "d"}));
}
TEST(BasicTokenizerTest, PassesOverBytesThatAreNoText) {
  EXPECT_EQ(basic_words("a\xff"
                        "b \xc3 c\xe2\x82"),
            (Words{"ab", "c"}));
  EXPECT_EQ(basic_words("x\xc0\x80y\xed\xa0\x80z"), (Words{"xyz"}));  // overlong, a surrogate
}
TEST(BasicTokenizerTest, FindsNoWordInNothing) {
  EXPECT_EQ(basic_words(""), Words{});
  EXPECT_EQ(basic_words(" \n\u0301"), Words{});
}

}  // namespace
}  // namespace tiny_bert
