// Streams of random numbers of their own, far from those of trials, which are their numbers (random.h).
#pragma once

#include <cstdint>

namespace trainwarden::tune {

inline constexpr std::uint64_t kSampleStream = std::uint64_t{1} << 62, kPedStream = kSampleStream + 1,
                               kForestStream = kSampleStream + 2;

}  // namespace trainwarden::tune
