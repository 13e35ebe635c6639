// RetryDelay: how long to leave a storage alone that fails again and again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "trainwarden/status.h"

namespace trainwarden::journal {

// The first failure is followed by another try at once, each further one by a delay, twice as long every time: a disk
// that stays full must not be littered with the beginnings of segments. Times are steady.
class RetryDelay {
 public:
  // Ok, or the last failure when it is too early.
  Status may_try(std::int64_t now_ns) const { return now_ns < next_try_ns_ ? last_failure_ : Status(); }

  void failed(Status failure, std::int64_t now_ns) {
    last_failure_ = std::move(failure);
    next_try_ns_ = now_ns + delay_ns_;
    delay_ns_ = std::clamp(2 * delay_ns_, kLeastDelayNs, kMostDelayNs);
  }

  void succeeded() { *this = RetryDelay(); }

 private:
  static constexpr std::int64_t kLeastDelayNs = 100'000'000;
  static constexpr std::int64_t kMostDelayNs = 10'000'000'000;

  Status last_failure_;
  std::int64_t delay_ns_ = 0;
  std::int64_t next_try_ns_ = 0;
};

}  // namespace trainwarden::journal
