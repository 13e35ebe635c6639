#include "data/format/frame.h"

#include <fmt/format.h>

#include "core/base/crc32c.h"

namespace trainwarden::format {
namespace {

// Where each field lies in the header; the table of docs/format/frame.md.
constexpr std::size_t kMagicAt = 0;
constexpr std::size_t kVersionAt = 4;
constexpr std::size_t kKindAt = 5;
constexpr std::size_t kFlagsAt = 6;
constexpr std::size_t kHeaderCrcAt = 8;
constexpr std::size_t kPayloadCrcAt = 12;
constexpr std::size_t kPayloadBytesAt = 16;
constexpr std::size_t kFileOffsetAt = 24;
constexpr std::size_t kSequenceAt = 32;
constexpr std::size_t kStepAt = 40;
constexpr std::size_t kWriterIdAt = 48;
constexpr std::size_t kRunSaltAt = 52;
constexpr std::size_t kUnixNsAt = 56;

// Over all 64 bytes, with the CRC's own four as zeros.
std::uint32_t header_crc(ByteSpan bytes) {
  constexpr std::array<std::byte, 4> kZeros{};
  constexpr std::size_t kAfterCrc = kHeaderCrcAt + kZeros.size();
  const std::uint32_t before = crc32c(bytes.first(kHeaderCrcAt));
  return crc32c(bytes.subspan(kAfterCrc, kFrameHeaderBytes - kAfterCrc), crc32c(kZeros, before));
}

Status damaged(std::string_view what) {
  return Status(Code::kDataLoss, fmt::format("frame header: {}", what));
}

}  // namespace

std::string_view name(FrameKind kind) {
  switch (kind) {
    case FrameKind::kSegmentStart: return "segment_start";
    case FrameKind::kNames: return "names";
    case FrameKind::kBundle: return "bundle";
    case FrameKind::kStatistics: return "statistics";
    case FrameKind::kScalars: return "scalars";
    case FrameKind::kSamples: return "samples";
    case FrameKind::kEvent: return "event";
    case FrameKind::kVerdict: return "verdict";
    case FrameKind::kAction: return "action";
    case FrameKind::kStepEnd: return "step_end";
    case FrameKind::kIndex: return "index";
    case FrameKind::kTrailer: return "trailer";
    case FrameKind::kPad: return "pad";
    case FrameKind::kReductions: return "reductions";
    case FrameKind::kOperators: return "operators";
  }
  return "unknown";
}

std::array<std::byte, kFrameHeaderBytes> encode_frame_header(const FrameHeader& header) {
  std::array<std::byte, kFrameHeaderBytes> bytes{};
  store_le(bytes, kMagicAt, kFrameMagic);
  store_le(bytes, kVersionAt, kFrameVersion);
  store_le(bytes, kKindAt, static_cast<std::uint8_t>(header.kind));
  store_le(bytes, kFlagsAt, header.flags);
  store_le(bytes, kPayloadCrcAt, header.payload_crc);
  store_le(bytes, kPayloadBytesAt, header.payload_bytes);
  store_le(bytes, kFileOffsetAt, header.file_offset);
  store_le(bytes, kSequenceAt, header.sequence);
  store_le(bytes, kStepAt, header.step);
  store_le(bytes, kWriterIdAt, header.writer_id);
  store_le(bytes, kRunSaltAt, header.run_salt);
  store_le(bytes, kUnixNsAt, header.unix_ns);
  store_le(bytes, kHeaderCrcAt, header_crc(bytes));
  return bytes;
}

Result<FrameHeader> decode_frame_header(ByteSpan bytes) {
  if (bytes.size() < kFrameHeaderBytes) {
    return damaged(fmt::format("{} bytes expected, {} found", kFrameHeaderBytes, bytes.size()));
  }
  const auto magic = load_le<std::uint32_t>(bytes, kMagicAt);
  if (magic != kFrameMagic) return damaged(fmt::format("magic {:#010x} expected, {:#010x} found", kFrameMagic, magic));
  const auto stored_crc = load_le<std::uint32_t>(bytes, kHeaderCrcAt);
  const std::uint32_t crc = header_crc(bytes);
  if (stored_crc != crc) return damaged(fmt::format("CRC {:#010x} expected, {:#010x} found", crc, stored_crc));
  const auto version = load_le<std::uint8_t>(bytes, kVersionAt);
  if (version != kFrameVersion) {
    return damaged(
        fmt::format("version {} expected, {} found; a newer trainwarden may read it", kFrameVersion, version));
  }

  FrameHeader header;
  header.kind = static_cast<FrameKind>(load_le<std::uint8_t>(bytes, kKindAt));
  header.flags = load_le<std::uint16_t>(bytes, kFlagsAt);
  header.payload_crc = load_le<std::uint32_t>(bytes, kPayloadCrcAt);
  header.payload_bytes = load_le<std::uint64_t>(bytes, kPayloadBytesAt);
  header.file_offset = load_le<std::uint64_t>(bytes, kFileOffsetAt);
  header.sequence = load_le<std::uint64_t>(bytes, kSequenceAt);
  header.step = load_le<std::int64_t>(bytes, kStepAt);
  header.writer_id = load_le<std::uint32_t>(bytes, kWriterIdAt);
  header.run_salt = load_le<std::uint32_t>(bytes, kRunSaltAt);
  header.unix_ns = load_le<std::int64_t>(bytes, kUnixNsAt);
  return header;
}

}  // namespace trainwarden::format
