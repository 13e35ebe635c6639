#include "words/masking.h"

#include <gtest/gtest.h>

namespace bert {
namespace {

constexpr std::int32_t kWords = 995;  // besides the five special pieces

Vocabulary numbered_words() {
  std::vector<std::string> pieces = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  for (int i = 0; i < kWords; ++i) pieces.push_back("w" + std::to_string(i));
  return {pieces, "a test"};
}

// [CLS], `words` words that differ, [SEP].
Pieces window_of(int words) {
  Pieces window = {2};
  for (int i = 0; i < words; ++i) window.push_back(5 + i);
  window.push_back(3);
  return window;
}

TEST(MaskingTest, FifteenOfAHundredAreAskedFor) {
  const Vocabulary vocabulary = numbered_words();
  const Pieces window = window_of(100);
  const MaskedPieces masked = mask_pieces(window, vocabulary, 1, 0, 0);
  ASSERT_EQ(masked.places.size(), 15u);
  ASSERT_EQ(masked.pieces.size(), window.size());
  for (std::size_t i = 0, next = 0; i < window.size(); ++i) {
    const bool is_asked = next < masked.places.size() && masked.places[next] == i;
    if (is_asked) {
      EXPECT_EQ(masked.asked[next++], window[i]);
    } else {
      EXPECT_EQ(masked.pieces[i], window[i]) << "what is not asked for stays";
    }
  }
  EXPECT_EQ(mask_pieces(window_of(1), vocabulary, 1, 0, 0).places, (std::vector<std::size_t>{1})) << "one at least";
  EXPECT_EQ(mask_pieces(window_of(10), vocabulary, 1, 0, 0).places.size(), 2u) << "rounded";
}

TEST(MaskingTest, OfTheseEightyAreMaskedTenAnythingTenAsTheyWere) {
  const Vocabulary vocabulary = numbered_words();
  const Pieces window = window_of(100);
  double masks = 0, same = 0, asked = 0;
  std::vector<int> times(window.size());
  for (std::uint64_t number = 0; number < 2000; ++number) {
    const MaskedPieces masked = mask_pieces(window, vocabulary, 7, 3, number);
    for (std::size_t i = 0; i < masked.places.size(); ++i) {
      ++times[masked.places[i]];
      masks += masked.pieces[masked.places[i]] == vocabulary.mask();
      same += masked.pieces[masked.places[i]] == masked.asked[i];
      ++asked;
    }
  }
  EXPECT_NEAR(masks / asked, 0.8, 0.01);  // of 30,000: a standard deviation is 0.0023
  EXPECT_NEAR(same / asked, 0.1, 0.01);
  EXPECT_EQ(times.front() + times.back(), 0) << "[CLS] and [SEP]";
  for (std::size_t place = 1; place + 1 < window.size(); ++place) EXPECT_NEAR(times[place], 300, 80) << place;
}

TEST(MaskingTest, TheSameNumbersGiveTheSameMasks) {
  const Vocabulary vocabulary = numbered_words();
  const Pieces window = window_of(100);
  const MaskedPieces once = mask_pieces(window, vocabulary, 1, 2, 3);
  EXPECT_EQ(mask_pieces(window, vocabulary, 1, 2, 3).pieces, once.pieces);
  EXPECT_NE(mask_pieces(window, vocabulary, 2, 2, 3).places, once.places);
  EXPECT_NE(mask_pieces(window, vocabulary, 1, 3, 3).places, once.places);
  EXPECT_NE(mask_pieces(window, vocabulary, 1, 2, 4).places, once.places);
}

TEST(MaskingTest, AWindowWithoutWordsIsAskedNothing) {
  const MaskedPieces masked = mask_pieces({2, 3, 0}, numbered_words(), 1, 0, 0);
  EXPECT_TRUE(masked.places.empty());
  EXPECT_EQ(masked.pieces, (Pieces{2, 3, 0}));
}

}  // namespace
}  // namespace bert
