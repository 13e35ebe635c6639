#include "ui/views/metric_series.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "read/trial/printed_metrics.h"

namespace trainwarden::views {
namespace {

using trial::PrintedValue;

// What is known of one metric so far.
class KeptMetric {
 public:
  SeriesPyramid pyramid;
  bool counted = false;
  std::int64_t next_unix_ns = std::numeric_limits<std::int64_t>::min();

  // False when the steps do not go on: all is to be read anew.
  bool take(const std::vector<PrintedValue>& values) {
    if (!counted && std::any_of(values.begin(), values.end(), [](const auto& value) { return !value.step; }))
      return false;
    for (const PrintedValue& value : values) {
      const auto last = pyramid.size() == 0 ? 0 : pyramid.step(pyramid.size() - 1);
      const std::int64_t step = counted ? last + 1 : *value.step;
      if (pyramid.size() > 0 && step <= last) return false;
      pyramid.append(step, value.unix_ns, value.value);
    }
    if (!values.empty()) next_unix_ns = values.back().unix_ns + 1;
    return true;
  }

  void take_anew(const std::vector<PrintedValue>& values) {
    *this = {};
    counted = std::any_of(values.begin(), values.end(), [](const auto& value) { return !value.step; });
    std::map<std::int64_t, const PrintedValue*> by_step;
    std::int64_t number = 0;
    for (const PrintedValue& value : values) by_step[counted ? ++number : *value.step] = &value;
    for (const auto& [step, value] : by_step) pyramid.append(step, value->unix_ns, value->value);
    if (!values.empty()) next_unix_ns = values.back().unix_ns + 1;
  }
};

struct MetricMemory {
  std::map<std::string, KeptMetric, std::less<>> kept;  // by id
};

Result<MetricChoice> find_choice(const OpenRun::Use& run, std::string_view id) {
  std::vector<MetricChoice> choices = metric_choices(run.trial());
  const auto found = std::find_if(choices.begin(), choices.end(), [&](const auto& choice) { return choice.id == id; });
  if (found != choices.end()) return std::move(*found);
  return Status(Code::kNotFound, fmt::format("run \"{}\" has no series of id \"{}\"; series/choices has the ids",
                                             printable(run.run().name()), printable(id)));
}

Result<const KeptMetric*> read_on(const OpenRun::Use& run, const MetricChoice& choice) {
  KeptMetric& kept = run.memory<MetricMemory>().kept[choice.id];
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto news, trial::printed_values(run.trial(), choice.metric, kept.next_unix_ns));
  if (kept.take(news)) return &kept;
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto all, trial::printed_values(run.trial(), choice.metric));
  kept.take_anew(all);
  return &kept;
}

}  // namespace

std::vector<MetricChoice> metric_choices(const Trial& trial) {
  const std::vector<SampledMetric> metrics = trial::printed_metrics(trial);
  std::map<std::string, int> of_name;
  for (const SampledMetric& metric : metrics) ++of_name[metric.metric.name];
  std::vector<MetricChoice> choices;
  for (const SampledMetric& metric : metrics) {
    const std::string& name = metric.metric.name;
    // A tensor's name has no line feed in front.
    choices.push_back({tensor_id_of("\n" + metric.worker + "\n" + name),
                       of_name[name] > 1 ? fmt::format("{} ({})", name, metric.worker) : name, metric});
  }
  return choices;
}

Result<Series> read_metric_series(const OpenRun::Use& run, std::string_view id, const SeriesQuestion& question) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const MetricChoice choice, find_choice(run, id));
  TRAINWARDEN_ASSIGN_OR_RETURN(const KeptMetric* const kept, read_on(run, choice));
  Series series;
  series.name = choice.name;
  series.worker = choice.metric.worker;
  series.counted = kept->counted;
  cut_series(kept->pyramid, question, series);
  return series;
}

}  // namespace trainwarden::views
