// RecordedClock: the time of what is written, which is long past.
#pragma once

#include <cstdint>

#include "core/base/clock.h"

namespace trainwarden::transfer {

class RecordedClock final : public Clock {
 public:
  std::int64_t unix_ns() const override { return unix_ns_; }
  std::int64_t steady_ns() const override { return unix_ns_; }
  void set(std::int64_t unix_ns) { unix_ns_ = unix_ns; }

 private:
  std::int64_t unix_ns_ = 0;
};

}  // namespace trainwarden::transfer
