// Random numbers that are the same on every machine: what the standard's distributions give differs between libraries.
#pragma once

#include <cstdint>
#include <random>

namespace bert {

// From [0, count), each as likely. `count` is not 0.
inline std::uint64_t draw_below(std::mt19937_64& random, std::uint64_t count) {
  const std::uint64_t bound = std::mt19937_64::max() - std::mt19937_64::max() % count;
  std::uint64_t drawn = random();
  while (drawn >= bound) drawn = random();
  return drawn % count;
}

}  // namespace bert
