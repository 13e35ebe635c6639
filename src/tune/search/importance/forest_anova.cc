#include "tune/search/importance/forest_anova.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tune/search/importance/importance_streams.h"
#include "tune/search/importance/regression_tree.h"
#include "tune/search/importance/tree_variance.h"

namespace trainwarden::tune {
namespace {

constexpr std::size_t kRounds = 48, kTreesPerHalf = 4;
constexpr double kMinLeafWeight = 3, kMaxLeaves = 48;

using TreeTrials = std::vector<RegressionTree::Trial>;

// A value for each parameter of each trial.
FilledCells filled(const ImportanceSample& sample, Random& random) {
  FilledCells cells;
  for (const ParameterCells& parameter : sample.parameters) {
    cells.push_back(parameter.cells());
    for (std::uint8_t& cell : cells.back()) {
      if (cell == kNoCell) cell = static_cast<std::uint8_t>(random.weighted(parameter.shares()));
    }
  }
  return cells;
}

struct ForestDraw {
  TreeTrials halves[2];
  std::vector<std::size_t> rest;  // not drawn
};

ForestDraw draw_halves(std::size_t trials, Random& random) {
  std::vector<double> times(trials, 0);
  for (std::size_t i = 0; i < trials; ++i) times[random.below(trials)] += 1;
  ForestDraw draw;
  for (std::size_t i = 0; i < trials; ++i) {
    if (times[i] == 0) {
      draw.rest.push_back(i);
    } else {
      draw.halves[random.bits() >> 63].push_back({i, times[i]});
    }
  }
  return draw;
}

// What trees say of trials that they have not seen.
class HeldOutPredictions {
 public:
  explicit HeldOutPredictions(std::size_t trials) : sums_(trials, 0), counts_(trials, 0) {}

  void add(const std::vector<RegressionTree>& trees, const FilledCells& cells, const std::vector<std::size_t>& trials) {
    for (const std::size_t trial : trials) {
      for (const RegressionTree& tree : trees) sums_[trial] += tree.predict(cells, trial);
      counts_[trial] += static_cast<double>(trees.size());
    }
  }

  double r2(const std::vector<double>& costs) const {
    double error = 0, variance = 0;
    const double mean = std::accumulate(costs.begin(), costs.end(), 0.0) / static_cast<double>(costs.size());
    for (std::size_t i = 0; i < costs.size(); ++i) {
      const double missed = counts_[i] > 0 ? costs[i] - sums_[i] / counts_[i] : costs[i] - mean;
      error += missed * missed;
      variance += (costs[i] - mean) * (costs[i] - mean);
    }
    return variance > 0 ? 1 - error / variance : 0;
  }

 private:
  std::vector<double> sums_, counts_;
};

std::vector<RegressionTree> grow_trees(const ImportanceSample& sample, const FilledCells& cells,
                                       const TreeTrials& trials, Random& random) {
  const double weight =
      std::accumulate(trials.begin(), trials.end(), 0.0,
                      [](double sum, const RegressionTree::Trial& each) { return sum + each.weight; });
  const double min_weight = std::max(kMinLeafWeight, weight / kMaxLeaves);
  std::vector<RegressionTree> trees;
  for (std::size_t i = 0; i < kTreesPerHalf; ++i) trees.emplace_back(sample, cells, trials, min_weight, random);
  return trees;
}

TreeVariance covariance_of(const ImportanceSample& sample, const std::vector<RegressionTree>& one,
                           const std::vector<RegressionTree>& other, double mean) {
  TreeVariance variance(sample.parameters.size());
  const double factor = 1 / static_cast<double>(one.size() * other.size());
  std::vector<std::vector<TreeLeaf>> leaves;
  for (const RegressionTree& tree : other) leaves.push_back(tree.leaves());
  for (const RegressionTree& tree : one) {
    const std::vector<TreeLeaf> own = tree.leaves();
    for (const auto& each : leaves) add_covariance(sample, own, each, mean, factor, variance);
  }
  return variance;
}

// The same part of each round.
template <class Part>
ImportanceShare share_of_rounds(const std::vector<TreeVariance>& rounds, double total, const Part& part) {
  std::vector<double> shares;
  for (const TreeVariance& round : rounds) shares.push_back(part(round) / total);
  const double mean = std::accumulate(shares.begin(), shares.end(), 0.0) / static_cast<double>(shares.size());
  return share_of(mean, std::move(shares));
}

void take_pairs(const std::vector<TreeVariance>& rounds, double total, ForestAnova& forest) {
  const std::size_t parameters = forest.single.size();
  for (std::size_t i = 0; i < parameters; ++i) {
    for (std::size_t k = i + 1; k < parameters; ++k) {
      const auto part = [&](const TreeVariance& round) { return round.pair(i, k); };
      forest.pairs.push_back({i, k, share_of_rounds(rounds, total, part)});
    }
  }
  std::stable_sort(forest.pairs.begin(), forest.pairs.end(),
                   [](const PairShare& a, const PairShare& b) { return a.share.importance > b.share.importance; });
  forest.pairs.resize(std::min(forest.pairs.size(), kMaxImportancePairs));
}

// Parts that chance made negative count as none, so that the others may be more than all.
void hold_to_one(ForestAnova& forest) {
  double sum = 0;
  for (const ImportanceShare& share : forest.single) sum += share.importance;
  for (const PairShare& pair : forest.pairs) sum += pair.share.importance;
  if (sum <= 1) return;
  for (ImportanceShare& share : forest.single) share = scaled(share, 1 / sum);
  for (PairShare& pair : forest.pairs) pair.share = scaled(pair.share, 1 / sum);
}

}  // namespace

ForestAnova forest_anova(const ImportanceSample& sample, std::uint64_t seed) {
  const double mean =
      std::accumulate(sample.costs.begin(), sample.costs.end(), 0.0) / static_cast<double>(sample.trials());
  Random random(seed, kForestStream);
  HeldOutPredictions predictions(sample.trials());
  std::vector<TreeVariance> rounds;
  for (std::size_t round = 0; round < kRounds; ++round) {
    const FilledCells cells = filled(sample, random);
    const ForestDraw draw = draw_halves(sample.trials(), random);
    if (draw.halves[0].empty() || draw.halves[1].empty()) continue;
    const auto one = grow_trees(sample, cells, draw.halves[0], random);
    const auto other = grow_trees(sample, cells, draw.halves[1], random);
    predictions.add(one, cells, draw.rest);
    predictions.add(other, cells, draw.rest);
    rounds.push_back(covariance_of(sample, one, other, mean));
  }
  ForestAnova forest;
  forest.r2 = predictions.r2(sample.costs);
  double total = 0;
  for (const TreeVariance& round : rounds) total += round.total / static_cast<double>(rounds.size());
  forest.is_trusted = forest.r2 >= kMinTrustedR2 && total > 0;
  if (!forest.is_trusted) return forest;
  for (std::size_t i = 0; i < sample.parameters.size(); ++i) {
    forest.single.push_back(share_of_rounds(rounds, total, [&](const TreeVariance& round) { return round.single[i]; }));
  }
  take_pairs(rounds, total, forest);
  hold_to_one(forest);
  return forest;
}

}  // namespace trainwarden::tune
