// HistogramCounter: counts float32 values by the top 11 bits of their pattern.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "trainwarden/statistics.h"

namespace trainwarden {

// 32 KiB. One thread at a time.
class HistogramCounter {
 public:
  void add(const float* values, std::size_t count);
  Histogram histogram();

 private:
  // Equal values that follow one another would wait for each other's count in memory: neighbours go to different
  // tables.
  static constexpr std::size_t kTables = 4;
  static constexpr std::size_t kTallyLimit = 65535;

  void empty_tallies();

  std::array<std::array<std::uint16_t, Histogram::kBinCount>, kTables> tallies_{};  // small, to stay in the cache
  std::size_t tallied_ = 0;
  std::array<std::uint64_t, Histogram::kBinCount> counts_{};
};

}  // namespace trainwarden
