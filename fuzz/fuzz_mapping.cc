// Any text as an attention.toml: it is refused with a message, or says what a map may say.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ui/views/attention/mapping_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace trainwarden;
  const std::string_view text(reinterpret_cast<const char*>(data), bytes);
  const auto file = views::attention::parse_mapping(text, "attention.toml");
  if (!file.ok()) {
    if (file.status().code() != Code::kInvalidArgument || file.status().message().empty()) std::abort();
    return 0;
  }
  if (file->common.query.empty() != file->common.key.empty()) std::abort();
  if (file->layers.size() != file->places.size()) std::abort();
  for (const auto& layer : file->layers) {
    if (layer.name.empty() || (layer.attention.empty() && layer.query.empty())) std::abort();
  }
  return 0;
}
