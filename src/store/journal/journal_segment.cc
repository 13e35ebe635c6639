#include "store/journal/journal_segment.h"

#include <optional>
#include <string>
#include <vector>

#include "data/format/compression.h"
#include "data/format/records.h"

namespace trainwarden::journal {

using format::FrameHeader;
using format::FrameKind;

namespace {

// What compressed words say. It is read unasked, as they are.
Result<ByteSpan> content_of(SegmentFile& file, ReadBudget& budget, ByteSpan words) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint64_t bytes, format::content_bytes(words));
  TRAINWARDEN_RETURN_IF_ERROR(budget.scan(bytes, file.path()));
  return file.content_of(words);
}

}  // namespace

Status walk(SegmentFile& file, SegmentDecoder& decoder, ReadBudget& budget, std::uint64_t file_bytes) {
  while (const std::optional<ByteRange> range = decoder.next(file_bytes)) {
    const Status scanned = decoder.at_header() ? Status() : budget.scan(range->bytes, file.path());
    const Result<ByteSpan> bytes = scanned.ok() ? file.read(*range) : Result<ByteSpan>(scanned);
    if (bytes.ok() && decoder.has_content(*bytes)) {
      decoder.supply_content(content_of(file, budget, *bytes));
    } else if (bytes.ok()) {
      decoder.supply(*bytes);
    } else if (bytes.status().code() == Code::kResourceExhausted) {
      decoder.refuse();
    } else {
      return bytes.status();
    }
  }
  return Status();
}

namespace {

// Collects the frames whose payloads the walk itself does not look at.
class UnreadFrames final : public FrameSink {
 public:
  explicit UnreadFrames(SegmentIntake& intake) : intake_(intake) {}
  void on_frame(const FrameHeader& header, ByteSpan) override {
    if (!is_words(header.kind)) headers_.push_back(header);
  }
  void on_damage(const Damage& damage) override { intake_.on_damage(damage); }
  const std::vector<FrameHeader>& headers() const { return headers_; }

 private:
  SegmentIntake& intake_;
  std::vector<FrameHeader> headers_;
};

}  // namespace

bool is_damage(const Status& status) {
  return status.code() == Code::kDataLoss || status.code() == Code::kResourceExhausted;
}

std::string_view cause_of(const Status& damage, std::string_view of_data_loss) {
  return damage.code() == Code::kResourceExhausted ? kOverBudget : of_data_loss;
}

Status verify_frames(JournalSegment& segment, std::uint64_t file_bytes) {
  UnreadFrames frames(segment.intake);
  SegmentDecoder decoder(segment.decoder.owner(), frames);
  TRAINWARDEN_RETURN_IF_ERROR(walk(segment.file, decoder, segment.budget, file_bytes));
  if (segment.over) decoder.finish(file_bytes);
  for (const FrameHeader& header : frames.headers()) {
    Status status = segment.budget.scan(header.payload_bytes, segment.file.path());
    if (status.ok()) status = segment.file.verify_payload(header);
    if (!status.ok() && !is_damage(status)) return status;
    if (!status.ok()) segment.intake.add_damage(header.file_offset, cause_of(status), 1, header.frame_bytes());
  }
  return Status();
}

}  // namespace trainwarden::journal
