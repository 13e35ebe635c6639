// OutputMetrics: reads what a program prints, in a thread of its own, and keeps the metrics there as series of its run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/base/clock.h"
#include "data/format/output_report.h"
#include "store/journal/run_folder.h"
#include "store/journal/side_writer.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "work/log_metrics/definition.h"
#include "work/log_metrics/metric_finder.h"
#include "work/log_metrics/record_splitter.h"
#include "work/output/log_tail.h"
#include "work/output/sample_collector.h"

namespace trainwarden::output {

struct OutputPlan {
  storage::Location run;
  journal::RunInfo info;                                  // should there be no run when the first metric is found
  std::filesystem::path file;                             // that the program prints into; it must be there
  int rank = 0;                                           // of the worker that does
  std::optional<log_metrics::DefinitionSet> definitions;  // none: the styles of libraries
  // The file is this run's alone: what an earlier reading was killed before it kept is read first. Otherwise reading
  // begins where the file ends now.
  bool goes_on = false;
  // Gets all that is new, from the thread that reads; null: nobody wants it. What takes long delays the reading, never
  // the program.
  std::function<void(std::string_view)> on_bytes;
};

struct OutputResult {
  Status status;  // the first failure; what was lost by it is in the report
  format::OutputReport report;
};

class OutputMetrics {
 public:
  // Errors as LogTail::open_at_end(), and kInvalidArgument when a pattern does not compile. `clock` must outlive it.
  static Result<std::unique_ptr<OutputMetrics>> start(OutputPlan plan, const Clock& clock = system_clock());
  ~OutputMetrics();
  OutputMetrics(const OutputMetrics&) = delete;
  OutputMetrics& operator=(const OutputMetrics&) = delete;

  // The program has ended: what it has printed is read to its end. Once. `completed` as SideWriter::finish() has it.
  OutputResult finish(bool completed);

 private:
  OutputMetrics(OutputPlan plan, LogTail tail, log_metrics::MetricFinder finder, const Clock& clock);
  void work(const std::stop_token& stop);
  void follow(const std::stop_token& stop);
  bool read_new();
  void take_record(const log_metrics::LogRecord& record);
  void keep(const journal::SampleBatch& batch);
  void write_position();
  void report();
  format::OutputReport make_report() const;
  std::vector<format::OutputMetricCount> defined_counts() const;
  std::vector<format::OutputMetricCount> found_counts() const;
  std::int64_t now_ns() const;
  void note(const Status& status);

  const OutputPlan plan_;
  const Clock& clock_;
  const std::int64_t began_unix_ns_;
  const std::int64_t began_steady_ns_;
  LogTail tail_;
  log_metrics::RecordSplitter splitter_;
  log_metrics::MetricFinder finder_;
  SampleCollector collector_;
  journal::SideWriter run_;
  Status status_;
  std::uint64_t records_ = 0;
  std::uint64_t cut_records_ = 0;
  std::uint64_t unwritten_values_ = 0;
  std::uint64_t records_end_ = 0;                            // in the file, of the records that were taken
  bool position_due_ = false;                                // more was kept since the journal has said up to where
  std::map<std::string, std::uint64_t, std::less<>> found_;  // values of each metric, without definitions
  std::vector<std::string> order_;                           // of the metrics in found_
  std::optional<format::OutputReport> reported_;
  std::int64_t reported_ns_ = 0;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace trainwarden::output
