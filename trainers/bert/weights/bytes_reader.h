// Reads numbers out of bytes that nobody trusts.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>

namespace bert {

// Of a tensor; no model comes near.
constexpr std::size_t kMaxDimensions = 16;

// Goes through bytes once. Everything throws std::runtime_error, which begins with `source`, where the bytes end too
// early. The bytes must outlive it.
class BytesReader {
 public:
  BytesReader(std::span<const std::byte> bytes, std::string source) : left_(bytes), source_(std::move(source)) {}

  bool at_end() const { return left_.empty(); }
  std::size_t left_bytes() const { return left_.size(); }

  std::span<const std::byte> take(std::uint64_t count) {
    if (count > left_.size()) {
      fail("expected " + std::to_string(count) + " more bytes, found " + std::to_string(left_.size()) +
           ". The file is truncated or damaged");
    }
    const auto taken = left_.first(count);
    left_ = left_.subspan(count);
    return taken;
  }

  std::string text(std::uint64_t count) {
    const auto taken = take(count);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }

  // A little-endian number.
  template <class Number>
  Number number() {
    Number value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

  // A number in groups of seven bits, lowest first, as Protocol Buffers have it.
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto group = number<std::uint8_t>();
      value |= static_cast<std::uint64_t>(group & 0x7f) << shift;
      if (group < 0x80) return value;
    }
    fail("expected a number of at most ten bytes, found a longer one. The file is damaged");
  }

  [[noreturn]] void fail(const std::string& what) const { throw std::runtime_error(source_ + ": " + what); }

 private:
  std::span<const std::byte> left_;
  std::string source_;
};

}  // namespace bert
