#include "read/upkeep/segment_scan.h"

#include <utility>

#include "core/base/crc32c.h"
#include "core/base/no_throw.h"
#include "data/format/compression.h"
#include "data/format/safetensors.h"
#include "store/journal/journal_segment.h"
#include "store/journal/segment_intake.h"

namespace trainwarden::upkeep {

using format::FrameHeader;
using format::FrameKind;

std::string SegmentPlace::path() const {
  return journal::journal_folder(writer) + "/" + journal::segment_file(number);
}

journal::FrameOwner SegmentPlace::owner() const {
  return {crc32c(as_bytes(run)), journal::writer_id_of(writer)};
}

SegmentScan::SegmentScan(const storage::Storage& storage, SegmentPlace place)
    : place_(std::move(place)), file_(storage, budget_, open_files_, place_.path()) {}

Result<std::unique_ptr<SegmentScan>> SegmentScan::open(const storage::Storage& storage, SegmentPlace place,
                                                       ScanDepth depth, bool live) {
  using Opened = Result<std::unique_ptr<SegmentScan>>;
  return no_throw([&]() -> Opened {
    std::unique_ptr<SegmentScan> scan(new SegmentScan(storage, std::move(place)));
    TRAINWARDEN_ASSIGN_OR_RETURN(scan->file_bytes_, scan->file_.bytes());
    const Status index = scan->read_index();
    if (!index.ok() && !journal::is_damage(index)) return index;
    if (depth == ScanDepth::kIndexFirst && scan->index_) {
      const Status taken = scan->take_index();
      if (taken.ok()) return scan;
      if (!journal::is_damage(taken)) return taken;
      scan->frames_.clear();
      scan->names_.clear();
      scan->metrics_.clear();
    }
    TRAINWARDEN_RETURN_IF_ERROR(scan->walk(live));
    return scan;
  });
}

// What is not sealed has none; so has what is sealed and damaged there.
Status SegmentScan::read_index() {
  if (file_bytes_ < format::kTrailerFrameBytes) return Status();
  const journal::FrameOwner owner = place_.owner();
  TRAINWARDEN_ASSIGN_OR_RETURN(const FrameHeader trailer_header,
                               file_.header_at(file_bytes_ - format::kTrailerFrameBytes, FrameKind::kTrailer, owner));
  TRAINWARDEN_ASSIGN_OR_RETURN(const ByteSpan trailer_payload, file_.payload_of(trailer_header));
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::Trailer trailer, format::decode_trailer(as_text(trailer_payload)));
  sealed_ = true;
  index_offset_ = trailer.index_offset;
  TRAINWARDEN_ASSIGN_OR_RETURN(const FrameHeader header,
                               file_.header_at(trailer.index_offset, FrameKind::kIndex, owner));
  TRAINWARDEN_ASSIGN_OR_RETURN(const ByteSpan payload, file_.payload_of(header));
  TRAINWARDEN_ASSIGN_OR_RETURN(format::SegmentIndex index, format::decode_segment_index(payload));
  if (index.frames.size() != trailer.frames) {
    return Status(Code::kDataLoss, "index and trailer disagree on how many frames there are");
  }
  TRAINWARDEN_RETURN_IF_ERROR(budget_.hold(2 * header.payload_bytes, place_.path()));
  index_ = std::move(index);
  return Status();
}

// The frames as the index has them, and of the words what the ids stand for.
Status SegmentScan::take_index() {
  const journal::FrameOwner owner = place_.owner();
  for (const format::FrameIndexRow& row : index_->frames) {
    FrameHeader header;
    header.kind = row.kind;
    header.step = row.step;
    header.payload_bytes = row.payload_bytes;
    header.file_offset = row.offset;
    header.unix_ns = row.unix_ns;
    if (row.kind == FrameKind::kNames || row.kind == FrameKind::kSegmentStart) {
      TRAINWARDEN_ASSIGN_OR_RETURN(header, file_.header_at(row.offset, row.kind, owner));
      TRAINWARDEN_ASSIGN_OR_RETURN(const ByteSpan words, file_.payload_of(header));
      take_words(header, words);
    }
    if (!afford(sizeof(header), row.offset)) return Status();
    frames_.push_back(header);
  }
  return Status();
}

Status SegmentScan::walk(bool live) {
  journal::SegmentDecoder decoder(place_.owner(), *this);
  decoder.wait_for_late_bytes(live);
  TRAINWARDEN_RETURN_IF_ERROR(journal::walk(file_, decoder, budget_, file_bytes_));
  if (!live) decoder.finish(file_bytes_);
  return Status();
}

