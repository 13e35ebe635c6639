// Samples of questions: of each article, or of all alike.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>

#include "squad/records.h"
#include "text/drawing.h"

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

// Moves `count` of the numbers, drawn without replacement, to the front (the first steps of Fisher and Yates' shuffle),
// and adds them and the others to the split.
void add_draw(std::vector<std::size_t>& numbers, std::size_t count, std::mt19937_64& random, Split& split) {
  for (std::size_t i = 0; i < count; ++i) std::swap(numbers[i], numbers[i + draw_below(random, numbers.size() - i)]);
  const auto end = numbers.begin() + static_cast<std::ptrdiff_t>(count);
  split.sample.insert(split.sample.end(), numbers.begin(), end);
  split.rest.insert(split.rest.end(), end, numbers.end());
}

Split sorted(Split split) {
  std::sort(split.sample.begin(), split.sample.end());
  std::sort(split.rest.begin(), split.rest.end());
  return split;
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
  for (std::size_t a = 0; a < articles.size(); ++a) add_draw(articles[a], sizes[a], random, split);
  return sorted(std::move(split));
}

Split split_at_random(std::size_t questions, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::size_t> numbers(questions);
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  Split split;
  add_draw(numbers, std::min(count, questions), random, split);
  return sorted(std::move(split));
}

}  // namespace bert
