// What the messages of an MCAP export hold, as JSON Schema.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace trainwarden::transfer {

enum class McapForm : std::uint8_t { kValue, kScalar, kStatistics, kReductions, kShape, kEvent };
inline constexpr std::size_t kMcapForms = 6;

std::string_view name(McapForm form);    // "value", "scalar", ...: part of a topic
std::string schema_name(McapForm form);  // "trainwarden.value"
std::string schema_text(McapForm form);

}  // namespace trainwarden::transfer
