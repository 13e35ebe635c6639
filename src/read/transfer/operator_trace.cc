#include "read/transfer/operator_trace.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "core/base/no_throw.h"
#include "read/profile/call_nesting.h"
#include "read/profile/system_usage.h"
#include "read/transfer/trace_writer.h"
#include "read/trial/trial_access.h"

namespace trainwarden::transfer {
namespace {

std::unique_ptr<TraceWriter> make_writer(TraceFormat format, TraceText& out) {
  switch (format) {
    case TraceFormat::kChromeTrace: return make_chrome_trace(out);
    case TraceFormat::kPerfetto: return make_perfetto_trace(out);
    case TraceFormat::kSpeedscope: return make_speedscope_trace(out);
    case TraceFormat::kCollapsed: break;
  }
  return make_collapsed_stacks(out);
}

constexpr std::int64_t kPauseNs = 2'000'000'000;  // a longer one ends a stretch of steps
constexpr std::int64_t kMarginNs = 500'000'000;   // of a machine's samples, which have ticks of their own
constexpr std::size_t kMaxStretches = 256;

class TraceWalk {
 public:
  TraceWalk(Trial& trial, const TraceOptions& options, TraceSink& sink)
      : trial_(trial), options_(options), out_(sink, options.max_bytes), writer_(make_writer(options.format, out_)) {}

  Result<TraceReport> run() {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<WorkerCalls> chosen, find_operator_calls(trial_, options_.choice));
    if (writer_->wants_metrics()) metrics_ = trial_.metrics();
    TRAINWARDEN_RETURN_IF_ERROR(writer_->begin(first_unix_ns(chosen), TrialAccess::run_info(trial_).id));
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      TRAINWARDEN_RETURN_IF_ERROR(add_worker(chosen[i], static_cast<std::uint32_t>(i)));
    }
    if (writer_->wants_metrics()) {
      TRAINWARDEN_RETURN_IF_ERROR(add_machines(static_cast<std::uint32_t>(chosen.size())));
    }
    TRAINWARDEN_RETURN_IF_ERROR(writer_->end(report_));
    TRAINWARDEN_RETURN_IF_ERROR(out_.pass_on());
    report_.bytes = out_.bytes();
    return report_;
  }

 private:
  // Of the first step of each worker, which is the earliest but where clocks were set back.
  std::int64_t first_unix_ns(const std::vector<WorkerCalls>& chosen) {
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (const WorkerCalls& calls : chosen) {
      const auto batch = trial_.operators(calls.worker, calls.steps.front());
      if (batch.ok() && !batch->calls.empty()) first = std::min(first, profile::span_of(*batch).first_unix_ns);
    }
    return first == std::numeric_limits<std::int64_t>::max() ? 0 : first;
  }

  Status add_worker(const WorkerCalls& calls, std::uint32_t index) {
    std::int64_t before = -1;  // the step that was added last
    std::int64_t before_ended_ns = 0;
    for (const std::int64_t step : calls.steps) {
      if (writer_->full() || options_.stop.stop_requested()) {
        ++report_.left_out_steps;
        continue;
      }
      if (options_.on_step) options_.on_step(step);
      auto batch = trial_.operators(calls.worker, step);
      if (batch.status().code() == Code::kDataLoss) {
        ++report_.damaged_steps;
        continue;
      }
      if (!batch.ok()) return batch.status();
      const profile::CallSpan span = profile::span_of(*batch);
      TraceStep added{calls.worker, index, *std::move(batch), {}};
      const bool follows = before >= 0 && step == before + 1 && before_ended_ns < span.first_unix_ns;
      add_metrics(added, follows ? before_ended_ns : span.first_unix_ns, span.last_unix_ns);
      report_.lost_calls += added.batch.lost_calls;
      ++report_.steps;
      TRAINWARDEN_RETURN_IF_ERROR(writer_->add(added, report_));
      before = step;
      before_ended_ns = span.last_unix_ns;
      note_stretch(span);
    }
    return {};
  }

  // What cannot be read of the metrics is left out: the calls count.
  void add_metrics(TraceStep& step, std::int64_t from_unix_ns, std::int64_t to_unix_ns) {
    for (const SampledMetric& metric : metrics_) {
      if (metric.worker != step.worker) continue;
      auto samples = trial_.samples(metric, from_unix_ns, to_unix_ns);
      if (samples.ok() && !samples->empty()) step.metrics.push_back({metric.metric, *std::move(samples)});
    }
  }

  // Steps that follow each other are one stretch, of whichever worker.
  void note_stretch(const profile::CallSpan& step) {
    for (profile::CallSpan& stretch : stretches_) {
      if (step.first_unix_ns > stretch.last_unix_ns + kPauseNs || step.last_unix_ns < stretch.first_unix_ns - kPauseNs)
        continue;
      stretch.first_unix_ns = std::min(stretch.first_unix_ns, step.first_unix_ns);
      stretch.last_unix_ns = std::max(stretch.last_unix_ns, step.last_unix_ns);
      return;
    }
    if (stretches_.size() < kMaxStretches) stretches_.push_back(step);
  }

  // What cannot be read of the machines is left out, as with metrics.
  Status add_machines(std::uint32_t first_index) {
    std::map<std::string, std::uint32_t> index_of_machine;
    for (const profile::CallSpan& stretch : stretches_) {
      const auto usage = profile::system_usage(
          trial_, {.from_unix_ns = stretch.first_unix_ns - kMarginNs, .to_unix_ns = stretch.last_unix_ns + kMarginNs});
      if (!usage.ok()) continue;
      std::map<std::string, std::vector<TraceMetric>> by_machine;
      for (const profile::UsageSeries& series : *usage) by_machine[series.worker].push_back(trace_metric(series));
      for (const auto& [machine, metrics] : by_machine) {
        const auto index =
            index_of_machine.try_emplace(machine, first_index + static_cast<std::uint32_t>(index_of_machine.size()));
        TRAINWARDEN_RETURN_IF_ERROR(writer_->add_machine(machine, index.first->second, metrics));
      }
    }
    return {};
  }

  static TraceMetric trace_metric(const profile::UsageSeries& series) {
    std::string name(series.kind->label);
    if (!series.part.empty()) name += " " + series.part;
    return {{std::move(name), std::string(series.kind->unit), MetricKind::kGauge, MetricSource::kHost, series.instance},
            series.samples};
  }

  Trial& trial_;
  const TraceOptions& options_;
  TraceText out_;
  const std::unique_ptr<TraceWriter> writer_;
  std::vector<SampledMetric> metrics_;
  std::vector<profile::CallSpan> stretches_;  // in which steps of the trace ran
  TraceReport report_;
};

}  // namespace

std::string_view name(TraceFormat format) {
  switch (format) {
    case TraceFormat::kChromeTrace: return "chrome-trace";
    case TraceFormat::kPerfetto: return "perfetto";
    case TraceFormat::kSpeedscope: return "speedscope";
    case TraceFormat::kCollapsed: return "collapsed";
  }
  return "unknown";
}

std::optional<TraceFormat> parse_trace_format(std::string_view text) {
  for (const TraceFormat format :
       {TraceFormat::kChromeTrace, TraceFormat::kPerfetto, TraceFormat::kSpeedscope, TraceFormat::kCollapsed}) {
    if (text == name(format)) return format;
  }
  return std::nullopt;
}

Result<TraceReport> write_trace(Trial& trial, const TraceOptions& options, TraceSink& sink) {
  return no_throw([&] { return TraceWalk(trial, options, sink).run(); });
}

}  // namespace trainwarden::transfer
