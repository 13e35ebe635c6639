// Fuzzes smdebug's collections manifest: what is taken is written the same after another reading.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "data/foreign/smdebug_manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace trainwarden;
  const auto manifest = foreign::decode_smdebug_manifest({reinterpret_cast<const char*>(data), bytes});
  if (!manifest.ok()) {
    if (manifest.status().code() != Code::kDataLoss || manifest.status().message().empty()) std::abort();
    return 0;
  }
  const std::string written = foreign::encode_smdebug_manifest(*manifest);
  const auto again = foreign::decode_smdebug_manifest(written);
  if (!again.ok() || foreign::encode_smdebug_manifest(*again) != written) std::abort();
  return 0;
}
