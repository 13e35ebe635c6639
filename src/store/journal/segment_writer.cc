#include "store/journal/segment_writer.h"

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <utility>

#include "core/base/crc32c.h"
#include "data/format/compression.h"

namespace trainwarden::journal {
namespace {

using format::FrameHeader;
using format::FrameKind;
using format::RecordIndexRow;
using HeaderBytes = std::array<std::byte, format::kFrameHeaderBytes>;

constexpr std::array<std::byte, format::kFrameAlignment> kPadding{};
constexpr std::uint64_t kMostUnsharedRecords = 1000;

std::uint64_t payload_bytes_of(const FrameDraft& frame) {
  std::uint64_t bytes = frame.head.size();
  for (const ByteSpan part : frame.tail) bytes += part.size();
  return bytes;
}

std::uint32_t payload_crc_of(const FrameDraft& frame) {
  std::uint32_t crc = crc32c(as_bytes(frame.head));
  for (const ByteSpan part : frame.tail) crc = crc32c(part, crc);
  return crc;
}

// The frame as it lies in the file: header, payload, zeros up to the next frame.
void append_parts(const FrameDraft& frame, const FrameHeader& header, ByteSpan header_bytes,
                  std::vector<ByteSpan>& parts) {
  parts.push_back(header_bytes);
  if (!frame.head.empty()) parts.push_back(as_bytes(frame.head));
  parts.insert(parts.end(), frame.tail.begin(), frame.tail.end());
  const std::uint64_t padding_bytes = header.frame_bytes() - format::kFrameHeaderBytes - header.payload_bytes;
  if (padding_bytes != 0) parts.push_back(ByteSpan(kPadding).first(padding_bytes));
}

FrameDraft draft_of(FrameKind kind, std::string payload) {
  FrameDraft frame;
  frame.kind = kind;
  frame.head = std::move(payload);
  return frame;
}

// None where that would gain nothing.
std::optional<FrameDraft> compressed(const FrameDraft& frame) {
  if (!format::may_be_compressed(frame.kind)) return std::nullopt;
  std::vector<ByteSpan> parts = {as_bytes(frame.head)};
  parts.insert(parts.end(), frame.tail.begin(), frame.tail.end());
  std::optional<std::string> packed = format::compress_payload(parts);
  if (!packed) return std::nullopt;
  FrameDraft smaller = draft_of(frame.kind, *std::move(packed));
  smaller.flags = frame.flags | format::kCompressedFlag;
  smaller.step = frame.step;
  return smaller;
}

}  // namespace

SegmentWriter::SegmentWriter(std::unique_ptr<storage::WritableFile> file, const Clock& clock, std::uint32_t run_salt,
                             std::uint32_t writer_id, bool compressed)
    : file_(std::move(file)),
      clock_(clock),
      run_salt_(run_salt),
      writer_id_(writer_id),
      compressed_(compressed),
      started_steady_ns_(clock.steady_ns()) {}

Result<std::unique_ptr<SegmentWriter>> SegmentWriter::start(std::unique_ptr<storage::WritableFile> file,
                                                            const Clock& clock, std::uint32_t run_salt,
                                                            const format::SegmentStart& start, bool compressed) {
  std::unique_ptr<SegmentWriter> writer(
      new SegmentWriter(std::move(file), clock, run_salt, start.writer_id, compressed));
  AppendDraft draft;
  draft.frames.push_back(draft_of(FrameKind::kSegmentStart, format::encode_segment_start(start)));
  TRAINWARDEN_RETURN_IF_ERROR(writer->append(draft));
  return writer;
}

std::unique_ptr<SegmentWriter> SegmentWriter::start_copy(std::unique_ptr<storage::WritableFile> file,
                                                         const Clock& clock, std::uint32_t run_salt,
                                                         std::uint32_t writer_id, bool compressed) {
  return std::unique_ptr<SegmentWriter>(new SegmentWriter(std::move(file), clock, run_salt, writer_id, compressed));
}

Status SegmentWriter::append(const AppendDraft& draft) {
  std::deque<FrameDraft> smaller;  // whose elements stay where they are
  std::vector<const FrameDraft*> frames;
  for (const FrameDraft& frame : draft.frames) {
    std::optional<FrameDraft> packed = compressed_ ? compressed(frame) : std::nullopt;
    frames.push_back(packed ? &smaller.emplace_back(*std::move(packed)) : &frame);
  }
  const std::vector<FrameHeader> headers = place(frames);
  TRAINWARDEN_RETURN_IF_ERROR(write(frames, headers));
  remember(draft, headers);
  return Status();
}

std::vector<FrameHeader> SegmentWriter::place(std::span<const FrameDraft* const> frames) const {
  std::vector<FrameHeader> headers;
  headers.reserve(frames.size());
  std::uint64_t offset = bytes_;
  const std::int64_t now_unix_ns = clock_.unix_ns();
  for (const FrameDraft* frame : frames) {
    FrameHeader header;
    header.kind = frame->kind;
    header.flags = frame->flags;
    header.payload_crc = payload_crc_of(*frame);
    header.payload_bytes = payload_bytes_of(*frame);
    header.file_offset = offset;
    header.sequence = index_.frames.size() + headers.size();
    header.step = frame->step;
    header.writer_id = writer_id_;
    header.run_salt = run_salt_;
    header.unix_ns = now_unix_ns;
    offset += header.frame_bytes();
    headers.push_back(header);
  }
  return headers;
}

Status SegmentWriter::write(std::span<const FrameDraft* const> frames, std::span<const FrameHeader> headers) {
  std::vector<HeaderBytes> header_bytes;
  header_bytes.reserve(headers.size());
  std::vector<ByteSpan> parts;
  for (std::size_t i = 0; i < headers.size(); ++i) {
    header_bytes.push_back(format::encode_frame_header(headers[i]));
    append_parts(*frames[i], headers[i], header_bytes.back(), parts);
  }
  return file_->append(parts);
}

void SegmentWriter::remember(const AppendDraft& draft, std::span<const FrameHeader> headers) {
  const auto first_frame = static_cast<std::uint32_t>(index_.frames.size());
  for (const FrameHeader& header : headers) {
    index_.frames.push_back({header.file_offset, header.kind, header.step, header.payload_bytes, header.unix_ns});
    bytes_ += header.frame_bytes();
  }
  for (RecordIndexRow record : draft.records) {
    record.frame += first_frame;
    open_records_.push_back(record);
  }
  if (draft.step) remember_step(*draft.step, first_frame);
  for (format::SampleIndexRow samples : draft.samples) {
    samples.frame += first_frame;
    index_.samples.push_back(samples);
  }
  named_ids_.insert(draft.named_ids.begin(), draft.named_ids.end());
  named_metrics_.insert(draft.named_metrics.begin(), draft.named_metrics.end());
}

// The records count frames from the first that they need: so they are the same for a step that tells names, too.
void SegmentWriter::remember_step(format::StepIndexRow step, std::uint32_t first_frame) {
  step.frame += first_frame;
  step.unix_ns = index_.frames[step.frame].unix_ns;
  step.first_frame = open_records_.empty() ? first_frame : open_records_.front().frame;
  for (const RecordIndexRow& record : open_records_) step.first_frame = std::min(step.first_frame, record.frame);
  for (RecordIndexRow& record : open_records_) record.frame -= step.first_frame;
  step.layout = layouts_.add(open_records_);
  step.record_count = 0;
  index_.steps.push_back(step);
  record_count_ += open_records_.size();
  open_records_.clear();
}

// Few records are a row each, which programs from before records were shared understand, too.
void SegmentWriter::complete_index() {
  if (record_count_ > kMostUnsharedRecords) {
    index_.records = layouts_.all_records();
    index_.layouts = layouts_.record_counts();
    return;
  }
  for (format::StepIndexRow& step : index_.steps) {
    const std::span<const RecordIndexRow> records = layouts_.records(step.layout);
    step.first_record = static_cast<std::uint32_t>(index_.records.size());
    step.record_count = static_cast<std::uint32_t>(records.size());
    for (RecordIndexRow record : records) {
      record.frame += step.first_frame;
      index_.records.push_back(record);
    }
  }
}

Status SegmentWriter::seal(bool synced) {
  complete_index();
  format::Trailer trailer;
  trailer.index_offset = bytes_;
  trailer.frames = static_cast<std::uint32_t>(index_.frames.size());
  AppendDraft draft;
  draft.frames.push_back(draft_of(FrameKind::kIndex, format::encode_segment_index(index_)));
  draft.frames.push_back(draft_of(FrameKind::kTrailer, format::encode_trailer(trailer)));
  TRAINWARDEN_RETURN_IF_ERROR(append(draft));
  return leave_open(synced);
}

Status SegmentWriter::leave_open(bool synced) {
  if (synced) TRAINWARDEN_RETURN_IF_ERROR(file_->sync());
  return file_->close();
}

}  // namespace trainwarden::journal
