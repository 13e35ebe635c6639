#include "ui/cli/reports/metric_trial.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/text.h"
#include "ui/cli/terminal/table.h"

namespace trainwarden::cli {
namespace {

// A log is untrusted: what it calls a metric may be anything.
constexpr std::size_t kMaxMetrics = 256;
constexpr std::size_t kMaxShownBytes = 80;

std::string beginning_of(std::string_view record) {
  std::u32string points = to_utf32(record.substr(0, 4 * kMaxShownBytes));
  if (points.size() <= kMaxShownBytes) return std::string(record);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < kMaxShownBytes; ++i) {
    bytes += points[i] < 0x80 ? 1 : points[i] < 0x800 ? 2 : points[i] < 0x10000 ? 3 : 4;
  }
  return std::string(record.substr(0, bytes)) + "...";
}

std::string number_or_dash(std::uint64_t count, double value) {
  return count == 0 ? "-" : format_number(value);
}

OrderedJson counts_json(const log_metrics::MetricCounts& counts) {
  return {{"parse_errors", counts.parse_errors},
          {"first_unreadable", counts.first_unreadable},
          {"given_up", counts.given_up},
          {"switched_off", counts.switched_off}};
}

}  // namespace

Result<MetricTrial> MetricTrial::create(std::optional<log_metrics::DefinitionSet> definitions, std::size_t max_values) {
  TRAINWARDEN_ASSIGN_OR_RETURN(log_metrics::MetricFinder finder,
                               log_metrics::MetricFinder::create(std::move(definitions)));
  return MetricTrial(std::move(finder), max_values);
}

MetricTrial::MetricTrial(log_metrics::MetricFinder finder, std::size_t max_values)
    : finder_(std::move(finder)), max_values_(max_values) {}

log_metrics::RecordSplitter::Sink MetricTrial::sink() {
  return [this](const log_metrics::LogRecord& record) { take_record(record); };
}

void MetricTrial::append(std::string_view bytes) {
  splitter_.append(bytes, sink());
}

void MetricTrial::finish() {
  splitter_.finish(sink());
}

void MetricTrial::take_record(const log_metrics::LogRecord& record) {
  ++records_;
  cut_records_ += record.cut ? 1 : 0;
  for (const log_metrics::FoundValue& value : finder_.read(record.text)) {
    take_value(record, value.metric, std::string(value.found_by), value.value, value.step);
  }
}

void MetricTrial::take_value(const log_metrics::LogRecord& record, const std::string& metric,
                             const std::string& found_by, double value, std::optional<std::int64_t> step) {
  auto known = summaries_.find(metric);
  if (known == summaries_.end()) {
    if (summaries_.size() >= kMaxMetrics) {
      ++lost_metrics_;
      return;
    }
    known = summaries_.emplace(metric, Summary{.found_by = found_by}).first;
    order_.push_back(metric);
  }
  ++count_;
  Summary& summary = known->second;
  if (summary.count++ == 0) summary.first = value;
  summary.last = value;
  if (!std::isfinite(value)) {
    ++summary.not_finite;
  } else {
    const bool is_first = summary.count - summary.not_finite == 1;
    summary.min = is_first ? value : std::min(summary.min, value);
    summary.max = is_first ? value : std::max(summary.max, value);
  }
  if (values_.size() < max_values_) values_.push_back({record.line, metric, value, step, beginning_of(record.text)});
}

std::vector<std::string> MetricTrial::metrics() const {
  if (finder_.definitions() == nullptr) return order_;
  std::vector<std::string> names;
  for (const log_metrics::MetricDefinition& definition : finder_.definitions()->definitions().definitions) {
    names.push_back(definition.name);
  }
  return names;
}

bool MetricTrial::found_all() const {
  if (finder_.definitions() == nullptr) return count_ > 0;
  const auto& counts = finder_.definitions()->counts();
  return std::all_of(counts.begin(), counts.end(), [](const auto& one) { return one.values > 0; });
}

std::string MetricTrial::values_text() const {
  if (values_.empty()) return "";
  Table table({{"LINE", Align::kRight}, {"METRIC"}, {"VALUE", Align::kRight}, {"STEP", Align::kRight}, {"RECORD"}});
  for (const Value& value : values_) {
    table.add_row({std::to_string(value.line), value.metric, format_number(value.value),
                   value.step ? std::to_string(*value.step) : "-", value.record});
  }
  std::string text = table.to_string();
  if (count_ > values_.size()) text += fmt::format("and {} more (--values N shows more)\n", count_ - values_.size());
  return text + "\n";
}

