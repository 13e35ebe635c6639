#include "store/journal/segment_decoder.h"

#include <algorithm>
#include <utility>

#include "core/base/crc32c.h"
#include "data/format/compression.h"
#include "trainwarden/status.h"

namespace trainwarden::journal {

using format::FrameHeader;
using format::FrameKind;
using format::kFrameAlignment;
using format::kFrameHeaderBytes;

namespace {

constexpr std::uint64_t kSearchBytes = 256 << 10;  // looked through at a time

// A header ends with the time, of which the upper half is no zero since 1970, and words are JSON, which has no zeros.
bool ends_in_zeros(ByteSpan header_bytes) {
  return load_le<std::uint32_t>(header_bytes, header_bytes.size() - sizeof(std::uint32_t)) == 0;
}

bool has_zeros(ByteSpan words) {
  return std::find(words.begin(), words.end(), std::byte{0}) != words.end();
}

bool has_magic(ByteSpan bytes, std::uint64_t offset) {
  return load_le<std::uint32_t>(bytes, offset) == format::kFrameMagic;
}

}  // namespace

bool is_words(FrameKind kind) {
  switch (kind) {
    case FrameKind::kSegmentStart:
    case FrameKind::kNames:
    case FrameKind::kEvent:
    case FrameKind::kVerdict:
    case FrameKind::kAction:
    case FrameKind::kStepEnd: return true;
    default: return false;
  }
}

bool is_event(FrameKind kind) {
  return kind == FrameKind::kEvent || kind == FrameKind::kVerdict || kind == FrameKind::kAction;
}

bool is_data(FrameKind kind) {
  return kind == FrameKind::kBundle || kind == FrameKind::kStatistics || kind == FrameKind::kScalars ||
         kind == FrameKind::kReductions;
}

bool fits(const FrameHeader& header, std::uint64_t offset, std::uint64_t file_bytes) {
  return header.payload_bytes <= file_bytes && header.frame_bytes() <= file_bytes - offset;
}

std::string_view refusal(const FrameHeader& header, const FrameOwner& owner, std::uint64_t offset) {
  if (header.run_salt != owner.run_salt) return "frame of another run";
  if (owner.writer_id && header.writer_id != *owner.writer_id) return "frame of another writer";
  if (header.file_offset != offset) return "frame from another place";
  return {};
}

std::optional<ByteRange> SegmentDecoder::next(std::uint64_t file_bytes) {
  file_bytes_ = file_bytes;
  if (std::exchange(is_late_, false)) return std::nullopt;
  for (;;) {
    switch (state_) {
      case State::kDone: return std::nullopt;
      case State::kHeader:
        if (position_ + kFrameHeaderBytes > file_bytes) return std::nullopt;
        return ByteRange{position_, kFrameHeaderBytes};
      case State::kBody:
        if (!fits(header_, position_, file_bytes)) return std::nullopt;
        if (is_words(header_.kind) && header_.payload_bytes > 0) {
          return ByteRange{position_ + kFrameHeaderBytes, header_.payload_bytes};
        }
        leave_body({});
        break;
      case State::kSearch: {
        const std::uint64_t left = (file_bytes - search_offset_) / kFrameAlignment * kFrameAlignment;
        if (left > 0) return ByteRange{search_offset_, std::min(left, kSearchBytes)};
        // Nothing for now. What the file's end looked like may have been half of a write: begin again next time.
        state_ = State::kHeader;
        return std::nullopt;
      }
    }
  }
}

void SegmentDecoder::supply(ByteSpan bytes) {
  switch (state_) {
    case State::kHeader: return supply_header(bytes);
    case State::kBody: return leave_body(bytes);
    case State::kSearch: return supply_search(bytes);
    case State::kDone: return;
  }
}

void SegmentDecoder::refuse() {
  if (state_ == State::kSearch) {
    sink_->on_damage({position_, file_bytes_ - position_, 1, kOverBudget});
    state_ = State::kDone;
    return;
  }
  const std::uint64_t offset = position_;
  pass_frame();
  sink_->on_damage({offset, header_.frame_bytes(), 1, kOverBudget});
}

void SegmentDecoder::supply_header(ByteSpan bytes) {
  FrameHeader header;
  fault_ = fault_of(bytes, position_, header);
  if (fault_.empty()) return accept(header);
  is_late_ = waits_ && ends_in_zeros(bytes);
  if (!is_late_) search_from_here();
}

void SegmentDecoder::search_from_here() {
  search_offset_ = position_ + kFrameAlignment;
  state_ = State::kSearch;
}

void SegmentDecoder::supply_search(ByteSpan bytes) {
  for (std::uint64_t i = 0; i + kFrameHeaderBytes <= bytes.size(); i += kFrameAlignment) {
    FrameHeader header;
    if (!has_magic(bytes, i)) continue;
    if (!fault_of(bytes.subspan(i, kFrameHeaderBytes), search_offset_ + i, header).empty()) continue;
    search_offset_ += i;
    return accept(header);
  }
  search_offset_ += bytes.size();
}

std::string_view SegmentDecoder::fault_of(ByteSpan header_bytes, std::uint64_t offset, FrameHeader& header) const {
  const Result<FrameHeader> decoded = format::decode_frame_header(header_bytes);
  if (!decoded.ok()) return kDamagedHeader;
  header = *decoded;
  if (const std::string_view why = refusal(header, owner_, offset); !why.empty()) return why;
  if (header.sequence < next_sequence_) return "frame out of order";
  return {};
}

// Takes the header at position_ or, after a search, at search_offset_.
void SegmentDecoder::accept(const FrameHeader& header) {
  const std::uint64_t missing_frames = header.sequence - next_sequence_;
  if (state_ == State::kSearch) {
    sink_->on_damage({position_, search_offset_ - position_, std::max<std::uint64_t>(missing_frames, 1), fault_});
    position_ = search_offset_;
  } else if (missing_frames > 0) {
    sink_->on_damage({position_, 0, missing_frames, "missing frames"});
  }
  fault_ = {};
  next_sequence_ = header.sequence;
  owner_.writer_id = header.writer_id;
  header_ = header;
  state_ = State::kBody;
}

void SegmentDecoder::pass_frame() {
  position_ += header_.frame_bytes();
  next_sequence_ = header_.sequence + 1;
  state_ = header_.kind == FrameKind::kTrailer ? State::kDone : State::kHeader;
}

void SegmentDecoder::leave_body(ByteSpan payload) {
  const std::uint64_t offset = position_;
  const bool is_damaged = is_words(header_.kind) && crc32c(payload) != header_.payload_crc;
  is_late_ = waits_ && is_damaged && has_zeros(payload);
  if (is_late_) return;
  pass_frame();
  if (is_damaged) {
    sink_->on_damage({offset, header_.frame_bytes(), 1, kDamagedPayload});
  } else {
    sink_->on_frame(header_, payload);
  }
  if (done() && position_ < file_bytes_) {
    sink_->on_damage({position_, file_bytes_ - position_, 1, "bytes after the trailer"});
  }
}

bool SegmentDecoder::has_content(ByteSpan bytes) const {
  return state_ == State::kBody && is_words(header_.kind) && format::is_compressed(header_) &&
         crc32c(bytes) == header_.payload_crc;
}

void SegmentDecoder::supply_content(const Result<ByteSpan>& content) {
  const std::uint64_t offset = position_;
  pass_frame();
  if (content.ok()) return sink_->on_frame(header_, *content);
  const bool over_budget = content.status().code() == Code::kResourceExhausted;
  sink_->on_damage({offset, header_.frame_bytes(), 1, over_budget ? kOverBudget : kDamagedPayload});
}

void SegmentDecoder::finish(std::uint64_t file_bytes) {
  report_rest(file_bytes);
  state_ = State::kDone;
}

void SegmentDecoder::report_rest(std::uint64_t file_bytes) {
  if (!done() && position_ < file_bytes) {
    const bool torn = fault_.empty() || fault_ == kDamagedHeader;
    sink_->on_damage({position_, file_bytes - position_, 1, torn ? kTornTail : fault_});
  }
}

}  // namespace trainwarden::journal
