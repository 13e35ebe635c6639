#include "tune/conduct/trial_metrics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"

namespace trainwarden::tune {
namespace {

// The last value of each metric that the end does not name.
void complete_metrics(const History& history, const TrialLook& look, TrialEnd& end) {
  for (const StudyMetric& metric : history.metrics) {
    const auto series = look.series.find(metric.name);
    if (end.metrics.contains(metric.name) || series == look.series.end() || series->second.empty()) continue;
    end.metrics[metric.name] = series->second.back().value;
  }
}

// A trial without a metric that counts has failed, and says what it has in its place.
void fail_without_metric(const History& history, const TrialLook& look, TrialEnd& end) {
  if (end.state != TrialState::kComplete) return;
  for (const StudyMetric& metric : history.metrics) {
    if (metric.strategy == Strategy::kStore || end.metrics.contains(metric.name)) continue;
    end.state = TrialState::kFailed;
    end.why = look.known.empty()
                  ? fmt::format("it has no metric {}, and no other", metric.name)
                  : fmt::format("it has no metric {}{}; it has {}", metric.name, did_you_mean(metric.name, look.known),
                                printable(fmt::format("{}", fmt::join(look.known, ", "))));
    return;
  }
}

}  // namespace

void complete_trial(const History& history, const TrialLook& look, TrialEnd& end) {
  complete_metrics(history, look, end);
  fail_without_metric(history, look, end);
}

TrialLook last_look(const History& history, std::size_t trial) {
  TrialLook look;
  for (std::size_t i = 0; i < history.metrics.size(); ++i) {
    look.series[history.metrics[i].name] = history.trials[trial].series[i];
  }
  return look;
}

}  // namespace trainwarden::tune
