#include "work/output/output_metrics.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/base/pause.h"
#include "data/format/output_position.h"
#include "work/output/kept_position.h"

namespace trainwarden::output {
namespace {

constexpr std::chrono::milliseconds kLookInterval{50};
// A frame costs some hundred bytes beside its samples, and who looks at a live curve waits so long for it.
constexpr std::int64_t kFlushNs = 1'000'000'000;
constexpr std::int64_t kReportNs = 5'000'000'000;
// What ends a record, as log_metrics::RecordSplitter has it.
constexpr std::string_view kRecordEnds = "\n\r\b";
// Lines of `trainwarden run` itself, which in a job go into the same file.
constexpr std::string_view kOwnLine = "trainwarden: ";

Result<LogTail> open_tail(const OutputPlan& plan) {
  if (!plan.goes_on) return LogTail::open_at_end(plan.file);
  const auto position = kept_position(plan.run.storage(), plan.rank, plan.file);
  if (!position.ok()) {
    log(LogLevel::kWarning, "what an earlier attempt printed last is not read: {}", position.status().to_string());
  }
  if (!position.ok() || !*position) return LogTail::open_at_end(plan.file);
  return LogTail::open_at(plan.file, **position);
}

}  // namespace

Result<std::unique_ptr<OutputMetrics>> OutputMetrics::start(OutputPlan plan, const Clock& clock) {
  TRAINWARDEN_ASSIGN_OR_RETURN(log_metrics::MetricFinder finder, log_metrics::MetricFinder::create(plan.definitions));
  TRAINWARDEN_ASSIGN_OR_RETURN(LogTail tail, open_tail(plan));
  std::unique_ptr<OutputMetrics> output(new OutputMetrics(std::move(plan), std::move(tail), std::move(finder), clock));
  output->thread_ = std::jthread([reader = output.get()](const std::stop_token& stop) { reader->work(stop); });
  return output;
}

OutputMetrics::OutputMetrics(OutputPlan plan, LogTail tail, log_metrics::MetricFinder finder, const Clock& clock)
    : plan_(std::move(plan)),
      clock_(clock),
      began_unix_ns_(clock.unix_ns()),
      began_steady_ns_(clock.steady_ns()),
      tail_(std::move(tail)),
      finder_(std::move(finder)),
      collector_(std::to_string(plan_.rank), [this](const journal::SampleBatch& batch) { keep(batch); }),
      run_({.run = plan_.run,
            .info = plan_.info,
            .name_of = journal::output_name,
            .first = plan_.rank,
            .last = plan_.rank},
           clock),
      records_end_(tail_.offset()) {}

OutputMetrics::~OutputMetrics() = default;

OutputResult OutputMetrics::finish(bool completed) {
  thread_.request_stop();
  thread_.join();
  note(run_.finish(completed));
  return {status_, make_report()};
}

void OutputMetrics::work(const std::stop_token& stop) {
  try {
    follow(stop);
  } catch (const std::exception& error) {
    note(Status(Code::kInternal, fmt::format("reading the output failed: {}", error.what())));
  }
}

void OutputMetrics::follow(const std::stop_token& stop) {
  std::int64_t flushed_ns = clock_.steady_ns();
  for (;;) {
    const bool last = stop.stop_requested();  // before the look: what is printed meanwhile is seen
    while (read_new()) {
    }
    if (last) break;
    if (clock_.steady_ns() - flushed_ns >= kFlushNs) {
      collector_.flush();
      write_position();
      run_.beat();
      flushed_ns = clock_.steady_ns();
      if (flushed_ns - reported_ns_ >= kReportNs) report();
    }
    pause_for(kLookInterval, stop);
  }
  splitter_.finish([this](const log_metrics::LogRecord& record) { take_record(record); });
  records_end_ = tail_.offset();
  collector_.flush();
  report();
  write_position();
}

// False when there is nothing new for now.
bool OutputMetrics::read_new() {
  const Result<std::string_view> bytes = tail_.read();
  if (!bytes.ok()) note(bytes.status());
  if (!bytes.ok() || bytes->empty()) return false;
  if (plan_.on_bytes) plan_.on_bytes(*bytes);
  splitter_.append(*bytes, [this](const log_metrics::LogRecord& record) { take_record(record); });
  const std::uint64_t begin = tail_.offset() - bytes->size();
  const std::size_t last_end = bytes->find_last_of(kRecordEnds);
  // Less than before where the file was emptied.
  records_end_ = last_end == std::string_view::npos ? std::min(records_end_, begin) : begin + last_end + 1;
  return true;
}

void OutputMetrics::take_record(const log_metrics::LogRecord& record) {
  if (record.text.starts_with(kOwnLine)) return;
  ++records_;
  cut_records_ += record.cut ? 1 : 0;
  const std::vector<log_metrics::FoundValue>& values = finder_.read(record.text);
  if (values.empty()) return;
  collector_.begin_record(now_ns());
  for (const log_metrics::FoundValue& value : values) {
    collector_.add(value.metric, value.value, value.step);
    if (finder_.definitions() != nullptr) continue;
    const auto known = found_.find(value.metric);
    if (known != found_.end()) {
      ++known->second;
    } else if (found_.size() < kMaxOutputMetrics) {
      found_.emplace(value.metric, 1);
      order_.push_back(value.metric);
    }
  }
}

// Keeping fails or not without the reading: the next batch is tried anew.
void OutputMetrics::keep(const journal::SampleBatch& batch) {
  const Status kept = run_.append(batch);
  position_due_ = position_due_ || kept.ok();
  if (kept.ok()) return;
  for (const auto& table : batch.tables) {
    for (const auto& series : table.series) unwritten_values_ += series.metric % 2 == 0 ? series.values.size() : 0;
  }
  note(kept);
}

// Behind the values: a kill between the two has the next reading take some of them again, and loses none.
void OutputMetrics::write_position() {
  if (!position_due_) return;
  const Status said = run_.append_event(format::encode_output_position({plan_.file.string(), records_end_}));
  note(said);
  position_due_ = !said.ok();
}

void OutputMetrics::report() {
  reported_ns_ = clock_.steady_ns();
  format::OutputReport now = make_report();
  if (reported_ == now || !run_.has_run()) return;
  const Status appended = run_.append_event(format::encode_output_report(now));
  note(appended);
  if (!appended.ok()) return;
  reported_ = std::move(now);
  position_due_ = true;
}

format::OutputReport OutputMetrics::make_report() const {
  format::OutputReport report;
  report.began_unix_ns = began_unix_ns_;
  report.file = plan_.file.string();
  report.bytes = tail_.bytes();
  report.records = records_;
  report.cut_records = cut_records_;
  report.restarts = tail_.restarts();
  report.lost_values = collector_.lost_values() + unwritten_values_;
  report.metrics = finder_.definitions() != nullptr ? defined_counts() : found_counts();
  return report;
}

std::vector<format::OutputMetricCount> OutputMetrics::defined_counts() const {
  const log_metrics::MetricReader& reader = *finder_.definitions();
  std::vector<format::OutputMetricCount> metrics;
  for (std::size_t i = 0; i < reader.counts().size(); ++i) {
    const std::string& name = reader.definitions().definitions[i].name;
    const log_metrics::MetricCounts& counts = reader.counts()[i];
    metrics.push_back({name, counts.values, collector_.duplicates_of(name), counts.parse_errors,
                       counts.first_unreadable, counts.given_up});
  }
  return metrics;
}

std::vector<format::OutputMetricCount> OutputMetrics::found_counts() const {
  std::vector<format::OutputMetricCount> metrics;
  for (const std::string& name : order_) {
    metrics.push_back({name, found_.find(name)->second, collector_.duplicates_of(name), 0, "", 0});
  }
  return metrics;
}

// Wall time that never goes back: that of the beginning, and what has passed since.
std::int64_t OutputMetrics::now_ns() const {
  return began_unix_ns_ + (clock_.steady_ns() - began_steady_ns_);
}

void OutputMetrics::note(const Status& status) {
  if (status.ok() || !status_.ok()) return;
  status_ = status;
  log(LogLevel::kWarning, "metrics of the program's output are not kept: {}", status.to_string());
}

}  // namespace trainwarden::output
