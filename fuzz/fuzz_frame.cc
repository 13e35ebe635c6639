// Fuzzes the frame header: what is taken must be written again as the same bytes.
//
// Odd first byte: the CRC is made right first, so that the fields behind it are reached too.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "core/base/bytes.h"
#include "core/base/crc32c.h"
#include "data/format/frame.h"

namespace {

using namespace trainwarden;

constexpr std::size_t kHeaderCrcAt = 8;  // docs/format/frame.md

void make_credible(std::string& bytes) {
  const MutableByteSpan header = std::as_writable_bytes(std::span(bytes)).first(format::kFrameHeaderBytes);
  store_le(header, kHeaderCrcAt, std::uint32_t{0});
  store_le(header, kHeaderCrcAt, crc32c(header));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 1 && bytes.size() >= format::kFrameHeaderBytes) make_credible(bytes);
  const auto header = format::decode_frame_header(as_bytes(bytes));
  if (!header.ok()) return 0;
  const auto again = format::encode_frame_header(*header);
  if (std::memcmp(again.data(), bytes.data(), again.size()) != 0) std::abort();
  return 0;
}
