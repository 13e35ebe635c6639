// TraceWriter: what each format of an operator trace implements, and the bounded text that it writes to.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "read/transfer/operator_trace.h"
#include "trainwarden/metric.h"
#include "trainwarden/operator_calls.h"

namespace trainwarden::transfer {

// Text on its way to a sink, with an end. A writer keeps enough of it back to end its document.
class TraceText {
 public:
  TraceText(TraceSink& sink, std::uint64_t max_bytes) : sink_(sink), max_bytes_(max_bytes) {}

  std::string text;  // append here; what the sink has already is gone from it

  std::uint64_t bytes() const { return passed_bytes_ + text.size(); }
  // No more items. `reserved_bytes`: what is still to come in any case.
  bool full(std::uint64_t reserved_bytes = 0) const {
    return bytes() + reserved_bytes + kLargestEndBytes + kLargestItemBytes > max_bytes_;
  }
  // After each item: bounds the memory.
  Status pass_on_when_large() { return text.size() < kLargeTextBytes ? Status() : pass_on(); }
  Status pass_on() {
    TRAINWARDEN_RETURN_IF_ERROR(sink_.append(text));
    passed_bytes_ += text.size();
    text.clear();
    return {};
  }

 private:
  static constexpr std::uint64_t kLargestEndBytes = 4096;
  static constexpr std::uint64_t kLargestItemBytes = 4096;  // but for those with a very long name
  static constexpr std::size_t kLargeTextBytes = std::size_t{1} << 20;

  TraceSink& sink_;
  const std::uint64_t max_bytes_;
  std::uint64_t passed_bytes_ = 0;
};

// Without fmt's format strings, which would be most of a trace's time.
inline void append_integer(std::string& out, std::int64_t number) {
  const fmt::format_int text(number);
  out.append(text.data(), text.size());
}

struct TraceMetric {
  Metric metric;
  std::vector<Sample> samples;
};

// One step of one worker.
struct TraceStep {
  std::string worker;
  std::uint32_t worker_index = 0;    // among those of the trace
  OperatorBatch batch;               // calls in the order of calls_in_order()
  std::vector<TraceMetric> metrics;  // sampled while it ran
};

// The calls come in this order: begin, add for each step, add_machine for each machine and
// stretch of time, end. After an error none comes but the destructor.
class TraceWriter {
 public:
  virtual ~TraceWriter() = default;
  // `first_unix_ns`: when the trace begins, about. Times before it may come.
  virtual Status begin(std::int64_t first_unix_ns, const std::string& run_id) = 0;
  // Counts in `report` what it wrote and what it left out.
  virtual Status add(const TraceStep& step, TraceReport& report) = 0;
  // How much of a machine was in use meanwhile; it stands beside the workers, behind the last of them by `index`.
  virtual Status add_machine(const std::string& machine, std::uint32_t index, const std::vector<TraceMetric>& metrics) {
    static_cast<void>(machine), static_cast<void>(index), static_cast<void>(metrics);
    return {};
  }
  virtual bool full() const = 0;
  virtual Status end(TraceReport& report) = 0;
  virtual bool wants_metrics() const { return false; }
};

// In chrome_trace.cc, perfetto_trace.cc, speedscope_trace.cc and collapsed_stacks.cc.
std::unique_ptr<TraceWriter> make_chrome_trace(TraceText& out);
std::unique_ptr<TraceWriter> make_perfetto_trace(TraceText& out);
std::unique_ptr<TraceWriter> make_speedscope_trace(TraceText& out);
std::unique_ptr<TraceWriter> make_collapsed_stacks(TraceText& out);

}  // namespace trainwarden::transfer
