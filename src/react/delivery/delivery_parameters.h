// DeliveryParameters: what a user may say of any action's delivery, beside the action's own parameters.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "react/actions/action_kind.h"
#include "react/delivery/subscription.h"

namespace trainwarden::delivery {

struct DeliveryParameters {
  EventFormat format = EventFormat::kCloudEvents;
  RetryPolicy retry;
  std::chrono::milliseconds cool_down{0};
  bool from_now = false;
};

// Takes them out; what is wrong with them is in parameters.status().
DeliveryParameters take_delivery_parameters(actions::ActionParameters& parameters);

// Their names: "format", "retry.first_delay", ...
const std::vector<std::string>& delivery_parameter_names();

}  // namespace trainwarden::delivery