std::string MetricTrial::metrics_text() const {
  Table table({{"METRIC"},
               {"FOUND BY"},
               {"VALUES", Align::kRight},
               {"FIRST", Align::kRight},
               {"LAST", Align::kRight},
               {"MIN", Align::kRight},
               {"MAX", Align::kRight},
               {"NOT FINITE", Align::kRight}});
  for (const std::string& metric : metrics()) {
    const auto found = summaries_.find(metric);
    const Summary summary = found == summaries_.end() ? Summary{.found_by = "definition"} : found->second;
    const std::uint64_t finite = summary.count - summary.not_finite;
    table.add_row({metric, summary.found_by, std::to_string(summary.count),
                   number_or_dash(summary.count, summary.first), number_or_dash(summary.count, summary.last),
                   number_or_dash(finite, summary.min), number_or_dash(finite, summary.max),
                   std::to_string(summary.not_finite)});
  }
  return table.to_string();
}

// What was seen and not read.
std::string MetricTrial::troubles_text() const {
  std::string text;
  for (std::size_t i = 0; finder_.definitions() != nullptr && i < finder_.definitions()->counts().size(); ++i) {
    const log_metrics::MetricCounts& counts = finder_.definitions()->counts()[i];
    const std::string metric = printable(finder_.definitions()->definitions().definitions[i].name);
    if (counts.parse_errors > 0) {
      text += fmt::format("{}: matches that are no number: {}, the first \"{}\"\n", metric, counts.parse_errors,
                          printable(counts.first_unreadable));
    }
    if (counts.given_up > 0) {
      text += fmt::format("{}: records on which the search would take too long and was given up: {}{}\n", metric,
                          counts.given_up, counts.switched_off ? "; from the last on it was not searched for" : "");
    }
  }
  if (cut_records_ > 0) {
    text += fmt::format("records longer than {1}, of which only the beginning was read: {0}\n", cut_records_,
                        format_bytes(log_metrics::kMaxRecordBytes));
  }
  if (lost_metrics_ > 0) {
    text += fmt::format("values left out, of metrics beyond the first {1}: {0}\n", lost_metrics_, kMaxMetrics);
  }
  return text;
}

std::string MetricTrial::to_text() const {
  const std::string records = fmt::format("records: {}", records_);
  if (metrics().empty()) {
    return fmt::format(
        "no metric found ({}): none is printed as Keras, tf.estimator, Hugging Face, Lightning or tqdm do; "
        "say with --regex NAME=REGEX how yours are\n{}",
        records, troubles_text());
  }
  return fmt::format("{}{}{}{}, values: {}\n", values_text(), metrics_text(), troubles_text(), records, count_);
}

OrderedJson MetricTrial::to_json() const {
  OrderedJson values = OrderedJson::array();
  for (const Value& value : values_) {
    values.push_back({{"line", value.line},
                      {"metric", value.metric},
                      {"value", json_number(value.value)},
                      {"step", value.step ? OrderedJson(*value.step) : OrderedJson(nullptr)},
                      {"record", value.record}});
  }
  OrderedJson list = OrderedJson::array();
  const std::vector<std::string> names = metrics();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto found = summaries_.find(names[i]);
    const Summary summary = found == summaries_.end() ? Summary{.found_by = "definition"} : found->second;
    const bool any = summary.count > 0;
    const bool finite = summary.count > summary.not_finite;
    OrderedJson metric = {{"metric", names[i]},
                          {"found_by", summary.found_by},
                          {"values", summary.count},
                          {"not_finite", summary.not_finite},
                          {"first", any ? json_number(summary.first) : OrderedJson(nullptr)},
                          {"last", any ? json_number(summary.last) : OrderedJson(nullptr)},
                          {"min", finite ? json_number(summary.min) : OrderedJson(nullptr)},
                          {"max", finite ? json_number(summary.max) : OrderedJson(nullptr)}};
    if (finder_.definitions() != nullptr) metric.update(counts_json(finder_.definitions()->counts()[i]));
    list.push_back(std::move(metric));
  }
  return {{"records", records_}, {"cut_records", cut_records_}, {"values", count_}, {"lost_values", lost_metrics_},
          {"metrics", list},     {"first_values", values}};
}

std::string lint_text(const std::vector<log_metrics::LintWarning>& warnings) {
  std::string text;
  for (std::size_t i = 0; i < warnings.size(); ++i) {
    const log_metrics::LintWarning& warning = warnings[i];
    const bool told_next = i + 1 < warnings.size() && warnings[i + 1].instead == warning.instead;
    text += fmt::format("{}: {}: {}: {}\n", warning.place, printable(warning.metric), warning.code,
                        printable(warning.message));
    if (!warning.instead.empty() && !told_next) text += fmt::format("  better: {}\n", printable(warning.instead));
  }
  return text;
}

OrderedJson warning_json(const log_metrics::LintWarning& warning) {
  return {{"code", warning.code},
          {"metric", warning.metric},
          {"place", warning.place},
          {"message", warning.message},
          {"instead", warning.instead}};
}

}  // namespace trainwarden::cli
