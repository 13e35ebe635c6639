#include "masking.h"

#include <gtest/gtest.h>

namespace tiny_bert {
namespace {

constexpr std::int64_t kOrdinary = 50;

Vocabulary numbered() {
  std::vector<std::string> pieces(std::begin(bert::kSpecialPieces), std::end(bert::kSpecialPieces));
  for (std::int64_t i = 0; i < kOrdinary; ++i) pieces.push_back("p" + std::to_string(i));
  return Vocabulary(std::move(pieces), "the test");
}

// [CLS] and [SEP] around `count` pieces.
std::vector<std::int64_t> sequence_of(const Vocabulary& vocabulary, std::int64_t count) {
  std::vector<std::int64_t> pieces = {vocabulary.begin()};
  for (std::int64_t i = 0; i < count; ++i) pieces.push_back(5 + i % kOrdinary);
  pieces.push_back(vocabulary.separator());
  return pieces;
}

TEST(MaskingTest, AsksForFifteenOfAHundredAndNeverForSpecialPieces) {
  const Vocabulary vocabulary = numbered();
  Masker masker(vocabulary, 1);
  for (const std::int64_t count : {1, 7, 40, 100}) {
    const auto pieces = sequence_of(vocabulary, count);
    const MaskedPieces masked = masker.mask(pieces);
    std::int64_t asked = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (masked.answers[i] == kNotAsked) {
        EXPECT_EQ(masked.input[i], pieces[i]) << "what is not asked for stays";
        continue;
      }
      ++asked;
      EXPECT_EQ(masked.answers[i], pieces[i]);
      EXPECT_FALSE(vocabulary.is_special(pieces[i]));
    }
    EXPECT_EQ(asked, std::max<std::int64_t>(1, (count * 15 + 50) / 100));
  }
}

TEST(MaskingTest, ReplacesEightOfTenByTheMaskAndOneByAnyPiece) {
  const Vocabulary vocabulary = numbered();
  Masker masker(vocabulary, 7);
  const auto pieces = sequence_of(vocabulary, 100);
  double masked = 0, left = 0, drawn = 0;
  for (int round = 0; round < 1000; ++round) {
    const MaskedPieces result = masker.mask(pieces);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (result.answers[i] == kNotAsked) continue;
      if (result.input[i] == vocabulary.mask()) {
        ++masked;
      } else if (result.input[i] == pieces[i]) {
        ++left;
      } else {
        ++drawn;
        EXPECT_FALSE(vocabulary.is_special(result.input[i]));
      }
    }
  }
  const double all = masked + left + drawn;
  EXPECT_EQ(all, 15000);
  EXPECT_NEAR(masked / all, 0.8, 0.015);
  EXPECT_NEAR(left / all, 0.1 + 0.1 / kOrdinary, 0.01);  // a piece may be drawn in its own place
  EXPECT_NEAR(drawn / all, 0.1 - 0.1 / kOrdinary, 0.01);
}

TEST(MaskingTest, DrawsTheSameFromTheSameSeed) {
  const Vocabulary vocabulary = numbered();
  const auto pieces = sequence_of(vocabulary, 100);
  EXPECT_EQ(Masker(vocabulary, 3).mask(pieces).input, Masker(vocabulary, 3).mask(pieces).input);
  EXPECT_NE(Masker(vocabulary, 3).mask(pieces).input, Masker(vocabulary, 4).mask(pieces).input);
}

TEST(MaskingTest, AsksForNothingWhereNothingIsOrdinary) {
  const Vocabulary vocabulary = numbered();
  const auto pieces = sequence_of(vocabulary, 0);
  const MaskedPieces masked = Masker(vocabulary, 1).mask(pieces);
  EXPECT_EQ(masked.input, pieces);
  EXPECT_EQ(masked.answers, std::vector<std::int64_t>(2, kNotAsked));
}

}  // namespace
}  // namespace tiny_bert
