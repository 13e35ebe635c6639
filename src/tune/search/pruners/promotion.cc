#include "tune/search/pruners/promotion.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "tune/search/pruners/curve.h"

namespace trainwarden::tune {
namespace {

// Cost and index of each trial that has a value at a rung, the best first.
using RungRanking = std::vector<std::pair<double, std::size_t>>;

RungRanking ranking_at(const History& history, std::size_t metric, std::int64_t rung,
                       const std::function<bool(std::size_t)>& is_member) {
  RungRanking ranking;
  for (std::size_t i = 0; i < history.trials.size(); ++i) {
    if (!is_comparable(history.trials[i]) || !is_member(i)) continue;
    const double cost = cost_at_step(history, history.trials[i], metric, rung);
    if (!std::isnan(cost)) ranking.emplace_back(cost, i);
  }
  std::sort(ranking.begin(), ranking.end());
  return ranking;
}

std::string standing_text(const History& history, std::size_t metric, std::int64_t rung, const RungRanking& ranking,
                          std::size_t place) {
  return fmt::format("{} has rank {} of {} trials there",
                     value_text(history.metrics[metric], ranking[place].first, rung), place + 1, ranking.size());
}

// "the best goes on", "the best 3 go on"
std::string who_goes_on(std::size_t count) {
  return count == 1 ? "the best goes on" : fmt::format("the best {} go on", count);
}

// Where a trial is at its end there is nothing to be saved.
bool is_end(const History& history, std::size_t metric, std::int64_t rung) {
  const auto longest = longest_complete(history, metric);
  return longest && rung >= *longest;
}

// The rungs of a group at which trials are paused, the highest first, with those trials.
using WaitingByRung = std::map<std::int64_t, std::vector<std::size_t>, std::greater<>>;

WaitingByRung waiting_of(const History& history, std::size_t metric, const RungGroup& group) {
  WaitingByRung waiting;
  for (std::size_t i = 0; i < history.trials.size(); ++i) {
    const Curve curve = curve_of(history.trials[i], metric);
    if (history.trials[i].state != TrialState::kPaused || curve.empty() || !group.is_member(i)) continue;
    if (const auto rung = group.rungs.last_at(curve.back().step)) waiting[*rung].push_back(i);
  }
  return waiting;
}

// The best of the waiting ones among the first `most` of the ranking.
std::optional<std::size_t> first_waiting(const RungRanking& ranking, const std::vector<std::size_t>& waiting,
                                         std::size_t most) {
  for (std::size_t place = 0; place < std::min(most, ranking.size()); ++place) {
    if (std::binary_search(waiting.begin(), waiting.end(), ranking[place].second)) return place;
  }
  return std::nullopt;
}

// Among the best at its rung, the highest rung first; with `any` whatever its rank.
std::optional<Promotion> promotion_of(const History& history, std::size_t metric, const RungGroup& group, bool any) {
  for (const auto& [rung, waiting] : waiting_of(history, metric, group)) {
    const RungRanking ranking = ranking_at(history, metric, rung, group.is_member);
    const std::size_t go_on = ranking.size() / static_cast<std::size_t>(group.rungs.factor);
    const bool all_go_on = is_end(history, metric, rung);
    const auto place = first_waiting(ranking, waiting, any || all_go_on ? ranking.size() : go_on);
    if (!place) continue;
    const std::string why_any = all_go_on ? "it is at its end" : "the best that waits, and none is complete";
    return Promotion{ranking[*place].second, rung,
                     fmt::format("{}: {}", standing_text(history, metric, rung, ranking, *place),
                                 any || all_go_on ? why_any : who_goes_on(go_on))};
  }
  return std::nullopt;
}

}  // namespace

PruneAnswer judge_arrival(const History& history, std::size_t trial, std::size_t metric, const Rungs& rungs,
                          std::int64_t trusted, const std::function<bool(std::size_t)>& is_rival) {
  if (PruneAnswer answer = judge_newest(history, trial, metric); answer.prune) return answer;
  const Curve curve = curve_of(history.trials[trial], metric);
  const auto rung = curve.empty() ? std::nullopt : rungs.last_at(curve.back().step);
  if (!rung || *rung < trusted || *rung <= history.trials[trial].passed_rung) return {};
  if (is_end(history, metric, *rung)) return {};
  const RungRanking ranking =
      ranking_at(history, metric, *rung, [&](std::size_t i) { return i == trial || is_rival(i); });
  const auto own = std::find_if(ranking.begin(), ranking.end(), [&](const auto& each) { return each.second == trial; });
  if (own == ranking.end()) return {};
  const auto place = static_cast<std::size_t>(own - ranking.begin());
  const std::size_t go_on = ranking.size() / static_cast<std::size_t>(rungs.factor);
  if (place < go_on) return {.why = {}, .rung = *rung};
  return {.why = fmt::format("{}; {}", standing_text(history, metric, *rung, ranking, place),
                             go_on == 0 ? fmt::format("the best of {} goes on", rungs.factor) : who_goes_on(go_on)),
          .pause = true};
}

std::optional<Promotion> best_promotion(const History& history, std::size_t metric,
                                        const std::vector<RungGroup>& groups, bool is_last) {
  const bool has_result = std::any_of(history.trials.begin(), history.trials.end(),
                                      [](const auto& each) { return each.state == TrialState::kComplete; });
  for (const bool any : {false, true}) {
    if (any && (!is_last || has_result)) continue;
    std::optional<Promotion> best;
    for (const RungGroup& group : groups) {
      auto next = promotion_of(history, metric, group, any);
      if (next && (!best || next->rung > best->rung)) best = std::move(next);
    }
    if (best) return best;
  }
  return std::nullopt;
}

}  // namespace trainwarden::tune
