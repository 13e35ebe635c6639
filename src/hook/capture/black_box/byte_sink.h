// ByteSink: where the files of a dump go, byte after byte. No sink and nothing here allocates, locks or throws, so that
// signal handlers may use them; what goes wrong is kept until somebody asks.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/crc32c.h"

namespace trainwarden::capture {

class ByteSink {
 public:
  ByteSink() = default;
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;
  virtual void put(ByteSpan bytes) noexcept = 0;

  void text(std::string_view text) noexcept { put(as_bytes(text)); }
  void number(std::int64_t number) noexcept {
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    text({digits.data(), static_cast<std::size_t>(end - digits.data())});
  }
  void number(std::uint64_t number) noexcept {
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    text({digits.data(), static_cast<std::size_t>(end - digits.data())});
  }

 protected:
  ~ByteSink() = default;
};

// Keeps nothing but the length and the CRC of what it is given.
class MeasuringSink final : public ByteSink {
 public:
  void put(ByteSpan bytes) noexcept override {
    crc_ = crc32c(bytes, crc_);
    bytes_ += bytes.size();
  }
  std::uint64_t bytes() const { return bytes_; }
  std::uint32_t crc() const { return crc_; }

 private:
  std::uint64_t bytes_ = 0;
  std::uint32_t crc_ = 0;
};

}  // namespace trainwarden::capture
