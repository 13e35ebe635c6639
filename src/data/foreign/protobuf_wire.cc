// Protobuf's wire format, read with every length checked against what is there.
#include "data/foreign/protobuf_wire.h"

#include <bit>

#include <fmt/format.h>

namespace trainwarden::foreign {
namespace {

constexpr std::uint32_t kMaxFieldNumber = (1u << 29) - 1;

std::string_view name(WireType type) {
  switch (type) {
    case WireType::kVarint: return "a varint";
    case WireType::kFixed64: return "8 bytes";
    case WireType::kBytes: return "bytes with a length";
    case WireType::kFixed32: return "4 bytes";
  }
  return "nothing known";
}

Status expect(const WireField& field, WireType type) {
  if (field.type == type) return {};
  return Status(Code::kDataLoss,
                fmt::format("field {}: expected {}, found {}", field.number, name(type), name(field.type)));
}

}  // namespace

Status WireField::read(double& value) const {
  TRAINWARDEN_RETURN_IF_ERROR(expect(*this, WireType::kFixed64));
  value = std::bit_cast<double>(bits);
  return {};
}

Status WireField::read(float& value) const {
  TRAINWARDEN_RETURN_IF_ERROR(expect(*this, WireType::kFixed32));
  value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  return {};
}

Status WireField::read(std::int64_t& value) const {
  TRAINWARDEN_RETURN_IF_ERROR(expect(*this, WireType::kVarint));
  value = static_cast<std::int64_t>(bits);
  return {};
}

Status WireField::read(std::int32_t& value) const {
  TRAINWARDEN_RETURN_IF_ERROR(expect(*this, WireType::kVarint));
  value = static_cast<std::int32_t>(bits);
  return {};
}

Status WireField::read(bool& value) const {
  TRAINWARDEN_RETURN_IF_ERROR(expect(*this, WireType::kVarint));
  value = bits != 0;
  return {};
}

Status WireField::read(std::string& value) const {
  TRAINWARDEN_RETURN_IF_ERROR(expect(*this, WireType::kBytes));
  value = as_text(bytes);
  return {};
}

Status WireField::read(ByteSpan& value) const {
  TRAINWARDEN_RETURN_IF_ERROR(expect(*this, WireType::kBytes));
  value = bytes;
  return {};
}

Result<ByteSpan> WireReader::take(std::uint64_t bytes) {
  if (bytes > rest_.size()) {
    return Status(Code::kDataLoss, fmt::format("{} bytes expected, {} found", bytes, rest_.size()));
  }
  const ByteSpan taken = rest_.first(bytes);
  rest_ = rest_.subspan(bytes);
  return taken;
}

Result<std::uint64_t> WireReader::varint() {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < rest_.size() && i < 10; ++i) {
    const auto byte = std::to_integer<std::uint64_t>(rest_[i]);
    if (i == 9 && byte > 1) break;  // more than 64 bits
    value |= (byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      rest_ = rest_.subspan(i + 1);
      return value;
    }
  }
  return Status(Code::kDataLoss, "a varint has no end");
}

Result<std::uint64_t> WireReader::fixed(std::size_t bytes) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const ByteSpan taken, take(bytes));
  return bytes == 8 ? load_le<std::uint64_t>(taken, 0) : load_le<std::uint32_t>(taken, 0);
}

Result<WireField> WireReader::next() {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint64_t key, varint());
  WireField field;
  if (key >> 3 == 0 || key >> 3 > kMaxFieldNumber) {
    return Status(Code::kDataLoss, fmt::format("{} is no field number", key >> 3));
  }
  field.number = static_cast<std::uint32_t>(key >> 3);
  field.type = static_cast<WireType>(key & 7);
  switch (field.type) {
    case WireType::kVarint: {
      TRAINWARDEN_ASSIGN_OR_RETURN(field.bits, varint());
      return field;
    }
    case WireType::kFixed64: {
      TRAINWARDEN_ASSIGN_OR_RETURN(field.bits, fixed(8));
      return field;
    }
    case WireType::kFixed32: {
      TRAINWARDEN_ASSIGN_OR_RETURN(field.bits, fixed(4));
      return field;
    }
    case WireType::kBytes: {
      TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint64_t bytes, varint());
      TRAINWARDEN_ASSIGN_OR_RETURN(field.bytes, take(bytes));
      return field;
    }
  }
  return Status(Code::kDataLoss, fmt::format("field {}: {} is no wire type", field.number, key & 7));
}

void WireWriter::put_varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) text_.push_back(static_cast<char>(value | 0x80));
  text_.push_back(static_cast<char>(value));
}

void WireWriter::put_key(std::uint32_t number, WireType type) {
  put_varint(std::uint64_t{number} << 3 | static_cast<std::uint64_t>(type));
}

void WireWriter::put(std::uint32_t number, double value) {
  if (std::bit_cast<std::uint64_t>(value) == 0) return;  // -0.0 is written
  put_key(number, WireType::kFixed64);
  text_.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void WireWriter::put(std::uint32_t number, std::int64_t value) {
  if (value == 0) return;
  put_key(number, WireType::kVarint);
  put_varint(static_cast<std::uint64_t>(value));
}

void WireWriter::put(std::uint32_t number, std::string_view value) {
  if (!value.empty()) put_always(number, value);
}

void WireWriter::put_always(std::uint32_t number, float value) {
  put_key(number, WireType::kFixed32);
  text_.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void WireWriter::put_always(std::uint32_t number, std::int64_t value) {
  put_key(number, WireType::kVarint);
  put_varint(static_cast<std::uint64_t>(value));
}

void WireWriter::put_fixed64(std::uint32_t number, std::uint64_t value) {
  put_key(number, WireType::kFixed64);
  text_.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void WireWriter::put_always(std::uint32_t number, std::string_view value) {
  start_bytes(number, value.size()).append(value);
}

void WireWriter::put_packed(std::uint32_t number, const std::vector<double>& values) {
  if (values.empty()) return;
  const ByteSpan bytes = std::as_bytes(std::span(values));
  put_always(number, as_text(bytes));
}

std::string& WireWriter::start_bytes(std::uint32_t number, std::uint64_t bytes) {
  put_key(number, WireType::kBytes);
  put_varint(bytes);
  return text_;
}

}  // namespace trainwarden::foreign
