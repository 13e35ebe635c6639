#include "store/s3/retry_pauses.h"

#include <algorithm>
#include <mutex>

namespace trainwarden::storage {
namespace {

constexpr int kBudget = 500, kRetryCost = 5;
constexpr std::int64_t kFirstPauseMs = 100, kMaxPauseMs = 10'000;

}  // namespace

std::optional<std::chrono::milliseconds> RetryPauses::pause_after(int attempt) {
  const std::lock_guard guard(mutex_);
  if (attempt >= max_attempts_ || budget_ < kRetryCost) return std::nullopt;
  budget_ -= kRetryCost;
  random_ = random_ * 6364136223846793005ULL + 1442695040888963407ULL;  // Knuth's MMIX
  const std::int64_t most = std::min(kMaxPauseMs, kFirstPauseMs << std::min(attempt - 1, 10));
  return std::chrono::milliseconds(static_cast<std::int64_t>(random_ >> 33) % (most + 1));
}

void RetryPauses::answered(int attempts) {
  const std::lock_guard guard(mutex_);
  budget_ = std::min(kBudget, budget_ + kRetryCost * (attempts - 1) + 1);
}

}  // namespace trainwarden::storage
