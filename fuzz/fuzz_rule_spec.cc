// Any text as a rule spec: it is refused with a message, or makes a rule.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "trainwarden/rule.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using trainwarden::Code;
  const auto spec = trainwarden::parse_rule_spec({reinterpret_cast<const char*>(data), bytes});
  if (!spec.ok()) {
    if (spec.status().code() != Code::kInvalidArgument || spec.status().message().empty()) std::abort();
    return 0;
  }
  const auto rule = trainwarden::create_rule(*spec);
  if (!rule.ok() && rule.status().code() != Code::kInvalidArgument) std::abort();
  return 0;
}
