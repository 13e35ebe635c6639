// Fuzzes every record's decoder. The first byte chooses the record, the rest is its payload. What is taken is written
// and read again and must be the same.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/base/bytes.h"
#include "data/format/capture_events.h"
#include "data/format/checkpoint_events.h"
#include "data/format/control_record.h"
#include "data/format/profile_events.h"
#include "data/format/records.h"

namespace {

using namespace trainwarden;

void require(bool holds) {
  if (!holds) std::abort();
}

void segment_start(ByteSpan payload) {
  const auto start = format::decode_segment_start(as_text(payload));
  if (!start.ok()) return;
  const auto again = format::decode_segment_start(format::encode_segment_start(*start));
  require(again.ok() && again->collections == start->collections && again->run == start->run);
}

void names(ByteSpan payload) {
  const auto names = format::decode_names(as_text(payload));
  if (!names.ok()) return;
  require(format::decode_names(format::encode_names(names->tensors, names->metrics)).value_or({}) == *names);
  std::string with_care(as_text(payload));  // the quick reader declines blanks
  with_care.insert(with_care.find('{') + 1, " ");
  require(format::decode_names(with_care).value_or({}) == *names);
}

void bundle(ByteSpan payload) {
  const auto entries = format::decode_bundle(payload, payload.size());
  if (!entries.ok()) return;
  for (const format::BundleEntry& entry : *entries) {
    require(entry.begin <= entry.end && entry.end <= payload.size());
    require(format::decode_bundle_value(entry, payload.subspan(entry.begin, entry.end - entry.begin)).ok());
  }
}

void statistics(ByteSpan payload) {
  const auto table = format::StatisticsTable::open(payload);
  if (!table.ok()) return;
  std::vector<format::StatisticsRow> rows;
  for (std::size_t i = 0; i < table->row_count(); ++i) rows.push_back(table->row(i));
  const std::string written = format::encode_statistics(rows);
  const auto again = format::StatisticsTable::open(as_bytes(written));
  require(again.ok() && again->row_count() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) require(again->row(i) == rows[i]);
}

void scalars(ByteSpan payload) {
  const auto rows = format::decode_scalars(payload);
  if (rows.ok()) require(format::decode_scalars(as_bytes(format::encode_scalars(*rows))).ok());
}

void reductions(ByteSpan payload) {
  const auto rows = format::decode_reductions(payload);
  if (!rows.ok()) return;
  const auto again = format::decode_reductions(as_bytes(format::encode_reductions(*rows)));
  require(again.ok() && again->size() == rows->size());
  for (const std::size_t row : format::first_rows(*rows)) require(row < rows->size());
}

void step_end(ByteSpan payload) {
  const auto record = format::decode_step_end(as_text(payload));
  if (record.ok()) require(format::decode_step_end(format::encode_step_end(*record)).value_or({}) == *record);
}

void run_end(ByteSpan payload) {
  const auto event = format::decode_run_end(as_text(payload));
  if (event.ok() && *event) require(format::decode_run_end(format::encode_run_end(**event)).value_or({}) == *event);
}

void index(ByteSpan payload) {
  const auto decoded = format::decode_segment_index(payload);
  if (!decoded.ok()) return;
  const std::string written = format::encode_segment_index(*decoded);
  require(format::decode_segment_index(as_bytes(written)).value_or({}) == *decoded);
}

void trailer(ByteSpan payload) {
  const auto decoded = format::decode_trailer(as_text(payload));
  if (decoded.ok()) require(format::decode_trailer(format::encode_trailer(*decoded)).value_or({}) == *decoded);
}

void stop_request(ByteSpan payload) {
  const auto request = format::decode_stop_request(as_text(payload));
  if (!request.ok()) return;
  require(format::decode_stop_request(format::encode_stop_request(*request)).value_or({}) == *request);
}

void capture_request(ByteSpan payload) {
  const auto request = format::decode_capture_request(as_text(payload));
  if (!request.ok()) return;
  require(format::decode_capture_request(format::encode_capture_request(*request)).value_or({}) == *request);
}

void budget_event(ByteSpan payload) {
  const auto event = format::decode_budget_event(as_text(payload));
  if (!event.ok() || !*event) return;
  require(format::decode_budget_event(format::encode_budget_event(**event)).value_or({}) == *event);
}

void capture_answer(ByteSpan payload) {
  const auto answer = format::decode_capture_answer(as_text(payload));
  if (!answer.ok() || !*answer) return;
  require(format::decode_capture_answer(format::encode_capture_answer(**answer)).value_or({}) == *answer);
}

void checkpoint_request(ByteSpan payload) {
  const auto request = format::decode_checkpoint_request(as_text(payload));
  if (!request.ok()) return;
  require(format::decode_checkpoint_request(format::encode_checkpoint_request(*request)).value_or({}) == *request);
}

void checkpoint_event(ByteSpan payload) {
  const auto event = format::decode_checkpoint_event(as_text(payload));
  if (!event.ok() || !*event) return;
  require(format::decode_checkpoint_event(format::encode_checkpoint_event(**event)).value_or({}) == *event);
}

void profile_request(ByteSpan payload) {
  const auto request = format::decode_profile_request(as_text(payload));
  if (!request.ok()) return;
  require(format::decode_profile_request(format::encode_profile_request(*request)).value_or({}) == *request);
}

void profile_event(ByteSpan payload) {
  const auto event = format::decode_profile_event(as_text(payload));
  if (!event.ok() || !*event) return;
  require(format::decode_profile_event(format::encode_profile_event(**event)).value_or({}) == *event);
}

// Bit for bit, since a NaN is not equal to itself.
bool same_samples(const std::vector<Sample>& a, const std::vector<Sample>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(Sample)) == 0);
}

