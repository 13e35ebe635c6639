// A sample of the questions of each article.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <stdexcept>

#include "squad/records.h"

namespace bert {
namespace {

// Numbers of the questions of each article, articles in the order of their titles.
std::vector<std::vector<std::size_t>> numbers_by_article(const std::vector<Question>& questions) {
  std::map<std::string_view, std::vector<std::size_t>> articles;
  for (std::size_t i = 0; i < questions.size(); ++i) articles[questions[i].title].push_back(i);
  std::vector<std::vector<std::size_t>> numbers;
  for (auto& [title, of_article] : articles) numbers.push_back(std::move(of_article));
  return numbers;
}

// How many of each article, by largest remainders (Hamilton's method).
std::vector<std::size_t> sizes_of_samples(const std::vector<std::vector<std::size_t>>& articles, double share,
                                          std::size_t all) {
  std::vector<std::size_t> sizes, order(articles.size());
  std::vector<double> remainders;
  for (const auto& article : articles) {
    const double wanted = share * static_cast<double>(article.size());
    sizes.push_back(static_cast<std::size_t>(wanted));
    remainders.push_back(wanted - std::floor(wanted));
  }
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  const auto total = static_cast<std::size_t>(std::llround(share * static_cast<double>(all)));
  std::size_t missing = total - std::min(total, std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}));
  for (const std::size_t article : order) {
    if (missing == 0) break;
    if (sizes[article] == articles[article].size()) continue;
    ++sizes[article];
    --missing;
  }
  return sizes;
}

// From [0, count), without bias; std::uniform_int_distribution is another one in each library.
std::size_t draw_below(std::mt19937_64& random, std::size_t count) {
  const std::uint64_t bound = std::mt19937_64::max() - std::mt19937_64::max() % count;
  std::uint64_t drawn = random();
  while (drawn >= bound) drawn = random();
  return static_cast<std::size_t>(drawn % count);
}

}  // namespace

Split split_by_article(const std::vector<Question>& questions, double share, std::uint64_t seed) {
  if (!(share >= 0 && share <= 1)) {
    throw std::runtime_error("expected a share of the questions from 0 to 1, found " + std::to_string(share));
  }
  std::mt19937_64 random(seed);
  Split split;
  auto articles = numbers_by_article(questions);
  const std::vector<std::size_t> sizes = sizes_of_samples(articles, share, questions.size());
  for (std::size_t a = 0; a < articles.size(); ++a) {
    auto& article = articles[a];
    for (std::size_t i = 0; i < sizes[a]; ++i)
      std::swap(article[i], article[i + draw_below(random, article.size() - i)]);
    const auto end = article.begin() + static_cast<std::ptrdiff_t>(sizes[a]);
    split.sample.insert(split.sample.end(), article.begin(), end);
    split.rest.insert(split.rest.end(), end, article.end());
  }
  std::sort(split.sample.begin(), split.sample.end());
  std::sort(split.rest.begin(), split.rest.end());
  return split;
}

}  // namespace bert
