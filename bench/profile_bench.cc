// Figures of operator calls: what a million of them take to be written, read, summed up and traced.
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench.h"
#include "core/base/bytes.h"
#include "data/format/operators_record.h"
#include "million_calls.h"
#include "read/profile/operator_table.h"
#include "read/transfer/operator_trace.h"
#include "read/trial/run_testing.h"

namespace trainwarden::bench {
namespace {

constexpr int kRounds = 7;

void must(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.to_string());
}

template <class Work>
Figure milliseconds(std::string name, Goal goal, std::string limit, Work work) {
  std::vector<double> samples_ms;
  for (int round = 0; round < kRounds; ++round) samples_ms.push_back(elapsed_ns(work) / 1e6);
  return {std::move(name), spread_of(std::move(samples_ms)), "ms", goal, std::move(limit)};
}

Result<std::vector<Figure>> measure_record() {
  const OperatorBatch batch = million_calls();
  const std::vector<std::string> payloads = format::encode_operators(batch);
  double bytes = 0;
  for (const std::string& payload : payloads) bytes += static_cast<double>(payload.size());
  Figure size{"profile.record.bytes_a_call", spread_of({bytes / kCalls}), "bytes", at_most(14),
              "a label, two times and a sequence number"};
  return std::vector<Figure>{
      size,
      milliseconds("profile.record.encode_1m_ms", at_most(250), "columns in the narrowest type, and their copies",
                   [&] { keep(format::encode_operators(batch)); }),
      milliseconds("profile.record.decode_1m_ms", at_most(250), "48 bytes a call in memory",
                   [&] {
                     for (const std::string& payload : payloads) keep(format::decode_operators(as_bytes(payload)));
                   }),
  };
}

Result<std::vector<Figure>> measure_table() {
  const OperatorBatch batch = million_calls();
  return std::vector<Figure>{milliseconds("profile.table.1m_ms", {}, "nesting by containment", [&] {
    profile::OperatorTable table;
    table.add(batch);
    keep(table.rows(profile::OperatorOrder::kSelf));
  })};
}

class CountingSink final : public transfer::TraceSink {
 public:
  Status append(std::string_view text) override {
    bytes += text.size();
    return {};
  }
  std::uint64_t bytes = 0;
};

Result<std::vector<Figure>> measure_trace() {
  TestRun run;
  run.operators(million_calls());
  const auto trial = run.open();
  std::vector<Figure> figures;
  for (const auto format :
       {transfer::TraceFormat::kChromeTrace, transfer::TraceFormat::kSpeedscope, transfer::TraceFormat::kCollapsed}) {
    transfer::TraceOptions options;
    options.format = format;
    options.max_bytes = std::uint64_t{1} << 30;
    std::uint64_t bytes = 0;
    Figure figure = milliseconds(fmt::format("profile.trace.{}_1m_ms", name(format)), at_most(1000), "", [&] {
      CountingSink sink;
      const auto report = transfer::write_trace(*trial, options, sink);
      must(report.status());
      if (report->calls != kCalls) must(Status(Code::kInternal, "calls are missing"));
      bytes = sink.bytes;
    });
    figure.limit = fmt::format("reading the step, and {} MB of text", bytes / 1'000'000);
    figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace

std::vector<Benchmark> benchmarks() {
  return {{"profile.record", measure_record}, {"profile.table", measure_table}, {"profile.trace", measure_trace}};
}

}  // namespace trainwarden::bench
