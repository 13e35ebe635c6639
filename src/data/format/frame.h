// Frame: header and payload, the only unit on disk. The byte table is in docs/format/frame.md.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/base/bytes.h"
#include "trainwarden/mode.h"
#include "trainwarden/status.h"

namespace trainwarden::format {

inline constexpr std::uint64_t kFrameAlignment = 64;
inline constexpr std::size_t kFrameHeaderBytes = 64;
inline constexpr std::uint32_t kFrameMagic = 0x314D5754;  // "TWM1" as bytes on disk
inline constexpr std::uint8_t kFrameVersion = 1;

// The numbers go to disk. 0x80 and up are private; unknown kinds are skipped and counted.
enum class FrameKind : std::uint8_t {
  kSegmentStart = 1,  // JSON: whose segment this is
  kNames = 2,         // JSON: tensor ids and their names, collections
  kBundle = 3,        // safetensors: values of one worker and step
  kStatistics = 4,    // safetensors columns: statistics of one worker and step
  kScalars = 5,       // safetensors columns
  kSamples = 6,       // safetensors columns: metrics over time
  kEvent = 7,         // JSON
  kVerdict = 8,       // JSON
  kAction = 9,        // JSON
  kStepEnd = 10,      // JSON: the step is visible
  kIndex = 11,        // safetensors columns: where everything in this segment is
  kTrailer = 12,      // JSON: the segment is sealed, and where its index is
  kPad = 13,          // nothing
  kReductions = 14,   // safetensors columns: single reductions of one worker and step
  kOperators = 15,    // safetensors columns: operator calls of one worker and step
};
std::string_view name(FrameKind kind);

struct FrameHeader {
  FrameKind kind = FrameKind::kPad;
  std::uint16_t flags = 0;  // bits 0-2: the step's Mode, 0 outside steps; the rest 0
  std::uint32_t payload_crc = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t file_offset = 0;
  std::uint64_t sequence = 0;  // counts the frames of a segment from 0
  std::int64_t step = -1;      // global step, -1 outside steps
  std::uint32_t writer_id = 0;
  std::uint32_t run_salt = 0;
  std::int64_t unix_ns = 0;

  // From the start of this frame to the start of the next.
  std::uint64_t frame_bytes() const { return kFrameHeaderBytes + align_up(payload_bytes, kFrameAlignment); }
  friend bool operator==(const FrameHeader&, const FrameHeader&) = default;
};

std::array<std::byte, kFrameHeaderBytes> encode_frame_header(const FrameHeader& header);

// kDataLoss when the magic, the version or the CRC is wrong.
Result<FrameHeader> decode_frame_header(ByteSpan bytes);

}  // namespace trainwarden::format
