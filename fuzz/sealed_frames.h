// Checksums for fuzzed files: what the fuzzer has changed becomes what somebody has written, and goes deeper than the
// first check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "foreign/tf_record.h"
#include "format/frame.h"

namespace trainwarden::fuzz {

// Where the fields lie: docs/format/frame.md.
inline constexpr std::size_t kHeaderCrcAt = 8;
inline constexpr std::size_t kPayloadCrcAt = 12;
inline constexpr std::size_t kPayloadBytesAt = 16;
inline constexpr std::size_t kFileOffsetAt = 24;
inline constexpr std::size_t kWriterIdAt = 48;
inline constexpr std::size_t kRunSaltAt = 52;

// Makes whatever looks like a header at `offset` one that the decoder takes.
inline void seal_frame(std::string& segment, std::size_t offset, std::uint32_t salt, std::uint32_t writer_id) {
  const MutableByteSpan header(reinterpret_cast<std::byte*>(segment.data()) + offset, format::kFrameHeaderBytes);
  const auto payload_bytes = load_le<std::uint64_t>(header, kPayloadBytesAt);
  const std::size_t room_bytes = segment.size() - offset - format::kFrameHeaderBytes;
  if (payload_bytes <= room_bytes) {
    const ByteSpan payload = as_bytes(segment).subspan(offset + format::kFrameHeaderBytes, payload_bytes);
    store_le(header, kPayloadCrcAt, crc32c(payload));
  }
  store_le(header, kFileOffsetAt, std::uint64_t{offset});
  store_le(header, kWriterIdAt, writer_id);
  store_le(header, kRunSaltAt, salt);
  store_le(header, kHeaderCrcAt, std::uint32_t{0});
  store_le(header, kHeaderCrcAt, crc32c(header));
}

inline void seal_frames(std::string& segment, std::uint32_t salt, std::uint32_t writer_id = 0) {
  segment.resize(segment.size() / format::kFrameAlignment * format::kFrameAlignment);
  for (std::size_t offset = 0; offset < segment.size(); offset += format::kFrameAlignment) {
    const bool magic = load_le<std::uint32_t>(as_bytes(segment), offset) == format::kFrameMagic;
    if (magic) seal_frame(segment, offset, salt, writer_id);
  }
}

// The records of an event file, as far as its lengths are believable, with good checksums.
inline std::string seal_records(std::string_view events) {
  constexpr std::size_t kAround = foreign::kRecordHeaderBytes + foreign::kRecordFooterBytes;
  std::string sealed;
  while (events.size() >= kAround) {
    const auto length = load_le<std::uint64_t>(as_bytes(events), 0);
    if (length > events.size() - kAround) break;
    foreign::append_record(sealed, as_bytes(events.substr(foreign::kRecordHeaderBytes, length)),
                           foreign::RecordFooter::kPayloadCrc);
    events.remove_prefix(kAround + length);
  }
  return sealed;
}

}  // namespace trainwarden::fuzz
