// How often a request to S3 is made again, and after which pause: exponential with full jitter
// (aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter), within a budget that all requests share, so that
// a server that is down is not asked more than it was before.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "store/s3/fork_aware_mutex.h"

namespace trainwarden::storage {

// From many threads at once.
class RetryPauses {
 public:
  RetryPauses(int max_attempts, std::uint64_t seed) : max_attempts_(max_attempts), random_(seed) {}

  // The pause before attempt `attempt` + 1, after number `attempt` (from 1) has failed; nothing: it is not made.
  std::optional<std::chrono::milliseconds> pause_after(int attempt);
  // A request was answered: what its retries took comes back, and a little more.
  void answered(int attempts);

 private:
  const int max_attempts_;
  ForkAwareMutex mutex_;
  std::uint64_t random_;
  int budget_ = 500;
};

}  // namespace trainwarden::storage
