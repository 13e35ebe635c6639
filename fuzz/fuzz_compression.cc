// Fuzzes compressed payloads: what is taken has exactly the length that it says, and is compressed and taken again.
//
// Odd first byte: the rest is content, to be compressed. Otherwise it is a payload, to be taken.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "data/format/compression.h"

namespace {

using namespace trainwarden;

void compress_and_take(ByteSpan content) {
  const std::optional<std::string> packed = format::compress_payload({&content, 1});
  if (!packed) return;
  std::vector<std::byte> again;
  if (packed->size() >= content.size()) std::abort();
  if (!format::decompress_payload(as_bytes(*packed), again).ok()) std::abort();
  if (as_text(again) != as_text(content)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const ByteSpan rest = std::as_bytes(std::span(data, size)).subspan(1);
  if (data[0] % 2 == 1) {
    compress_and_take(rest);
    return 0;
  }
  std::vector<std::byte> content;
  const auto bytes = format::content_bytes(rest);
  const Status status = format::decompress_payload(rest, content);
  if (!bytes.ok() && (status.ok() || !content.empty())) std::abort();
  if (!status.ok()) return 0;
  if (content.size() != *bytes || content.size() > format::kMaxCompression * rest.size()) std::abort();
  compress_and_take(content);
  return 0;
}
