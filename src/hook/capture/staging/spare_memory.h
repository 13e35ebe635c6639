// Spare memory: how much more this process could take before the machine, or its container, has none.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace trainwarden::capture {

// In bytes; none where the system does not report it. Reads a few small files: for decisions that are rare.
std::optional<std::uint64_t> spare_memory_bytes();

// As seen from another root than "/".
std::optional<std::uint64_t> spare_memory_bytes(const std::filesystem::path& root);

}  // namespace trainwarden::capture
