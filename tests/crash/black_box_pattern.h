// What the child of the black box's crash tests saves, so that the test can say what must be there.
#pragma once

#include <cstdint>
#include <vector>

namespace trainwarden::crash {

inline constexpr const char* kBoxWeight = "fc.weight";
inline constexpr const char* kBoxGradient = "gradient/fc.weight";
inline constexpr int kBoxSteps = 3;
inline constexpr std::int64_t kBoxFailingStep = 20;

inline std::vector<float> box_values(std::int64_t step) {
  std::vector<float> values(1000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(step) + 0.001f * static_cast<float>(i);
  return values;
}

}  // namespace trainwarden::crash
