// Samples of questions.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "squad/records.h"

namespace bert {
namespace {

// Articles of these sizes, mixed.
std::vector<Question> mixed_articles(const std::vector<std::size_t>& sizes) {
  std::vector<Question> questions;
  for (std::size_t i = 0; i < *std::max_element(sizes.begin(), sizes.end()); ++i) {
    for (std::size_t a = 0; a < sizes.size(); ++a) {
      if (i >= sizes[a]) continue;
      questions.push_back({});
      questions.back().title = "article " + std::to_string(a);
    }
  }
  return questions;
}

std::size_t count_of(const std::vector<Question>& questions, const std::vector<std::size_t>& numbers,
                     const char* title) {
  return static_cast<std::size_t>(
      std::count_if(numbers.begin(), numbers.end(), [&](std::size_t i) { return questions[i].title == title; }));
}

TEST(SplitTest, TakesTheShareOfEachArticle) {
  const auto questions = mixed_articles({100, 47, 3});
  const Split split = split_by_article(questions, 0.1, 1);
  EXPECT_EQ(split.sample.size(), 15u);
  EXPECT_EQ(count_of(questions, split.sample, "article 0"), 10u);
  EXPECT_EQ(count_of(questions, split.sample, "article 1"), 5u) << "4.7: the larger remainder";
  EXPECT_EQ(count_of(questions, split.sample, "article 2"), 0u);
  std::vector<std::size_t> all = split.sample;
  all.insert(all.end(), split.rest.begin(), split.rest.end());
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size(), questions.size());
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], i);
}

TEST(SplitTest, DrawsTheSameFromTheSameSeed) {
  const auto questions = mixed_articles({100, 50});
  const Split split = split_by_article(questions, 0.1, 7);
  EXPECT_EQ(split.sample, split_by_article(questions, 0.1, 7).sample);
  EXPECT_NE(split.sample, split_by_article(questions, 0.1, 8).sample);
  EXPECT_TRUE(std::is_sorted(split.sample.begin(), split.sample.end()));
}

TEST(SplitTest, DrawsEachQuestionAsOften) {
  const auto questions = mixed_articles({10});
  std::vector<int> drawn(10);
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    for (const std::size_t i : split_by_article(questions, 0.3, seed).sample) ++drawn[i];
  }
  for (const int times : drawn) EXPECT_NEAR(times, 600, 90);  // 4.4 standard deviations
}

TEST(SplitTest, TakesAllOrNothing) {
  const auto questions = mixed_articles({5, 2});
  EXPECT_EQ(split_by_article(questions, 1, 1).rest.size(), 0u);
  EXPECT_EQ(split_by_article(questions, 0, 1).sample.size(), 0u);
  EXPECT_THROW(split_by_article(questions, 1.1, 1), std::runtime_error);
  EXPECT_THROW(split_by_article(questions, -0.1, 1), std::runtime_error);
}

TEST(SplitTest, DrawsEachPairOfAllAsOften) {
  std::map<std::vector<std::size_t>, int> drawn;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const Split split = split_at_random(4, 2, seed);
    ASSERT_EQ(split.rest.size(), 2u);
    ++drawn[split.sample];
  }
  EXPECT_EQ(drawn.size(), 6u);
  for (const auto& [pair, times] : drawn) EXPECT_NEAR(times, 500, 90) << pair[0] << " and " << pair[1];
}

TEST(SplitTest, MoreThanThereAreIsAll) {
  EXPECT_EQ(split_at_random(3, 5, 1).sample, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_TRUE(split_at_random(3, 5, 1).rest.empty());
}

}  // namespace
}  // namespace bert
