// TFRecord framing: the records of TensorBoard's and of smdebug's event files.
//
//   8 bytes  payload length, little-endian      4 bytes  masked CRC-32C of those 8
//   N bytes  payload                            4 bytes  footer
//
// masked(c) = rotate_right(c, 15) + 0xA282EAD8 mod 2^32. In TensorBoard's files the footer is the masked CRC-32C of the
// payload; in smdebug's that of the ten characters "0x12345678", whatever the payload. Each reads only its own.
// Source: TensorFlow's record format; smdebug 1.0.34.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/bytes.h"
#include "trainwarden/status.h"

namespace trainwarden::foreign {

enum class RecordFooter : std::uint8_t {
  kPayloadCrc,  // as TensorBoard wants it
  kConstant,    // as smdebug wants it
};

inline constexpr std::size_t kRecordHeaderBytes = 12;
inline constexpr std::size_t kRecordFooterBytes = 4;

void append_record(std::string& out, ByteSpan payload, RecordFooter footer);

// The payload of one complete record (header to footer). kDataLoss when the length does not fit, its CRC is wrong, or
// the footer is neither of the two.
Result<ByteSpan> decode_record(ByteSpan record);

// The records of a file, one after the other. A torn record at the end ends them; torn() says so.
class RecordWalk {
 public:
  explicit RecordWalk(ByteSpan file) : file_(file) {}

  // The next payload, none at the end. kDataLoss when the record is damaged: where the next one begins is then unknown
  // when its length is damaged, and the walk is over; with a damaged payload the walk goes on.
  Result<std::optional<ByteSpan>> next();
  std::uint64_t offset() const { return offset_; }  // of the record that next() will look at
  bool torn() const { return torn_; }

 private:
  ByteSpan file_;
  std::uint64_t offset_ = 0;
  bool torn_ = false;
};

}  // namespace trainwarden::foreign
