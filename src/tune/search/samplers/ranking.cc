#include "tune/search/samplers/ranking.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace trainwarden::tune {
namespace {

constexpr double kWorst = std::numeric_limits<double>::infinity();

bool is_dominated_by(const Costs& one, const Costs& other) {
  bool is_worse = false;
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (one[i] < other[i]) return false;
    is_worse |= one[i] > other[i];
  }
  return is_worse;
}

// The key of a trial; smaller is better.
struct RankKey {
  int group = 0;      // 0: feasible, 1: without a finite objective, 2: pruned, 3: infeasible, 4: ruinous
  double first = 0;   // cost or rank, -step, violation
  double second = 0;  // -crowding distance, value at the step
  std::size_t trial = 0;

  bool operator<(const RankKey& other) const {
    if (group != other.group) return group < other.group;
    if (first != other.first) return first < other.first;
    if (second != other.second) return second < other.second;
    return trial < other.trial;
  }
};

double cost_or_worst(const History& history, const StudyTrial& trial, std::size_t metric) {
  const double cost = metric < trial.values.size() ? history.metrics[metric].cost(trial.values[metric]) : kWorst;
  return std::isnan(cost) ? kWorst : cost;
}

RankKey key_of_pruned(const History& history, std::size_t trial, std::size_t objective) {
  const auto& series = history.trials[trial].series;
  if (objective >= series.size() || series[objective].empty()) return {.group = 2, .first = 1, .trial = trial};
  const Intermediate& last = series[objective].back();
  const double cost = history.metrics[objective].cost(last.value);
  return {
      .group = 2, .first = -static_cast<double>(last.step), .second = std::isnan(cost) ? kWorst : cost, .trial = trial};
}

// Of several objectives only the group: the rest follows from all of them.
RankKey key_of(const History& history, std::size_t index, std::span<const std::size_t> objectives,
               bool has_constraints) {
  const StudyTrial& trial = history.trials[index];
  if (trial.ended_by_verdict) return {.group = 4, .trial = index};
  const double violation = has_constraints ? violation_of(history, trial) : 0;
  const bool is_pruned = trial.counts_by_last_value();  // its constraints may not be known
  if (violation > 0 || (std::isnan(violation) && !is_pruned)) {
    return {.group = 3, .first = std::isnan(violation) ? kWorst : violation, .trial = index};
  }
  if (is_pruned) return key_of_pruned(history, index, objectives.empty() ? 0 : objectives[0]);
  const bool is_known = std::all_of(objectives.begin(), objectives.end(), [&](std::size_t metric) {
    return std::isfinite(cost_or_worst(history, trial, metric));
  });
  const double cost = objectives.size() == 1 ? cost_or_worst(history, trial, objectives[0]) : 0;
  return {.group = is_known ? 0 : 1, .first = is_known ? cost : 0, .trial = index};
}

// Crowding is a matter of one front.
void rank_front(const std::vector<Costs>& rows, const std::vector<RankKey*>& keys,
                const std::vector<std::size_t>& front, std::size_t rank) {
  std::vector<Costs> members;
  for (const std::size_t i : front) members.push_back(rows[i]);
  const std::vector<double> distances = crowding_distances(members);
  for (std::size_t i = 0; i < front.size(); ++i) {
    keys[front[i]]->first = static_cast<double>(rank);
    keys[front[i]]->second = -distances[i];
  }
}

void rank_fronts(const History& history, std::span<const std::size_t> objectives, std::vector<RankKey>& keys) {
  std::vector<RankKey*> feasible;
  std::vector<Costs> rows;
  for (RankKey& key : keys) {
    if (key.group != 0) continue;
    feasible.push_back(&key);
    Costs& row = rows.emplace_back();
    for (const std::size_t metric : objectives) {
      row.push_back(cost_or_worst(history, history.trials[key.trial], metric));
    }
  }
  const std::vector<std::size_t> ranks = nondominated_ranks(rows);
  std::vector<std::vector<std::size_t>> fronts;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] >= fronts.size()) fronts.resize(ranks[i] + 1);
    fronts[ranks[i]].push_back(i);
  }
  for (std::size_t rank = 0; rank < fronts.size(); ++rank) rank_front(rows, feasible, fronts[rank], rank);
}

}  // namespace

std::vector<std::size_t> nondominated_ranks(std::span<const Costs> rows) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rows[a] < rows[b]; });
  std::vector<std::vector<std::size_t>> fronts;
  std::vector<std::size_t> ranks(rows.size());
  for (const std::size_t each : order) {
    // What precedes in this order is never dominated by what follows, and a front that dominates a row has fronts
    // before it that do so as well.
    const auto dominates_each = [&](const std::vector<std::size_t>& front) {
      return std::any_of(front.rbegin(), front.rend(),
                         [&](std::size_t member) { return is_dominated_by(rows[each], rows[member]); });
    };
    const auto front = std::partition_point(fronts.begin(), fronts.end(), dominates_each);
    ranks[each] = static_cast<std::size_t>(front - fronts.begin());
    if (front == fronts.end()) fronts.emplace_back();
    fronts[ranks[each]].push_back(each);
  }
  return ranks;
}

std::vector<double> crowding_distances(std::span<const Costs> rows) {
  std::vector<double> distances(rows.size(), 0);
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t k = 0; !rows.empty() && k < rows[0].size(); ++k) {
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rows[a][k] < rows[b][k]; });
    const double range = rows[order.back()][k] - rows[order.front()][k];
    distances[order.front()] = distances[order.back()] = kWorst;
    for (std::size_t i = 1; i + 1 < order.size() && range > 0; ++i) {
      distances[order[i]] += (rows[order[i + 1]][k] - rows[order[i - 1]][k]) / range;
    }
  }
  return distances;
}

std::vector<std::size_t> best_first(const History& history, std::vector<std::size_t> trials, std::size_t count) {
  const std::vector<std::size_t> objectives = history.objectives();
  const bool has_constraints = !history.constraints().empty();
  std::vector<RankKey> keys;
  keys.reserve(trials.size());
  for (const std::size_t i : trials) keys.push_back(key_of(history, i, objectives, has_constraints));
  if (objectives.size() > 1) rank_fronts(history, objectives, keys);
  const auto end = keys.begin() + static_cast<std::ptrdiff_t>(std::min(count, keys.size()));
  std::partial_sort(keys.begin(), end, keys.end());
  keys.erase(end, keys.end());
  trials.resize(keys.size());
  std::transform(keys.begin(), keys.end(), trials.begin(), [](const RankKey& key) { return key.trial; });
  return trials;
}

}  // namespace trainwarden::tune