void SegmentScan::on_frame(const FrameHeader& header, ByteSpan payload) {
  if (is_full_ || is_another_ || !afford(sizeof(header), header.file_offset)) return;
  frames_.push_back(header);
  take_words(header, payload);
}

void SegmentScan::take_words(const FrameHeader& header, ByteSpan payload) {
  if (header.kind == FrameKind::kSegmentStart) {
    Result<format::SegmentStart> start = format::decode_segment_start(as_text(payload));
    if (!start.ok()) return add_undecodable(header);
    is_another_ = start->run != place_.run || start->writer != place_.writer || start->segment != place_.number;
    if (is_another_) {
      damage_.push_back({0, file_bytes_, 1, "segment that is not what its file name says"});
      frames_.clear();
    } else {
      start_ = std::move(*start);
    }
  } else if (header.kind == FrameKind::kNames) {
    Result<format::Names> names = format::decode_names(as_text(payload));
    if (!names.ok()) return add_undecodable(header);
    if (!afford(payload.size(), header.file_offset)) return;
    for (format::NameEntry& entry : names->tensors) names_[entry.id] = std::move(entry);
    for (auto& [id, metric] : names->metrics) metrics_[id] = std::move(metric);
  }
}

void SegmentScan::add_undecodable(const FrameHeader& header) {
  damage_.push_back({header.file_offset, header.frame_bytes(), 1, journal::kUndecodable});
}

bool SegmentScan::afford(std::uint64_t bytes, std::uint64_t offset) {
  if (is_full_) return false;
  if (budget_.hold(bytes, place_.path()).ok()) return true;
  is_full_ = true;
  damage_.push_back({offset, file_bytes_ - offset, 1, journal::kOverBudget});
  return false;
}

std::optional<FrameHeader> SegmentScan::header_at(std::uint64_t offset) {
  if (offset + format::kFrameHeaderBytes > file_bytes_) return std::nullopt;
  const Result<ByteSpan> bytes = no_throw([&] { return file_.read({offset, format::kFrameHeaderBytes}); });
  if (!bytes.ok()) return std::nullopt;
  const Result<FrameHeader> header = format::decode_frame_header(*bytes);
  const bool is_ours = header.ok() && journal::refusal(*header, place_.owner(), offset).empty();
  return is_ours ? std::optional(*header) : std::nullopt;
}

Result<ByteSpan> SegmentScan::payload(const FrameHeader& header) {
  return no_throw([&] { return file_.payload_of(header); });
}

Result<ByteSpan> SegmentScan::unchecked_payload(const FrameHeader& header) {
  return no_throw([&]() -> Result<ByteSpan> {
    const std::uint64_t bytes = format::kFrameHeaderBytes + header.payload_bytes;
    TRAINWARDEN_ASSIGN_OR_RETURN(const ByteSpan frame, file_.read({header.file_offset, bytes}));
    const ByteSpan payload = frame.subspan(format::kFrameHeaderBytes);
    // A header that was made of the index has no flags.
    const Result<FrameHeader> stored = format::decode_frame_header(frame);
    return stored.ok() && format::is_compressed(*stored) ? file_.content_of(payload) : Result<ByteSpan>(payload);
  });
}

Status SegmentScan::verify(const FrameHeader& header) {
  return no_throw([&]() -> Status {
    TRAINWARDEN_RETURN_IF_ERROR(budget_.scan(header.payload_bytes, place_.path()));
    return file_.verify_payload(header);
  });
}

Result<std::vector<format::BundleEntry>> SegmentScan::bundle_entries(const FrameHeader& header) {
  return no_throw([&]() -> Result<std::vector<format::BundleEntry>> {
    constexpr std::uint64_t kLengthFieldBytes = 8;
    const std::uint64_t offset = header.file_offset + format::kFrameHeaderBytes;
    if (header.payload_bytes < kLengthFieldBytes) return Status(Code::kDataLoss, "a bundle without a header");
    TRAINWARDEN_ASSIGN_OR_RETURN(const ByteSpan length, file_.read({offset, kLengthFieldBytes}));
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint64_t head_bytes,
                                 format::safetensors_header_bytes(length, header.payload_bytes));
    TRAINWARDEN_ASSIGN_OR_RETURN(const ByteSpan head, file_.read({offset, head_bytes}));
    return format::decode_bundle(head, header.payload_bytes);
  });
}

}  // namespace trainwarden::upkeep
