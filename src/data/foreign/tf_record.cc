// TFRecord framing: reading accepts both footers, writing makes the one that is asked for.
#include "data/foreign/tf_record.h"

#include <bit>

#include <fmt/format.h>

#include "core/base/crc32c.h"

namespace trainwarden::foreign {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kFrameBytes = kRecordHeaderBytes + kRecordFooterBytes;

std::uint32_t masked_crc(ByteSpan bytes) {
  return std::rotr(crc32c(bytes), 15) + 0xa282ead8u;
}

// What smdebug puts behind every payload, so that it need not compute a CRC in Python.
std::uint32_t constant_footer() {
  static const std::uint32_t footer = masked_crc(as_bytes("0x12345678"));
  return footer;
}

template <class T>
void append_le(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// The payload's length out of the first kRecordHeaderBytes bytes.
Result<std::uint64_t> decode_length(ByteSpan header) {
  const auto expected = load_le<std::uint32_t>(header, kLengthBytes);
  const std::uint32_t found = masked_crc(header.first(kLengthBytes));
  const auto length = load_le<std::uint64_t>(header, 0);
  if (expected == found) return length;
  return Status(Code::kDataLoss, fmt::format("event record: its length ({}) has CRC {:08x}, {:08x} was written", length,
                                             found, expected));
}

Status check_footer(ByteSpan payload, ByteSpan footer) {
  const auto written = load_le<std::uint32_t>(footer, 0);
  if (written == constant_footer() || written == masked_crc(payload)) return {};
  return Status(Code::kDataLoss,
                fmt::format("event record: its footer {:08x} is neither the payload's CRC ({:08x}) nor smdebug's "
                            "constant ({:08x})",
                            written, masked_crc(payload), constant_footer()));
}

}  // namespace

void append_record(std::string& out, ByteSpan payload, RecordFooter footer) {
  out.reserve(out.size() + payload.size() + kFrameBytes);
  const auto length = static_cast<std::uint64_t>(payload.size());
  append_le(out, length);
  append_le(out, masked_crc(std::as_bytes(std::span(&length, 1))));
  out.append(as_text(payload));
  append_le(out, footer == RecordFooter::kConstant ? constant_footer() : masked_crc(payload));
}

Result<ByteSpan> decode_record(ByteSpan record) {
  if (record.size() < kFrameBytes) {
    return Status(Code::kDataLoss,
                  fmt::format("event record: at least {} bytes expected, {} found", kFrameBytes, record.size()));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint64_t length, decode_length(record));
  if (length != record.size() - kFrameBytes) {
    return Status(Code::kDataLoss, fmt::format("event record: a payload of {} bytes expected, {} found", length,
                                               record.size() - kFrameBytes));
  }
  const ByteSpan payload = record.subspan(kRecordHeaderBytes, length);
  TRAINWARDEN_RETURN_IF_ERROR(check_footer(payload, record.last(kRecordFooterBytes)));
  return payload;
}

Result<std::optional<ByteSpan>> RecordWalk::next() {
  const ByteSpan rest = file_.subspan(offset_);
  if (rest.empty() || torn_) return std::optional<ByteSpan>();
  if (rest.size() < kRecordHeaderBytes) {
    torn_ = true;
    return std::optional<ByteSpan>();
  }
  const Result<std::uint64_t> length = decode_length(rest);
  if (!length.ok()) {
    const Status damage = length.status().with_context(fmt::format("at byte {}", offset_));
    offset_ = file_.size();
    return damage;
  }
  if (rest.size() < kFrameBytes || *length > rest.size() - kFrameBytes) {
    torn_ = true;
    return std::optional<ByteSpan>();
  }
  const std::uint64_t start = offset_;
  offset_ += kFrameBytes + *length;
  Result<ByteSpan> payload = decode_record(rest.first(kFrameBytes + *length));
  if (!payload.ok()) return payload.status().with_context(fmt::format("at byte {}", start));
  return std::optional<ByteSpan>(*payload);
}

}  // namespace trainwarden::foreign
