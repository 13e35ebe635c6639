#include "tune/search/pruners/signed_ranks.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tune/search/normal.h"

namespace trainwarden::tune {
namespace {

// Twice its rank, which is whole also where ranks are shared, of a difference that is not 0.
struct SignedRank {
  std::size_t doubled_rank;
  bool is_above;
};

std::vector<SignedRank> signed_ranks(std::vector<double> differences) {
  std::sort(differences.begin(), differences.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
  std::vector<SignedRank> ranks;
  for (std::size_t begin = 0, end = 0; begin < differences.size(); begin = end) {
    while (end < differences.size() && std::abs(differences[end]) == std::abs(differences[begin])) ++end;
    if (differences[begin] == 0) continue;
    for (std::size_t i = begin; i < end; ++i) ranks.push_back({begin + end + 1, differences[i] > 0});
  }
  return ranks;
}

// Of all ways to choose signs, the share with a sum of ranks above 0 of `sum` or more.
double exact_p(const std::vector<SignedRank>& ranks, std::size_t sum) {
  std::vector<double> ways = {1};  // by the sum
  for (const SignedRank& each : ranks) {
    ways.resize(ways.size() + each.doubled_rank);
    for (std::size_t i = ways.size(); i-- > each.doubled_rank;) ways[i] += ways[i - each.doubled_rank];
  }
  double tail = 0;
  for (std::size_t i = sum; i < ways.size(); ++i) tail += ways[i];
  return tail / std::exp2(static_cast<double>(ranks.size()));
}

// What differences of 0 add to each side is certain, so that mean and variance are those of the other ranks.
double approximate_p(const std::vector<SignedRank>& ranks, std::size_t sum) {
  double mean = 0, variance = 0;
  for (const SignedRank& each : ranks) {
    const double rank = static_cast<double>(each.doubled_rank) / 2;
    mean += rank / 2;
    variance += rank * rank / 4;
  }
  return normal_cdf(-(static_cast<double>(sum) / 2 - mean - 0.5) / std::sqrt(variance));
}

}  // namespace

double signed_rank_p(const std::vector<double>& differences) {
  const std::vector<SignedRank> ranks = signed_ranks(differences);
  if (ranks.empty()) return 1;
  std::size_t sum = 0;
  for (const SignedRank& each : ranks) sum += each.is_above ? each.doubled_rank : 0;
  return differences.size() < kMinApproximated ? exact_p(ranks, sum) : approximate_p(ranks, sum);
}

}  // namespace trainwarden::tune
