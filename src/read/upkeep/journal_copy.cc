#include "read/upkeep/journal_copy.h"

#include <utility>

#include "core/base/crc32c.h"
#include "core/base/no_throw.h"
#include "read/upkeep/segment_copy.h"
#include "store/journal/format_versions.h"

namespace trainwarden::upkeep {

JournalCopy::JournalCopy(storage::Storage& target, const journal::RunInfo& run, std::string writer)
    : target_(target), run_(run), writer_(std::move(writer)) {}

Status JournalCopy::add(SegmentScan& source, const FrameFilter& wanted) {
  return no_throw([&] { return SegmentCopy(*this, source, wanted).run(); });
}

Status JournalCopy::add_event(std::string_view json, std::int64_t unix_ns) {
  return no_throw([&]() -> Status {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto segment, start_segment({}, 0, unix_ns));
    journal::AppendDraft draft;
    draft.frames.emplace_back();
    draft.frames.back().kind = format::FrameKind::kEvent;
    draft.frames.back().head = json;
    ++tally_.frames;
    TRAINWARDEN_RETURN_IF_ERROR(segment->append(draft));
    return seal(*segment);
  });
}

void JournalCopy::note_gaps(std::string_view writer, std::span<const std::uint64_t> numbers) {
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    const std::uint64_t missing = numbers[i] - numbers[i - 1] - 1;
    if (missing == 0) continue;
    tally_.lost.push_back({journal::journal_folder(writer) + "/" + journal::segment_file(numbers[i - 1] + 1), 0,
                           "missing segment", "", missing, 0});
  }
}

Result<std::unique_ptr<journal::SegmentWriter>> JournalCopy::start_segment(const format::SegmentStart& known,
                                                                           std::uint32_t writer_id,
                                                                           std::int64_t unix_ns) {
  if (!std::exchange(has_folder_, true)) {
    TRAINWARDEN_RETURN_IF_ERROR(target_.create_folder(journal::journal_folder(writer_)));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(
      auto file, target_.create(journal::journal_folder(writer_) + "/" + journal::segment_file(next_segment_)));
  format::SegmentStart start = known;
  start.run = run_.id;
  start.writer = writer_;
  start.writer_id = journal::writer_id_of(writer_).value_or(writer_id);
  start.segment = next_segment_++;
  start.format_version = run_.format_version;
  clock_.set(unix_ns);
  ++tally_.frames;
  const bool compressed = run_.format_version >= journal::kCompressedVersion;
  return journal::SegmentWriter::start(std::move(file), clock_, journal::run_salt(run_), start, compressed);
}

Status JournalCopy::seal(journal::SegmentWriter& segment) {
  TRAINWARDEN_RETURN_IF_ERROR(segment.seal(/*synced=*/true));
  ++tally_.segments;
  tally_.bytes += segment.bytes();
  return {};
}

}  // namespace trainwarden::upkeep
