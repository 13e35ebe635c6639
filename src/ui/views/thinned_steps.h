// A few of many steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace trainwarden::views {

// At most `most` of `steps`, and the last one: each n-th, n a power of two, counted from the first, so that those
// chosen stay the same while a run grows.
std::vector<std::int64_t> thinned_steps(std::span<const std::int64_t> steps, std::size_t most);

}  // namespace trainwarden::views
