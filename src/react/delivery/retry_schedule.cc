#include "react/delivery/retry_schedule.h"

#include <algorithm>

namespace trainwarden::delivery {

using std::chrono::milliseconds;

milliseconds longest_pause(const RetryPolicy& policy, int attempts) {
  milliseconds pause = policy.first_delay;
  for (int i = 1; i < attempts && pause < policy.longest_delay && pause.count() > 0; ++i) pause *= 2;
  return std::min(pause, policy.longest_delay);
}

milliseconds pause_after(const RetryPolicy& policy, int attempts, std::optional<milliseconds> retry_after,
                         std::mt19937_64& random) {
  std::uniform_int_distribution<milliseconds::rep> any(
      0, std::max<milliseconds::rep>(longest_pause(policy, attempts).count(), 0));
  return std::max(milliseconds(any(random)), retry_after.value_or(milliseconds(0)));
}

}  // namespace trainwarden::delivery
