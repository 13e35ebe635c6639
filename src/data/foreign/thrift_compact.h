// Thrift's compact protocol, writing: the fields of structs with rising numbers. Source: apache/thrift,
// "thrift-compact-protocol".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainwarden::foreign {

enum class ThriftType : std::uint8_t {
  kTrue = 1,
  kFalse = 2,
  kByte = 3,
  kInt32 = 5,
  kInt64 = 6,
  kBinary = 8,
  kList = 9,
  kStruct = 12
};

// Begins as the outermost struct.
class ThriftWriter {
 public:
  void boolean(int field, bool value) { begin_field(field, value ? ThriftType::kTrue : ThriftType::kFalse); }
  void byte(int field, std::int8_t value) {
    begin_field(field, ThriftType::kByte);
    out_ += static_cast<char>(value);
  }
  void int32(int field, std::int32_t value) {
    begin_field(field, ThriftType::kInt32);
    varint(zigzag(value));
  }
  void int64(int field, std::int64_t value) {
    begin_field(field, ThriftType::kInt64);
    varint(zigzag(value));
  }
  void text(int field, std::string_view value) {
    begin_field(field, ThriftType::kBinary);
    element(value);
  }
  // Its elements follow: element() for numbers and texts, begin_element() and end_struct() for structs.
  void list(int field, ThriftType type, std::size_t size) {
    begin_field(field, ThriftType::kList);
    const auto kind = static_cast<unsigned>(type);
    if (size < 15) {
      out_ += static_cast<char>((size << 4) | kind);
    } else {
      out_ += static_cast<char>(0xF0u | kind);
      varint(size);
    }
  }
  void element(std::int32_t value) { varint(zigzag(value)); }
  void element(std::string_view value) {
    varint(value.size());
    out_ += value;
  }
  void begin_element() { last_fields_.push_back(0); }
  void begin_struct(int field) {
    begin_field(field, ThriftType::kStruct);
    last_fields_.push_back(0);
  }
  void end_struct() {
    out_ += '\0';
    last_fields_.pop_back();
  }
  // Of the outermost struct.
  std::string finish() {
    out_ += '\0';
    return std::move(out_);
  }

 private:
  static std::uint64_t zigzag(std::int64_t value) {
    return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
  }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_ += static_cast<char>(value | 0x80);
    out_ += static_cast<char>(value);
  }
  // Fields here are less than 15 apart.
  void begin_field(int field, ThriftType type) {
    out_ += static_cast<char>(((field - last_fields_.back()) << 4) | static_cast<int>(type));
    last_fields_.back() = field;
  }

  std::string out_;
  std::vector<int> last_fields_ = {0};
};

}  // namespace trainwarden::foreign
