// Fuzzes smdebug's index files: what is taken is read again as the same when written, by a parser that has read others.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "data/foreign/smdebug_index.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace trainwarden;
  static foreign::SmdebugIndexParser parser;
  foreign::SmdebugIndex index;
  const Status status = parser.parse({reinterpret_cast<const char*>(data), bytes}, index);
  if (!status.ok()) {
    if (status.code() != Code::kDataLoss || status.message().empty()) std::abort();
    return 0;
  }
  foreign::SmdebugIndex again{.mode = Mode::kEval, .tensors = {{"x", 1, 2}}, .shapes = {{"y", "z", {3}}}};
  if (!parser.parse(foreign::encode_smdebug_index(index), again).ok() || again != index) std::abort();
  return 0;
}
