#include "ui/views/metric_frame.h"

#include <cmath>

#include "core/base/rfc3339.h"
#include "core/base/text.h"
#include "data/format/json_number.h"
#include "read/trial/printed_metrics.h"
#include "store/journal/run_folder.h"

namespace trainwarden::views {
namespace {

using trial::PrintedValue;

constexpr double kNsPerSecond = 1e9;

// "rank-00003" of "output-3".
std::string host_of(const SampledMetric& metric) {
  const auto rank = parse_int(std::string_view(metric.worker).substr(metric.worker.find('-') + 1));
  return rank && *rank >= 0 && *rank < 100'000 ? journal::worker_name(static_cast<int>(*rank)) : metric.worker;
}

std::int64_t beginning_of(std::int64_t unix_ns, std::int64_t period_ns) {
  return period_ns == 0 ? unix_ns : unix_ns - unix_ns % period_ns;
}

void add_rows(const SampledMetric& metric, const std::vector<PrintedValue>& values, std::int64_t period_ns,
              std::vector<MetricRow>& rows) {
  const std::string host = host_of(metric);
  for (auto first = values.begin(); first != values.end();) {
    const std::int64_t begin = beginning_of(first->unix_ns, period_ns);
    MetricRow row{0, metric.metric.name, 0, std::nullopt, host, begin};
    auto last = first;
    for (;
         last != values.end() && (last == first || (period_ns > 0 && beginning_of(last->unix_ns, period_ns) == begin));
         ++last) {
      row.value += last->value;
      if (last->step) row.step = last->step;
    }
    row.value /= static_cast<double>(last - first);
    rows.push_back(std::move(row));
    first = last;
  }
}

void set_timestamps(std::vector<MetricRow>& rows, std::size_t first, FrameStart start, std::int64_t run_unix_ns) {
  for (std::size_t i = first; i < rows.size(); ++i) {
    const std::int64_t zero = start == FrameStart::kMetric ? rows[first].unix_ns
                              : start == FrameStart::kRun  ? run_unix_ns
                                                           : 0;
    rows[i].timestamp = static_cast<double>(rows[i].unix_ns - zero) / kNsPerSecond;
  }
}

}  // namespace

std::optional<FrameStart> parse_frame_start(std::string_view text) {
  if (text == "metric") return FrameStart::kMetric;
  if (text == "job") return FrameStart::kRun;
  if (text == "none") return FrameStart::kEpoch;
  return std::nullopt;
}

Result<std::vector<MetricRow>> read_metric_frame(Trial& trial, const MetricFrameQuestion& question) {
  const auto period_ns = static_cast<std::int64_t>(std::llround(question.period_seconds * kNsPerSecond));
  std::vector<MetricRow> rows;
  for (const SampledMetric& metric : trial::printed_metrics(trial)) {
    const std::size_t first = rows.size();
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto values, trial::printed_values(trial, metric));
    add_rows(metric, values, period_ns, rows);
    set_timestamps(rows, first, question.start, trial.created_unix_ns());
  }
  return rows;
}

format::OrderedJson frame_json(const std::vector<MetricRow>& rows, bool full) {
  format::OrderedJson list = format::OrderedJson::array();
  for (const MetricRow& row : rows) {
    format::OrderedJson json = {
        {"timestamp", row.timestamp}, {"metric_name", row.metric}, {"value", format::json_number(row.value)}};
    if (full) {
      json["step"] = row.step ? format::OrderedJson(*row.step) : format::OrderedJson();
      json["host"] = row.host;
      json["time"] = format_rfc3339(row.unix_ns, 3);
    }
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace trainwarden::views
