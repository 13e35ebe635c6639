#include "tune/search/pruners/kendall.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace trainwarden::tune {
namespace {

double pairs_among(std::size_t count) {
  return static_cast<double>(count) * (static_cast<double>(count) - 1) / 2;
}

// How many pairs lie within runs of equal elements of a sorted range.
template <class T, class IsEqual>
double tied_pairs(const std::vector<T>& sorted, IsEqual is_equal) {
  double pairs = 0;
  for (std::size_t begin = 0, end = 0; begin < sorted.size(); begin = end) {
    while (end < sorted.size() && is_equal(sorted[begin], sorted[end])) ++end;
    pairs += pairs_among(end - begin);
  }
  return pairs;
}

// Sorts [begin, end) by merging, and counts the pairs that stood the wrong way around.
double sort_and_count(std::vector<double>& values, std::vector<double>& room, std::size_t begin, std::size_t end) {
  if (end - begin < 2) return 0;
  const std::size_t middle = begin + (end - begin) / 2;
  double count = sort_and_count(values, room, begin, middle) + sort_and_count(values, room, middle, end);
  std::size_t left = begin, right = middle;
  for (std::size_t to = begin; to < end; ++to) {
    const bool takes_left = right == end || (left < middle && values[left] <= values[right]);
    if (!takes_left) count += static_cast<double>(middle - left);
    room[to] = values[takes_left ? left++ : right++];
  }
  std::copy(room.begin() + static_cast<std::ptrdiff_t>(begin), room.begin() + static_cast<std::ptrdiff_t>(end),
            values.begin() + static_cast<std::ptrdiff_t>(begin));
  return count;
}

}  // namespace

double kendall_tau_b(std::vector<std::pair<double, double>> pairs) {
  if (!std::is_sorted(pairs.begin(), pairs.end())) std::sort(pairs.begin(), pairs.end());
  const double tied_both = tied_pairs(pairs, [](const auto& a, const auto& b) { return a == b; });
  const double tied_first = tied_pairs(pairs, [](const auto& a, const auto& b) { return a.first == b.first; });
  std::vector<double> second, room(pairs.size());
  second.reserve(pairs.size());
  for (const auto& pair : pairs) second.push_back(pair.second);
  const double discordant = sort_and_count(second, room, 0, second.size());
  const double tied_second = tied_pairs(second, [](double a, double b) { return a == b; });
  const double all = pairs_among(pairs.size());
  const double concordant = all - tied_first - tied_second + tied_both - discordant;
  const double scale = std::sqrt((all - tied_first) * (all - tied_second));
  if (!(scale > 0)) return std::numeric_limits<double>::quiet_NaN();
  return std::clamp((concordant - discordant) / scale, -1.0, 1.0);
}

}  // namespace trainwarden::tune
