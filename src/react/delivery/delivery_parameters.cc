#include "react/delivery/delivery_parameters.h"

#include <fmt/format.h>

namespace trainwarden::delivery {
namespace {

using std::chrono::milliseconds;

constexpr const char* kFormat = "format";
constexpr const char* kCoolDown = "cool_down";
constexpr const char* kSince = "since";
constexpr const char* kFirstDelay = "retry.first_delay";
constexpr const char* kLongestDelay = "retry.longest_delay";
constexpr const char* kMaxAttempts = "retry.max_attempts";
constexpr const char* kMaxAge = "retry.max_age";

constexpr std::int64_t kMostAttempts = 1'000'000;

}  // namespace

DeliveryParameters take_delivery_parameters(actions::ActionParameters& parameters) {
  DeliveryParameters taken;
  const std::string format = parameters.choice(kFormat, "cloudevents", {"cloudevents", "eventbridge"});
  taken.format = format == "eventbridge" ? EventFormat::kEventBridge : EventFormat::kCloudEvents;
  taken.cool_down = parameters.duration(kCoolDown, taken.cool_down);
  taken.from_now = parameters.choice(kSince, "start", {"start", "now"}) == "now";
  RetryPolicy& retry = taken.retry;
  retry.first_delay = parameters.duration(kFirstDelay, retry.first_delay);
  retry.longest_delay = parameters.duration(kLongestDelay, retry.longest_delay);
  retry.max_attempts = static_cast<int>(parameters.integer(kMaxAttempts, retry.max_attempts, 1, kMostAttempts));
  retry.max_age = parameters.duration(kMaxAge, retry.max_age);
  if (retry.longest_delay < retry.first_delay) {
    parameters.refuse(Status(Code::kInvalidArgument,
                             fmt::format("{}: expected no less than {}, found {} ms and {} ms", kLongestDelay,
                                         kFirstDelay, retry.longest_delay.count(), retry.first_delay.count())));
  }
  return taken;
}

const std::vector<std::string>& delivery_parameter_names() {
  static const std::vector<std::string> names{kFormat,       kCoolDown,    kSince, kFirstDelay,
                                              kLongestDelay, kMaxAttempts, kMaxAge};
  return names;
}

}  // namespace trainwarden::delivery
