#include "tune/search/importance/regression_tree.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace trainwarden::tune {
namespace {

constexpr int kMaxDepth = 16;
constexpr double kSplitParameters = 2.0 / 3;  // the part of the parameters that a node looks at

struct CellSums {
  std::array<double, kMaxCells> weights{}, sums{};
};

CellSet up_to(std::size_t cell) {
  return ~CellSet{0} >> (kMaxCells - 1 - cell);
}

// The cells that have trials, in the order in which they are parted.
std::vector<std::size_t> order_of(const ParameterCells& cells, const CellSums& sums) {
  std::vector<std::size_t> order;
  for (std::size_t cell = 0; cell < cells.count(); ++cell) {
    if (sums.weights[cell] > 0) order.push_back(cell);
  }
  if (!cells.is_ordered()) {
    const auto mean = [&](std::size_t cell) { return sums.sums[cell] / sums.weights[cell]; };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return mean(a) < mean(b); });
  }
  return order;
}

// The cells left of a split after order[last]. Cells without a trial: in the middle between two that have some, and of
// choices on the side that weighs more.
CellSet left_of(const ParameterCells& cells, const std::vector<std::size_t>& order, std::size_t last,
                bool is_left_heavy) {
  if (cells.is_ordered()) return up_to((order[last] + order[last + 1]) / 2);
  CellSet left = 0, right = 0;
  for (std::size_t i = 0; i < order.size(); ++i) (i <= last ? left : right) |= CellSet{1} << order[i];
  return is_left_heavy ? cells.all() & ~right : left;
}

}  // namespace

// What all nodes of a tree need while it grows.
struct RegressionTree::Growth {
  const FilledCells& cells;
  std::vector<Trial> trials;  // of a node: a range
  double min_weight;
  Random& random;
  std::vector<std::size_t> parameters;  // all of them, in any order

  CellSums sums_of(const ImportanceSample& sample, std::size_t parameter, std::size_t first, std::size_t end) const {
    CellSums sums;
    for (std::size_t i = first; i < end; ++i) {
      const std::uint8_t cell = cells[parameter][trials[i].index];
      sums.weights[cell] += trials[i].weight;
      sums.sums[cell] += trials[i].weight * sample.costs[trials[i].index];
    }
    return sums;
  }

  Split split_of(const ImportanceSample& sample, std::size_t parameter, std::size_t first, std::size_t end) const {
    const ParameterCells& own = sample.parameters[parameter];
    const CellSums sums = sums_of(sample, parameter, first, end);
    const std::vector<std::size_t> order = order_of(own, sums);
    const double weight = std::accumulate(sums.weights.begin(), sums.weights.end(), 0.0);
    const double sum = std::accumulate(sums.sums.begin(), sums.sums.end(), 0.0);
    Split best{.parameter = parameter};
    double left = 0, left_sum = 0;
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
      left += sums.weights[order[i]];
      left_sum += sums.sums[order[i]];
      const double right = weight - left, right_sum = sum - left_sum;
      if (left < min_weight || right < min_weight) continue;
      const double gain = left_sum * left_sum / left + right_sum * right_sum / right - sum * sum / weight;
      if (gain > best.gain) best = {parameter, left_of(own, order, i, left > right), gain};
    }
    return best;
  }

  Split best_split(const ImportanceSample& sample, std::size_t first, std::size_t end) {
    const std::size_t count = parameters.size();
    const auto looked_at = static_cast<std::size_t>(kSplitParameters * static_cast<double>(count)) + 1;
    Split best;
    for (std::size_t i = 0; i < std::min(looked_at, count); ++i) {
      std::swap(parameters[i], parameters[i + random.below(count - i)]);
      const Split split = split_of(sample, parameters[i], first, end);
      if (split.gain > best.gain) best = split;
    }
    return best;
  }
};

RegressionTree::RegressionTree(const ImportanceSample& sample, const FilledCells& cells, std::vector<Trial> trials,
                               double min_weight, Random& random)
    : sample_(&sample) {
  Growth growth{cells, std::move(trials), min_weight, random, {}};
  growth.parameters.resize(sample.parameters.size());
  std::iota(growth.parameters.begin(), growth.parameters.end(), std::size_t{0});
  grow(growth, 0, growth.trials.size(), 0);
}

std::size_t RegressionTree::grow(Growth& growth, std::size_t first, std::size_t end, int depth) {
  const std::size_t own = nodes_.size();
  double weight = 0, sum = 0;
  for (std::size_t i = first; i < end; ++i) {
    weight += growth.trials[i].weight;
    sum += growth.trials[i].weight * sample_->costs[growth.trials[i].index];
  }
  nodes_.push_back({.value = sum / weight});
  if (depth == kMaxDepth || weight < 2 * growth.min_weight) return own;
  const Split split = growth.best_split(*sample_, first, end);
  if (split.left_cells == 0) return own;
  const auto begin = growth.trials.begin();
  const auto middle = std::partition(
      begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(end),
      [&](const Trial& trial) { return (split.left_cells >> growth.cells[split.parameter][trial.index] & 1) != 0; });
  const auto part = static_cast<std::size_t>(middle - begin);
  nodes_[own].parameter = split.parameter;
  nodes_[own].left_cells = split.left_cells;
  const std::size_t left = grow(growth, first, part, depth + 1);
  const std::size_t right = grow(growth, part, end, depth + 1);
  nodes_[own].left = left;
  nodes_[own].right = right;
  return own;
}

double RegressionTree::predict(const FilledCells& cells, std::size_t trial) const {
  std::size_t at = 0;
  while (nodes_[at].left != 0) {
    const bool is_left = (nodes_[at].left_cells >> cells[nodes_[at].parameter][trial] & 1) != 0;
    at = is_left ? nodes_[at].left : nodes_[at].right;
  }
  return nodes_[at].value;
}

std::vector<TreeLeaf> RegressionTree::leaves() const {
  std::vector<TreeLeaf> leaves;
  std::vector<LeafSide> sides;
  add_leaves(0, sides, leaves);
  return leaves;
}

void RegressionTree::add_leaves(std::size_t node, std::vector<LeafSide>& sides, std::vector<TreeLeaf>& leaves) const {
  const Node& own = nodes_[node];
  if (own.left == 0) {
    TreeLeaf leaf{.value = own.value, .volume = 1, .sides = sides};
    for (LeafSide& side : leaf.sides) {
      side.share = sample_->parameters[side.parameter].share_of(side.cells);
      leaf.volume *= side.share;
    }
    leaves.push_back(std::move(leaf));
    return;
  }
  const auto place = std::lower_bound(sides.begin(), sides.end(), own.parameter,
                                      [](const LeafSide& side, std::size_t i) { return side.parameter < i; }) -
                     sides.begin();
  const auto at = static_cast<std::size_t>(place);
  const bool is_new = at == sides.size() || sides[at].parameter != own.parameter;
  if (is_new) sides.insert(sides.begin() + place, LeafSide{own.parameter, sample_->parameters[own.parameter].all(), 1});
  const CellSet whole = sides[at].cells;
  sides[at].cells = whole & own.left_cells;
  add_leaves(own.left, sides, leaves);
  sides[at].cells = whole & ~own.left_cells;
  add_leaves(own.right, sides, leaves);
  sides[at].cells = whole;
  if (is_new) sides.erase(sides.begin() + place);
}

}  // namespace trainwarden::tune
