#include "work/output/kept_position.h"

#include "data/format/output_position.h"
#include "store/journal/journal_reader.h"
#include "store/journal/run_folder.h"

namespace trainwarden::output {
namespace {

// A reading writes its position behind everything that it keeps: the last one is among the last events.
constexpr std::size_t kLastEvents = 64;

}  // namespace

Result<std::optional<std::uint64_t>> kept_position(const storage::Storage& run, int rank,
                                                   const std::filesystem::path& file) {
  const std::string writer = journal::output_name(rank);
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto segments, journal::list_segments(run, writer));
  if (segments.empty()) return std::optional<std::uint64_t>(0);
  TRAINWARDEN_ASSIGN_OR_RETURN(const journal::RunInfo info, journal::read_run(run));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto reader, journal::JournalReader::open(run, info, writer, {}));
  const std::size_t events = reader->event_count();
  std::optional<std::uint64_t> position;
  const auto take = [&](std::size_t, const journal::EventEntry& event) {
    const auto decoded = format::decode_output_position(event.json);
    if (decoded.ok() && *decoded && (*decoded)->file == file.string()) position = (*decoded)->bytes;
  };
  TRAINWARDEN_RETURN_IF_ERROR(reader->visit_events(events > kLastEvents ? events - kLastEvents : 0, take));
  return position;
}

}  // namespace trainwarden::output
