#include "store/journal/segment_file.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/crc32c.h"
#include "data/format/compression.h"

namespace trainwarden::journal {
namespace {

constexpr std::uint64_t kLeastReadBytes = 4 << 10;
constexpr std::uint64_t kMostReadAheadBytes = 256 << 10;
constexpr std::size_t kPieceBytes = std::size_t{512} << 10;
constexpr std::uint64_t kVerifyBytes = 8 << 20;    // of a payload at a time; smaller ones can then be read for nothing
constexpr std::uint64_t kMostKeptBytes = 8 << 20;  // a larger buffer is given back when it is no longer needed

}  // namespace

Status SegmentFile::ensure_open() {
  if (file_) {
    open_files_.use(turn_);
    return Status();
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(auto file, storage_.open(path_));
  TRAINWARDEN_RETURN_IF_ERROR(measure(*file));
  turn_ = open_files_.add(*this);
  file_ = std::move(file);
  return Status();
}

Status SegmentFile::measure(const storage::ReadableFile& file) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint64_t stored_bytes, file.stored_bytes());
  if (stored_bytes <= stored_bytes_) return Status();
  budget_.earn(stored_bytes - stored_bytes_);
  stored_bytes_ = stored_bytes;
  return Status();
}

Status SegmentFile::check_payload(const format::FrameHeader& header) const {
  return budget_.check_whole(header.payload_bytes, stored_bytes_,
                             fmt::format("a payload in {} at byte {}", path_, header.file_offset));
}

void SegmentFile::close() {
  if (file_) open_files_.remove(turn_);
  file_.reset();
}

void SegmentFile::rest() {
  buffer_ = {};
  content_ = {};
  buffered_bytes_ = 0;
  read_ahead_bytes_ = 0;
}

void SegmentFile::release() {
  close();
  mapping_.reset();
  buffer_ = {};
  content_ = {};
  buffered_bytes_ = 0;
}

Result<std::uint64_t> SegmentFile::bytes() {
  TRAINWARDEN_RETURN_IF_ERROR(ensure_open());
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint64_t file_bytes, file_->bytes());
  if (file_bytes > stored_bytes_) TRAINWARDEN_RETURN_IF_ERROR(measure(*file_));
  return file_bytes;
}

Result<std::shared_ptr<const storage::FileMapping>> SegmentFile::map() {
  if (mapping_ == nullptr) {
    TRAINWARDEN_RETURN_IF_ERROR(ensure_open());
    TRAINWARDEN_ASSIGN_OR_RETURN(mapping_, file_->map());
  }
  return mapping_;
}

Result<ByteSpan> SegmentFile::read(ByteRange range) {
  const bool buffered = range.offset >= buffer_offset_ && range.bytes <= buffered_bytes_ &&
                        range.offset - buffer_offset_ <= buffered_bytes_ - range.bytes;
  if (!buffered) TRAINWARDEN_RETURN_IF_ERROR(fill(range.offset, range.bytes));
  if (range.offset - buffer_offset_ + range.bytes > buffered_bytes_) {
    return Status(Code::kDataLoss, fmt::format("{} ends at byte {}, before byte {}", path_,
                                               buffer_offset_ + buffered_bytes_, range.offset + range.bytes));
  }
  return ByteSpan(buffer_).subspan(range.offset - buffer_offset_, range.bytes);
}