// Each series alone in a table of its own: a metric may be there twice in what is read, and not in what is written.
void samples(ByteSpan payload) {
  const auto table = format::SampleTableReader::open(payload);
  if (!table.ok()) return;
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < std::min<std::size_t>(table->series_count(), 64); ++i) {
    std::vector<Sample> found;
    table->read(i, kMin, kMax, found);
    format::SampleTable own{{}, {{table->metric(i), {}}}};
    for (const Sample& sample : found) {
      own.ticks.push_back(sample.unix_ns);
      own.series[0].values.push_back(sample.value);
    }
    if (own.ticks.empty() || own.ticks.back() == kMax) continue;  // `to` is not in the range
    require(format::check_samples(own).ok());
    const std::string written = format::encode_samples(own);
    const auto again = format::SampleTableReader::open(as_bytes(written));
    require(again.ok());
    std::vector<Sample> read_again;
    again->read(0, kMin, kMax, read_again);
    require(same_samples(found, read_again));
  }
}

// Of one frame, as it is read: its calls need not be in the order in which they are written.
void operators(ByteSpan payload) {
  auto part = format::decode_operators(payload);
  if (!part.ok()) return;
  OperatorBatch& batch = part->batch;
  std::stable_sort(batch.calls.begin(), batch.calls.end(), [](const OperatorCall& a, const OperatorCall& b) {
    return std::tuple(a.track, a.start_unix_ns, b.duration_ns) < std::tuple(b.track, b.start_unix_ns, a.duration_ns);
  });
  require(format::check_operators(batch).ok());
  const auto written = format::encode_operators(batch);
  if (written.empty()) return;
  const auto again = format::decode_operators(as_bytes(written[0]));
  require(again.ok() && again->batch.memory == batch.memory && again->batch.lost_calls == batch.lost_calls);
  require(again->batch.calls.size() == batch.calls.size());
  for (std::size_t i = 0; i < batch.calls.size(); ++i) {
    require(again->batch.names[again->batch.calls[i].name] == batch.names[batch.calls[i].name]);
    require(again->batch.calls[i].start_unix_ns == batch.calls[i].start_unix_ns);
    require(again->batch.calls[i].sequence == batch.calls[i].sequence);
  }
}

constexpr std::array kRecords = {segment_start,    names,        bundle,         statistics,      scalars,
                                 step_end,         run_end,      index,          trailer,         stop_request,
                                 capture_request,  budget_event, capture_answer, reductions,      checkpoint_request,
                                 checkpoint_event, samples,      operators,      profile_request, profile_event};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string payload(reinterpret_cast<const char*>(data) + 1, size - 1);  // of exactly its size, for ASan
  kRecords[data[0] % kRecords.size()](as_bytes(payload));
  return 0;
}
