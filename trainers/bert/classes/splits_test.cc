#include "classes/splits.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include <gtest/gtest.h>

namespace bert {
namespace {

// 60 texts of "a" and 20 of "b".
std::vector<LabelledText> lopsided() {
  std::vector<LabelledText> texts;
  for (int i = 0; i < 80; ++i) texts.push_back({"text " + std::to_string(i), i % 4 == 0 ? "b" : "a"});
  return texts;
}

std::size_t count_of(const std::vector<const LabelledText*>& part, const std::string& label) {
  return static_cast<std::size_t>(
      std::count_if(part.begin(), part.end(), [&](const LabelledText* text) { return text->label == label; }));
}

TEST(SplitsTest, EachClassIsPartedByTheSameFractions) {
  const auto texts = lopsided();
  const Splits splits = split_texts(texts, {.train = 0.8, .validation = 0.15, .test = 0.05});
  EXPECT_EQ(count_of(splits.train, "a"), 48u);
  EXPECT_EQ(count_of(splits.train, "b"), 16u);
  EXPECT_EQ(count_of(splits.validation, "a"), 9u);
  EXPECT_EQ(count_of(splits.validation, "b"), 3u);
  EXPECT_EQ(count_of(splits.test, "a"), 3u);
  EXPECT_EQ(count_of(splits.test, "b"), 1u);
  std::set<const LabelledText*> all;
  for (const auto* part : {&splits.train, &splits.validation, &splits.test}) all.insert(part->begin(), part->end());
  EXPECT_EQ(all.size(), texts.size()) << "no text is in two parts";
}

TEST(SplitsTest, TheSeedDecides) {
  const auto texts = lopsided();
  const SplitOptions half{.train = 0.5, .validation = 0.5, .test = 0, .seed = 1};
  SplitOptions other = half;
  other.seed = 2;
  EXPECT_EQ(split_texts(texts, half).train, split_texts(texts, half).train);
  EXPECT_NE(split_texts(texts, half).train, split_texts(texts, other).train);
  EXPECT_EQ(split_texts(texts, half).train.front()->text, "text 1") << "the same on every machine";
}

TEST(SplitsTest, ClassesAreBalancedWhereItIsAskedFor) {
  const auto texts = lopsided();
  const SplitOptions train{.train = 0.8, .validation = 0.2, .test = 0, .balance = Balance::kTrain};
  const Splits of_train = split_texts(texts, train);
  EXPECT_EQ(count_of(of_train.train, "a"), 16u);
  EXPECT_EQ(count_of(of_train.train, "b"), 16u);
  EXPECT_EQ(count_of(of_train.validation, "a"), 12u) << "judged on texts as they are";
  SplitOptions everything = train;
  everything.balance = Balance::kAll;
  const Splits of_all = split_texts(texts, everything);
  EXPECT_EQ(count_of(of_all.train, "a"), 16u);
  EXPECT_EQ(count_of(of_all.validation, "a"), 4u);
  EXPECT_EQ(count_of(of_all.validation, "b"), 4u);
}

TEST(SplitsTest, FractionsThatAreNotOneAreTold) {
  const auto texts = lopsided();
  EXPECT_THROW(split_texts(texts, {.train = 0.8, .validation = 0.1, .test = 0.05}), std::runtime_error);
  EXPECT_THROW(split_texts(texts, {.train = 1.1, .validation = -0.1, .test = 0}), std::runtime_error);
  EXPECT_THROW(split_texts(texts, {.train = 0, .validation = 0.5, .test = 0.5}), std::runtime_error);
}

}  // namespace
}  // namespace bert
