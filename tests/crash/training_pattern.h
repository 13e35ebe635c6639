// What the child of the crash tests trains: every number follows from the life (which child of the run it is) and the
// step, so that the test knows what must be in the run without being told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trainwarden::crash {

inline constexpr const char* kValues = "layer.weight";
inline constexpr const char* kReduced = "gradient/layer.weight";
inline constexpr const char* kLife = "life";

inline std::vector<float> values_at(std::int64_t life, std::int64_t step) {
  const auto count = static_cast<std::size_t>(1 + (life * 131 + step * 37) % 700);
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(life * 1'000 + step) + static_cast<float>(i) / 1024.0f;
  }
  return values;
}

}  // namespace trainwarden::crash