// Reads ahead twice as far each time, as long as one read follows the other.
Status SegmentFile::fill(std::uint64_t offset, std::uint64_t bytes) {
  TRAINWARDEN_RETURN_IF_ERROR(ensure_open());
  if (bytes > kVerifyBytes) {
    TRAINWARDEN_RETURN_IF_ERROR(
        budget_.check_whole(bytes, stored_bytes_, fmt::format("a part of {} from byte {} on", path_, offset)));
  }
  const std::uint64_t buffer_end = buffer_offset_ + buffered_bytes_;
  const bool follows = offset >= buffer_offset_ && offset <= buffer_end + kLeastReadBytes;
  read_ahead_bytes_ =
      follows ? std::clamp(read_ahead_bytes_ * 2, kLeastReadBytes, kMostReadAheadBytes) : kLeastReadBytes;
  const std::uint64_t wanted_bytes = std::max(bytes, read_ahead_bytes_);
  buffered_bytes_ = 0;
  const bool too_large = buffer_.size() > kMostKeptBytes && wanted_bytes <= kMostKeptBytes;
  if (buffer_.size() < wanted_bytes || too_large) buffer_ = std::vector<std::byte>(wanted_bytes);
  TRAINWARDEN_ASSIGN_OR_RETURN(buffered_bytes_, file_->read_at(offset, MutableByteSpan(buffer_).first(wanted_bytes)));
  buffer_offset_ = offset;
  return Status();
}

Result<format::FrameHeader> SegmentFile::header_at(std::uint64_t offset, format::FrameKind kind,
                                                   const FrameOwner& owner) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const ByteSpan header_bytes, read({offset, format::kFrameHeaderBytes}));
  const Result<format::FrameHeader> header = format::decode_frame_header(header_bytes);
  if (!header.ok()) return header.status().with_context(fmt::format("{} at byte {}", path_, offset));
  std::string_view why = refusal(*header, owner, offset);
  if (why.empty() && header->kind != kind) why = "frame of another kind";
  // A segment only grows: what fitted once needs no look at the file.
  if (offset > known_bytes_ || !fits(*header, offset, known_bytes_)) {
    TRAINWARDEN_ASSIGN_OR_RETURN(known_bytes_, bytes());
  }
  if (why.empty() && !fits(*header, offset, known_bytes_)) why = "frame that reaches past the end of the file";
  if (why.empty()) return *header;
  return Status(Code::kDataLoss, fmt::format("{} at byte {}: {}", path_, offset, why));
}

Result<ByteSpan> SegmentFile::payload_of(const format::FrameHeader& header) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const ByteSpan payload,
                               read({header.file_offset + format::kFrameHeaderBytes, header.payload_bytes}));
  if (crc32c(payload) != header.payload_crc) return damaged_payload(header);
  if (!format::is_compressed(header)) return payload;
  Result<ByteSpan> content = content_of(payload);
  if (content.ok()) return content;
  return content.status().with_context(fmt::format("{} at byte {}", path_, header.file_offset));
}

Result<LargeBytes> SegmentFile::own_payload(const format::FrameHeader& header) {
  if (format::is_compressed(header)) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const ByteSpan content, payload_of(header));
    LargeBytes owned(content.size());
    std::copy(content.begin(), content.end(), owned.span().begin());
    return owned;
  }
  TRAINWARDEN_RETURN_IF_ERROR(check_payload(header));
  TRAINWARDEN_RETURN_IF_ERROR(ensure_open());
  LargeBytes owned(header.payload_bytes);
  std::uint32_t crc = 0;
  TRAINWARDEN_RETURN_IF_ERROR(read_directly(header.file_offset + format::kFrameHeaderBytes, owned.span(), &crc));
  if (crc != header.payload_crc) return damaged_payload(header);
  return owned;
}

Result<ByteSpan> SegmentFile::content_of(ByteSpan payload) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint64_t bytes, format::content_bytes(payload));
  TRAINWARDEN_RETURN_IF_ERROR(budget_.check_whole(bytes, stored_bytes_, "the content of a compressed payload"));
  TRAINWARDEN_RETURN_IF_ERROR(format::decompress_payload(payload, content_));
  return ByteSpan(content_);
}

Status SegmentFile::verify_payload(const format::FrameHeader& header) {
  if (verified_.contains(header.file_offset)) return Status();
  TRAINWARDEN_RETURN_IF_ERROR(check_payload(header));
  if (format::is_compressed(header)) return verify_content(header);
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint32_t crc,
                               crc_of({header.file_offset + format::kFrameHeaderBytes, header.payload_bytes}));
  if (crc != header.payload_crc) return damaged_payload(header);
  verified_.insert(header.file_offset);
  return Status();
}

