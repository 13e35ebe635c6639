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
#include "read/profile/operator_table.h"
#include "read/transfer/operator_trace.h"
#include "read/trial/run_testing.h"

namespace trainwarden::bench {
namespace {

constexpr std::size_t kCalls = 1'000'000;
constexpr int kRounds = 7;

void must(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.to_string());
}

// About as a training on two threads and a stream has them: three of four calls lie within another.
OperatorBatch million_calls() {
  OperatorBatch batch;
  for (int name = 0; name < 80; ++name) batch.names.push_back(fmt::format("aten::operator_{}", name));
  batch.tracks = {{"thread 1", 1, false}, {"thread 2", 2, false}, {"GPU-0 stream 7", 7, true}};
  std::uint64_t state = 1;
  const auto random = [&](std::uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int64_t>((state >> 33) % below);
  };
  batch.calls.reserve(kCalls);
  for (std::uint32_t track = 0; track < 3; ++track) {
    std::int64_t at = 1'700'000'000'000'000'000;
    while (batch.calls.size() < kCalls * (track + 1) / 3) {
      at += random(5'000) + 1'000;
      const std::int64_t whole = 8'000 + random(60'000);
      for (std::int64_t depth = 0; depth < 4 && batch.calls.size() < kCalls; ++depth) {
        OperatorCall call;
        call.name = static_cast<std::uint32_t>(random(20) + 20 * depth);
        call.track = track;
        call.kind = track == 2 ? OperatorKind::kKernel : OperatorKind::kOperator;
        call.start_unix_ns = at + depth * 700;
        call.duration_ns = whole - depth * 1'500;
        if (depth > 0 && track < 2) call.sequence = 5'000'000 + static_cast<std::int64_t>(batch.calls.size() / 4);
        batch.calls.push_back(call);
      }
      at += whole;
    }
  }
  must(format::check_operators(batch));
  return batch;
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
