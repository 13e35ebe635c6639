// Fuzzes the safetensors header: what is taken lies within the document, and is read again as the same when written.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "core/base/bytes.h"
#include "data/format/safetensors.h"

namespace {

using namespace trainwarden;

void check_round_trip(const format::SafetensorsHeader& header) {
  std::string document = format::encode_safetensors_header(header.entries, header.metadata);
  document.resize(document.size() + (header.entries.empty() ? 0 : header.entries.back().end));
  const auto again = format::decode_safetensors_header(as_bytes(document), document.size());
  if (!again.ok() || again->entries != header.entries || again->metadata != header.metadata) std::abort();
}

// What the quick reader takes, the careful one takes for the same: a blank behind the brace leads to that one.
void check_same_with_care(const format::SafetensorsHeader& header, ByteSpan document) {
  constexpr std::size_t kBrace = 9;
  std::string text(as_text(document));
  text.insert(kBrace, " ");
  store_le(std::as_writable_bytes(std::span(text)), 0, std::uint64_t{header.data_offset - 8 + 1});
  const auto careful = format::decode_safetensors_header(as_bytes(text), text.size());
  if (!careful.ok() || careful->entries != header.entries || careful->metadata != header.metadata) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteSpan document = std::as_bytes(std::span(data, size));
  const auto header = format::decode_safetensors_header(document, size);
  const auto of_half = format::decode_safetensors_header(document.first(size / 2), size);
  if (of_half.ok() && !header.ok()) std::abort();
  if (header.ok()) {
    for (const auto& entry : header->entries) {
      if (header->data_offset + entry.end > size) std::abort();
    }
    check_round_trip(*header);
    check_same_with_care(*header, document);
  }
  return 0;
}
