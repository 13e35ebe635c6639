// Opening a sealed segment through its trailer and index.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/large_memory.h"
#include "data/format/records.h"
#include "data/format/segment_index_view.h"
#include "store/journal/journal_segment.h"

namespace trainwarden::journal {

using format::FrameHeader;
using format::FrameKind;

namespace {

struct WordsFrame {
  FrameHeader header;
  std::string payload;
  std::uint64_t held_bytes = 0;  // of the budget, for it
};

class SealedSegmentOpener {
 public:
  explicit SealedSegmentOpener(JournalSegment& segment) : segment_(segment) {}
  ~SealedSegmentOpener() { segment_.budget.release(held_bytes_); }
  SealedSegmentOpener(const SealedSegmentOpener&) = delete;
  SealedSegmentOpener& operator=(const SealedSegmentOpener&) = delete;

  // kDataLoss when the walk must do.
  Status open();

 private:
  Status read_trailer();
  Status read_index();
  Status read_words();
  Status read_step_losses();
  Result<WordsFrame> read_frame(const format::FrameIndexRow& row);
  Status hold(std::uint64_t bytes);
  void take_in();

  JournalSegment& segment_;
  format::Trailer trailer_;
  LargeBytes index_payload_;
  format::SegmentIndexView index_;  // of index_payload_
  std::vector<WordsFrame> words_;
  std::vector<WordsFrame> step_ends_;  // of steps with losses
  std::uint64_t held_bytes_ = 0;       // of the budget, for all of these
};

Status SealedSegmentOpener::open() {
  TRAINWARDEN_RETURN_IF_ERROR(read_trailer());
  const Status status = read_index();
  if (is_damage(status)) {
    segment_.intake.add_damage(trailer_.index_offset, cause_of(status, "damaged index"), 1, 0);
  }
  TRAINWARDEN_RETURN_IF_ERROR(status);
  TRAINWARDEN_RETURN_IF_ERROR(read_words());
  TRAINWARDEN_RETURN_IF_ERROR(read_step_losses());
  take_in();
  return Status();
}

// A frame that is longer than the index says would reach into the next.
Result<WordsFrame> SealedSegmentOpener::read_frame(const format::FrameIndexRow& row) {
  WordsFrame frame;
  TRAINWARDEN_ASSIGN_OR_RETURN(frame.header, segment_.file.header_at(row.offset, row.kind, segment_.decoder.owner()));
  if (frame.header.payload_bytes != row.payload_bytes) {
    return Status(Code::kDataLoss, "index and frame disagree on how long the frame is");
  }
  TRAINWARDEN_RETURN_IF_ERROR(hold(row.payload_bytes));
  TRAINWARDEN_ASSIGN_OR_RETURN(const ByteSpan payload, segment_.file.payload_of(frame.header));
  frame.held_bytes = std::max<std::uint64_t>(payload.size(), row.payload_bytes);
  TRAINWARDEN_RETURN_IF_ERROR(hold(frame.held_bytes - row.payload_bytes));
  frame.payload = as_text(payload);
  return frame;
}

Status SealedSegmentOpener::hold(std::uint64_t bytes) {
  TRAINWARDEN_RETURN_IF_ERROR(segment_.budget.scan(bytes, segment_.file.path()));
  TRAINWARDEN_RETURN_IF_ERROR(segment_.budget.hold(bytes, segment_.file.path()));
  held_bytes_ += bytes;
  return Status();
}

Status SealedSegmentOpener::read_trailer() {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint64_t file_bytes, segment_.file.bytes());
  if (file_bytes < format::kTrailerFrameBytes) return Status(Code::kDataLoss, "not sealed");
  const std::uint64_t offset = file_bytes - format::kTrailerFrameBytes;
  const FrameOwner& owner = segment_.decoder.owner();
  TRAINWARDEN_ASSIGN_OR_RETURN(const FrameHeader header, segment_.file.header_at(offset, FrameKind::kTrailer, owner));
  const Result<ByteSpan> payload = segment_.file.payload_of(header);
  const Result<format::Trailer> trailer =
      payload.ok() ? format::decode_trailer(as_text(*payload)) : Result<format::Trailer>(payload.status());
  if (trailer.ok()) {
    trailer_ = *trailer;
  } else if (trailer.status().code() == Code::kDataLoss) {
    segment_.intake.add_damage(offset, kDamagedPayload, 1, header.frame_bytes());
  }
  return trailer.status();
}

Status SealedSegmentOpener::read_index() {
  const FrameOwner& owner = segment_.decoder.owner();
  TRAINWARDEN_ASSIGN_OR_RETURN(const FrameHeader header,
                               segment_.file.header_at(trailer_.index_offset, FrameKind::kIndex, owner));
  TRAINWARDEN_ASSIGN_OR_RETURN(index_payload_, segment_.file.own_payload(header));
  TRAINWARDEN_ASSIGN_OR_RETURN(index_, format::SegmentIndexView::open(std::as_const(index_payload_).span()));
  if (index_.frames.size() == trailer_.frames) return Status();
  return Status(Code::kDataLoss, "index and trailer disagree on how many frames there are");
}

Status SealedSegmentOpener::read_words() {
  for (std::size_t i = 0; i < index_.frames.size(); ++i) {
    const format::FrameIndexRow row = index_.frames[i];
    if (!is_words(row.kind) || row.kind == FrameKind::kStepEnd) continue;
    TRAINWARDEN_ASSIGN_OR_RETURN(WordsFrame frame, read_frame(row));
    // That it is whole is all that has to be known of an event.
    if (is_event(row.kind)) {
      std::string().swap(frame.payload);  // frees it, which clear() does not
      segment_.budget.release(frame.held_bytes);
      held_bytes_ -= frame.held_bytes;
    }
    words_.push_back(std::move(frame));
  }
  return Status();
}

// A damaged step_end takes its list of losses with it; the index still has the step.
Status SealedSegmentOpener::read_step_losses() {
  for (std::size_t i = 0; i < index_.steps.size(); ++i) {
    const format::StepIndexRow step = index_.steps[i];
    if (step.loss_count == 0) continue;
    const format::FrameIndexRow row = index_.frames[step.frame];
    Result<WordsFrame> frame = read_frame(row);
    if (frame.ok()) {
      step_ends_.push_back(std::move(*frame));
    } else if (is_damage(frame.status())) {
      segment_.intake.add_damage(row.offset, cause_of(frame.status()), 1, 0);
    } else {
      return frame.status();
    }
  }
  return Status();
}

void SealedSegmentOpener::take_in() {
  SegmentIntake& intake = segment_.intake;
  segment_.budget.release(std::exchange(held_bytes_, 0));  // what is taken in is counted there
  for (const WordsFrame& frame : words_) {
    if (intake.refused()) break;
    if (is_event(frame.header.kind)) {
      intake.take_event(frame.header, std::nullopt);
    } else {
      intake.take_words(frame.header, as_bytes(frame.payload));
    }
  }
  if (intake.refused()) return;
  intake.take_index(index_);
  for (const WordsFrame& frame : step_ends_) intake.take_step_losses(frame.header, as_bytes(frame.payload));
}

}  // namespace

Result<bool> take_sealed(JournalSegment& segment) {
  const Status status = SealedSegmentOpener(segment).open();
  if (status.ok()) return true;
  if (is_damage(status)) return false;
  return status;
}

}  // namespace trainwarden::journal
