#include "store/journal_segment.h"

#include <optional>
#include <string>
#include <vector>

#include "format/records.h"

namespace trainwarden::store {

using format::FrameHeader;
using format::FrameKind;

Status walk(SegmentFile& file, SegmentDecoder& decoder, std::uint64_t file_bytes) {
  while (const std::optional<ByteRange> range = decoder.next(file_bytes)) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const ByteSpan bytes, file.read(*range));
    decoder.supply(bytes);
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

Status verify_frames(JournalSegment& segment, std::uint64_t file_bytes) {
  UnreadFrames frames(segment.intake);
  SegmentDecoder decoder(segment.decoder.owner(), frames);
  TRAINWARDEN_RETURN_IF_ERROR(walk(segment.file, decoder, file_bytes));
  if (segment.over) decoder.finish(file_bytes);
  for (const FrameHeader& header : frames.headers()) {
    const Status status = segment.file.verify_payload(header);
    if (!status.ok() && status.code() != Code::kDataLoss) return status;
    if (!status.ok()) segment.intake.add_damage(header.file_offset, kDamagedPayload, 1, header.frame_bytes());
  }
  return Status();
}

}  // namespace trainwarden::store
