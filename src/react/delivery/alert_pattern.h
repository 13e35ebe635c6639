// The pattern of the alerts of some rules.
#pragma once

#include <span>
#include <string>

#include "react/delivery/subscription.h"

namespace trainwarden::delivery {

// As JSON, for events in this format. A rule is named by its id, in whatever case and also with '_' between its words
// ("vanishing_gradient"); '*' stands for any text.
std::string alert_pattern(std::span<const std::string> rules, EventFormat format);

}  // namespace trainwarden::delivery
