#include "tune/search/pruners/rungs.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tune/search/pruners/curve.h"

namespace trainwarden::tune {

std::optional<std::int64_t> Rungs::last_at(std::int64_t step) const {
  if (step < first) return std::nullopt;
  std::int64_t rung = first;
  while (rung <= step / factor) rung *= factor;
  return rung;
}

Rungs Rungs::without(std::int64_t count) const {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  Rungs rest = *this;
  for (std::int64_t i = 0; i < count && rest.first < kLargest; ++i) {
    rest.first = rest.first <= kLargest / factor ? rest.first * factor : kLargest;
  }
  return rest;
}

std::optional<std::int64_t> least_rung(const History& history, std::size_t metric) {
  const auto longest = longest_complete(history, metric);
  if (!longest) return std::nullopt;
  return std::max<std::int64_t>(*longest / 100, 1);
}

PruneAnswer judge_at_rung(const History& history, std::size_t trial, std::size_t metric, const Rungs& rungs,
                          std::int64_t trusted, const std::function<bool(std::size_t)>& is_rival) {
  if (PruneAnswer answer = judge_newest(history, trial, metric); answer.prune) return answer;
  const Curve curve = curve_of(history.trials[trial], metric);
  if (curve.empty()) return {};
  const auto rung = rungs.last_at(curve.back().step);
  if (!rung || *rung < trusted) return {};
  const double own = cost_at_step(history, history.trials[trial], metric, *rung);
  if (std::isnan(own)) return {};
  std::int64_t count = 1, better = 0;
  for (std::size_t i = 0; i < history.trials.size(); ++i) {
    if (i == trial || !is_comparable(history.trials[i]) || !is_rival(i)) continue;
    const double cost = cost_at_step(history, history.trials[i], metric, *rung);
    if (std::isnan(cost)) continue;
    ++count;
    if (cost < own) ++better;
  }
  const std::int64_t go_on = std::max<std::int64_t>(count / rungs.factor, 1);
  if (better < go_on) return {};
  return {true,
          fmt::format("{} has rank {} of {} trials there; {} on", value_text(history.metrics[metric], own, *rung),
                      better + 1, count, go_on == 1 ? "only the best goes" : fmt::format("the best {} go", go_on))};
}

}  // namespace trainwarden::tune
