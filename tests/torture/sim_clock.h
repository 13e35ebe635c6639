// SimClock: the clock of a simulated machine. It is moved by the case.
#pragma once

#include <cstdint>

#include "core/base/clock.h"

namespace trainwarden::torture {

inline constexpr std::int64_t kSecondNs = 1'000'000'000;

class SimClock final : public Clock {
 public:
  std::int64_t unix_ns() const override { return unix_ns_; }
  std::int64_t steady_ns() const override { return steady_ns_; }

  void advance(std::int64_t ns) {
    unix_ns_ += ns;
    steady_ns_ += ns;
  }
  // Somebody, or a server of the time, sets the wall clock: the other one does not know of it.
  void jump(std::int64_t ns) { unix_ns_ += ns; }

 private:
  std::int64_t unix_ns_ = 1'700'000'000'000'000'000;
  std::int64_t steady_ns_ = 1'000'000'000;
};

}  // namespace trainwarden::torture
