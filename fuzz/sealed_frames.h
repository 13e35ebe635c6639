// Checksums for files that were changed by a fuzzer or a test (tests/hostile): the change becomes what somebody has
// written, and goes deeper than the first check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/crc32c.h"
#include "data/foreign/tf_record.h"
#include "data/format/frame.h"

namespace trainwarden::fuzz {

// Where the fields lie: docs/format/frame.md.
inline constexpr std::size_t kHeaderCrcAt = 8;
inline constexpr std::size_t kPayloadCrcAt = 12;
inline constexpr std::size_t kPayloadBytesAt = 16;
inline constexpr std::size_t kFileOffsetAt = 24;
inline constexpr std::size_t kWriterIdAt = 48;
inline constexpr std::size_t kRunSaltAt = 52;

inline MutableByteSpan header_at(std::string& segment, std::size_t offset) {
  return {reinterpret_cast<std::byte*>(segment.data()) + offset, format::kFrameHeaderBytes};
}

// The checksums of whatever looks like a header at `offset`, and of the payload that it claims. The payload's bytes;
// none when they are not there.
inline std::optional<std::uint64_t> seal_checksums(std::string& segment, std::size_t offset) {
  const MutableByteSpan header = header_at(segment, offset);
  const auto payload_bytes = load_le<std::uint64_t>(header, kPayloadBytesAt);
  const bool complete = payload_bytes <= segment.size() - offset - format::kFrameHeaderBytes;
  if (complete) {
    const ByteSpan payload = as_bytes(segment).subspan(offset + format::kFrameHeaderBytes, payload_bytes);
    store_le(header, kPayloadCrcAt, crc32c(payload));
  }
  store_le(header, kHeaderCrcAt, std::uint32_t{0});
  store_le(header, kHeaderCrcAt, crc32c(header));
  return complete ? std::optional(payload_bytes) : std::nullopt;
}

inline bool is_header_at(const std::string& segment, std::size_t offset) {
  return offset + format::kFrameHeaderBytes <= segment.size() &&
         load_le<std::uint32_t>(as_bytes(segment), offset) == format::kFrameMagic;
}

// Makes whatever looks like a header at `offset` one that the decoder takes there.
inline void seal_frame(std::string& segment, std::size_t offset, std::uint32_t salt, std::uint32_t writer_id) {
  const MutableByteSpan header = header_at(segment, offset);
  store_le(header, kFileOffsetAt, std::uint64_t{offset});
  store_le(header, kWriterIdAt, writer_id);
  store_le(header, kRunSaltAt, salt);
  seal_checksums(segment, offset);
}

inline void seal_frames(std::string& segment, std::uint32_t salt, std::uint32_t writer_id = 0) {
  segment.resize(segment.size() / format::kFrameAlignment * format::kFrameAlignment);
  for (std::size_t offset = 0; offset < segment.size(); offset += format::kFrameAlignment) {
    if (is_header_at(segment, offset)) seal_frame(segment, offset, salt, writer_id);
  }
}

// The records of an event file, as far as its lengths are believable, with good checksums; then what is left.
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
  sealed += events;
  return sealed;
}

}  // namespace trainwarden::fuzz
