#include "hook/capture/staging/packed_strings.h"

#include <cstdint>
#include <cstring>

namespace trainwarden::capture {

std::size_t packed_string_bytes(std::span<const std::string_view> strings) {
  std::size_t bytes = strings.size() * sizeof(std::uint64_t);
  for (const std::string_view text : strings) bytes += text.size();
  return bytes;
}

void pack_strings(std::span<const std::string_view> strings, MutableByteSpan destination) {
  std::size_t length_at = 0;
  std::size_t text_at = strings.size() * sizeof(std::uint64_t);
  for (const std::string_view text : strings) {
    store_le<std::uint64_t>(destination, length_at, text.size());
    if (!text.empty()) std::memcpy(destination.data() + text_at, text.data(), text.size());
    length_at += sizeof(std::uint64_t);
    text_at += text.size();
  }
}

std::vector<std::string> unpack_strings(ByteSpan packed, std::size_t count) {
  std::vector<std::string> strings;
  strings.reserve(count);
  std::size_t text_at = count * sizeof(std::uint64_t);
  for (std::size_t i = 0; i < count; ++i) {
    const auto length = load_le<std::uint64_t>(packed, i * sizeof(std::uint64_t));
    strings.emplace_back(as_text(packed.subspan(text_at, length)));
    text_at += length;
  }
  return strings;
}

}  // namespace trainwarden::capture
