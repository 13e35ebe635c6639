// Protobuf's wire format: the fields of a message, one after the other, without a schema. Groups, which no schema of
// this century has, are refused. Source: protobuf.dev, "Encoding".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "trainwarden/status.h"

namespace trainwarden::foreign {

enum class WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// One field. read() gives its value as the schema's type; kDataLoss when it was written as another.
struct WireField {
  std::uint32_t number = 0;
  WireType type = WireType::kVarint;
  std::uint64_t bits = 0;  // of a varint or a fixed number
  ByteSpan bytes;          // of kBytes: text, a message, or packed numbers

  Status read(double& value) const;
  Status read(float& value) const;
  Status read(std::int64_t& value) const;
  Status read(std::int32_t& value) const;  // of longer varints the lower half, as protobuf has it
  Status read(bool& value) const;
  Status read(std::string& value) const;
  Status read(ByteSpan& value) const;  // a message, or bytes where they lie
};

class WireReader {
 public:
  explicit WireReader(ByteSpan message) : rest_(message) {}

  bool done() const { return rest_.empty(); }
  Result<WireField> next();  // not when done(); kDataLoss when there is no whole field
  Result<std::uint64_t> varint();
  Result<std::uint64_t> fixed(std::size_t bytes);  // 4 or 8

 private:
  Result<ByteSpan> take(std::uint64_t bytes);

  ByteSpan rest_;
};

// Calls visit(field) -> Status for each field of the message; `what` names the message in errors.
template <class Visit>
Status for_each_field(ByteSpan message, std::string_view what, Visit visit) {
  WireReader reader(message);
  while (!reader.done()) {
    const Result<WireField> field = reader.next();
    if (!field.ok()) return field.status().with_context(what);
    if (Status status = visit(*field); !status.ok()) return status.with_context(what);
  }
  return {};
}

// Calls visit(bits) -> Status for the numbers in one field of a repeated number: one of them, or many that are packed.
// `type` is that of one number.
template <class Visit>
Status for_each_number(const WireField& field, WireType type, Visit visit) {
  if (field.type == type) return visit(field.bits);
  ByteSpan packed;
  TRAINWARDEN_RETURN_IF_ERROR(field.read(packed));
  WireReader reader(packed);
  while (!reader.done()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint64_t bits, type == WireType::kVarint    ? reader.varint()
                                                           : type == WireType::kFixed64 ? reader.fixed(8)
                                                                                        : reader.fixed(4));
    TRAINWARDEN_RETURN_IF_ERROR(visit(bits));
  }
  return {};
}

// Calls read(bytes, result) -> Status for a field that is a message.
template <class Result, class Read>
Status read_message(const WireField& field, Result& result, Read read) {
  ByteSpan bytes;
  TRAINWARDEN_RETURN_IF_ERROR(field.read(bytes));
  return read(bytes, result);
}

// Fields that have their default value (0, "") are left out by those whose name does not say "always".
class WireWriter {
 public:
  void put(std::uint32_t number, double value);
  void put(std::uint32_t number, std::int64_t value);
  void put(std::uint32_t number, std::string_view value);
  void put_always(std::uint32_t number, float value);
  void put_always(std::uint32_t number, std::int64_t value);
  void put_fixed64(std::uint32_t number, std::uint64_t value);    // always
  void put_always(std::uint32_t number, std::string_view value);  // a repeated field, or a message
  void put_packed(std::uint32_t number, const std::vector<double>& values);
  // The start of a field of `bytes` bytes that the caller appends to what text() gives.
  std::string& start_bytes(std::uint32_t number, std::uint64_t bytes);

  const std::string& text() const { return text_; }
  std::string take() && { return std::move(text_); }
  void clear() { text_.clear(); }

 private:
  void put_varint(std::uint64_t value);
  void put_key(std::uint32_t number, WireType type);

  std::string text_;
};

}  // namespace trainwarden::foreign