Status SegmentFile::verify_content(const format::FrameHeader& header) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const ByteSpan content, payload_of(header));
  TRAINWARDEN_RETURN_IF_ERROR(budget_.scan(content.size(), path_));
  verified_.insert(header.file_offset);
  return Status();
}

// No copy, and no memory of ours that has to be cleared first. What is not in memory is read: the system then reads
// ahead, in large pages.
Status SegmentFile::verify_mapped_payload(const format::FrameHeader& header) {
  if (verified_.contains(header.file_offset)) return Status();
  TRAINWARDEN_RETURN_IF_ERROR(check_payload(header));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto mapping, map());
  ByteRange part{header.file_offset + format::kFrameHeaderBytes, 0};
  const std::uint64_t end = part.offset + header.payload_bytes;
  std::uint32_t crc = 0;
  for (; part.offset < end; part.offset += part.bytes) {
    part.bytes = std::min(end - part.offset, kVerifyBytes);
    if (!mapping->resident(part.offset, part.bytes)) return verify_payload(header);
    crc = crc32c(mapping->bytes().subspan(part.offset, part.bytes), crc);
  }
  if (crc != header.payload_crc) return damaged_payload(header);
  verified_.insert(header.file_offset);
  return Status();
}

Status SegmentFile::read_part(const format::FrameHeader& header, std::uint64_t begin, MutableByteSpan into,
                              bool verify) {
  const std::uint64_t payload = header.file_offset + format::kFrameHeaderBytes;
  if (begin > header.payload_bytes || into.size() > header.payload_bytes - begin) {
    return Status(Code::kDataLoss, fmt::format("{} at byte {}: a part that reaches past the end of its payload", path_,
                                               header.file_offset));
  }
  TRAINWARDEN_RETURN_IF_ERROR(check_payload(header));
  TRAINWARDEN_RETURN_IF_ERROR(ensure_open());
  if (!verify || verified_.contains(header.file_offset)) return read_directly(payload + begin, into, nullptr);
  const std::uint64_t end = begin + into.size();
  TRAINWARDEN_ASSIGN_OR_RETURN(std::uint32_t crc, crc_of({payload, begin}));
  TRAINWARDEN_RETURN_IF_ERROR(read_directly(payload + begin, into, &crc));
  TRAINWARDEN_ASSIGN_OR_RETURN(crc, crc_of({payload + end, header.payload_bytes - end}, crc));
  if (crc != header.payload_crc) return damaged_payload(header);
  verified_.insert(header.file_offset);
  return Status();
}

// In pieces that are still in the processor's cache when their CRC is computed.
Status SegmentFile::read_directly(std::uint64_t offset, MutableByteSpan into, std::uint32_t* crc) {
  while (!into.empty()) {
    const MutableByteSpan part = into.first(std::min(into.size(), kPieceBytes));
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint64_t read_bytes, file_->read_at(offset, part));
    if (read_bytes < part.size()) {
      return Status(Code::kDataLoss, fmt::format("{} ends at byte {}, before byte {}", path_, offset + read_bytes,
                                                 offset + into.size()));
    }
    if (crc != nullptr) *crc = crc32c(part, *crc);
    offset += part.size();
    into = into.subspan(part.size());
  }
  return Status();
}

Result<std::uint32_t> SegmentFile::crc_of(ByteRange range, std::uint32_t crc) {
  while (range.bytes > 0) {
    const std::uint64_t part_bytes = std::min(range.bytes, kVerifyBytes);
    TRAINWARDEN_ASSIGN_OR_RETURN(const ByteSpan part, read({range.offset, part_bytes}));
    crc = crc32c(part, crc);
    range.offset += part_bytes;
    range.bytes -= part_bytes;
  }
  return crc;
}

Status SegmentFile::damaged_payload(const format::FrameHeader& header) const {
  return Status(Code::kDataLoss,
                fmt::format("{} at byte {}: {} (its CRC differs)", path_, header.file_offset, kDamagedPayload));
}

}  // namespace trainwarden::journal
