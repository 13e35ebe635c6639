// Payloads of frames that are compressed with zstd. Which ones are: docs/format/frame.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "data/format/frame.h"
#include "trainwarden/status.h"

namespace trainwarden::format {

// In a frame's flags: its payload is one frame of zstd that says how long its content is.
inline constexpr std::uint16_t kCompressedFlag = 1 << 3;

// Words and tables; not what a reader takes parts of, what has to have its size or is found without a header, nor the
// index, which whoever opens a run waits for.
bool may_be_compressed(FrameKind kind);
// On a frame of another kind the flag means nothing.
inline bool is_compressed(const FrameHeader& header) {
  return (header.flags & kCompressedFlag) != 0 && may_be_compressed(header.kind);
}

// The flags of such a frame once its content is its payload.
inline std::uint16_t flags_of_content(const FrameHeader& header) {
  return static_cast<std::uint16_t>(header.flags & ~kCompressedFlag);
}

// Content that would be this many times as long as what is stored is stored as it is, and is refused where it is read:
// so no small file is a large one.
inline constexpr std::uint64_t kMaxCompression = 64;

// Of all parts, one after the other. Nothing when they are short, or when their frame would not become shorter by an
// eighth at least.
std::optional<std::string> compress_payload(std::span<const ByteSpan> parts);

// How long the content is, which nothing is read for. kDataLoss when the payload does not say, or says too much.
Result<std::uint64_t> content_bytes(ByteSpan payload);
// Into `content`, whose memory is used again. kDataLoss when the payload is no single frame of zstd, or its content not
// as long as it says. Ask content_bytes() first whether so much may be read.
Status decompress_payload(ByteSpan payload, std::vector<std::byte>& content);

}  // namespace trainwarden::format
