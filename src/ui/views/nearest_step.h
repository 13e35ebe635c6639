// Which step is shown when the one that is asked for does not have what is needed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace trainwarden::views {

// Of rising steps: `step` itself when it is one of them, else the one with the least distance, of two the earlier.
std::optional<std::int64_t> nearest_step(std::span<const std::int64_t> steps, std::int64_t step);

}  // namespace trainwarden::views
