// SimClock: the clock of a simulated machine. It is moved by the case.
#pragma once

#include <cstdint>

#include "core/base/clock.h"

namespace trainwarden::torture {

class SimClock final : public Clock {
 public:
  std::int64_t unix_ns() const override { return unix_ns_; }
  std::int64_t steady_ns() const override { return steady_ns_; }

  void advance(std::int64_t ns) {
    unix_ns_ += ns;
    steady_ns_ += ns;
  }

 private:
  std::int64_t unix_ns_ = 1'700'000'000'000'000'000;
  std::int64_t steady_ns_ = 1'000'000'000;
};

}  // namespace trainwarden::torture
