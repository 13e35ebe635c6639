// Fuzzes everything that reads a run: a run folder in memory whose segments are the input, opened and fully read.
//
// The first byte chooses: bit 0, whether frames get the CRCs and places that make them believed, so that the input goes
// deeper than the first check; bit 1, live or strict. Two bytes 0xFF 0x0A part one segment from the next.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sealed_frames.h"
#include "store/journal/journal_reader.h"
#include "store/journal/run_folder.h"
#include "store/storage/memory_storage.h"

namespace {

using namespace trainwarden;

constexpr std::string_view kWriter = "rank-00000";
constexpr std::string_view kSegmentEnd = "\xFF\x0A";

journal::RunInfo run_info() {
  journal::RunInfo info;
  info.id = "00112233445566778899aabbccddeeff";
  return info;
}

void read_record(journal::JournalReader& reader, const journal::Record& record) {
  (void)reader.read_value(record);
  (void)reader.read_statistics(record);
  (void)reader.read_scalar(record);
  (void)reader.read_shape(record);
}

void read_everything(journal::JournalReader& reader) {
  for (std::size_t i = 0; i < reader.steps().size(); ++i) {
    const auto records = reader.records(i);
    if (!records.ok()) continue;
    for (const journal::Record& record : *records) read_record(reader, record);
  }
  std::size_t events = 0;
  (void)reader.visit_events(0, [&](std::size_t, const journal::EventEntry&) { ++events; });
  if (events > reader.event_count()) std::abort();
  journal::SampleQuery query;
  for (std::uint32_t metric = 0; metric < reader.metrics().size(); ++metric) query.metrics.push_back(metric);
  (void)reader.samples(query, [&](const journal::SampleChunk& chunk) {
    if (chunk.metric >= reader.metrics().size() || chunk.samples.empty()) std::abort();
  });
  (void)reader.sample_times();
  for (const std::int64_t step : reader.operator_steps()) (void)reader.operators(step);
  (void)reader.verify_all();
  (void)reader.refresh();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const bool credible = (data[0] & 1) != 0;
  const bool live = (data[0] & 2) != 0;
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  (void)journal::decode_run_info(rest);

  const auto storage = storage::create_memory_storage();
  for (std::uint64_t number = 0; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find(kSegmentEnd), rest.size());
    std::string segment(rest.substr(0, end));
    if (credible) fuzz::seal_frames(segment, journal::run_salt(run_info()));
    storage->set_content(journal::journal_folder(kWriter) + "/" + journal::segment_file(number), std::move(segment));
    rest.remove_prefix(std::min(end + kSegmentEnd.size(), rest.size()));
  }
  auto reader = journal::JournalReader::open(*storage, run_info(), kWriter, {.live = live});
  if (reader.ok()) read_everything(**reader);
  return 0;
}
