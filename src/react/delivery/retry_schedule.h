// When a delivery that failed is tried again.
#pragma once

#include <chrono>
#include <optional>
#include <random>

#include "react/delivery/subscription.h"

namespace trainwarden::delivery {

// The longest pause after the n-th attempt (from 1): the first delay, doubled each time, up to the longest delay.
std::chrono::milliseconds longest_pause(const RetryPolicy& policy, int attempts);

// A pause between nothing and the longest one (full jitter), and no shorter than what the target asked for.
std::chrono::milliseconds pause_after(const RetryPolicy& policy, int attempts,
                                      std::optional<std::chrono::milliseconds> retry_after, std::mt19937_64& random);

}  // namespace trainwarden::delivery
