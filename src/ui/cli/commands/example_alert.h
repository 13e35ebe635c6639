// An alert that says it is a test, to see whether an action reaches who it is for.
#pragma once

#include <cstdint>
#include <string>

#include "react/actions/action.h"
#include "react/delivery/subscription.h"
#include "react/events/event.h"

namespace trainwarden::cli {

inline constexpr const char* kExampleRun = "test-of-actions";

// `rule`: whose alert it is said to be. Key and id begin with "test-".
events::Event example_alert(const std::string& rule, std::int64_t unix_ns);
// As the subscription's action would get it.
actions::EventNotice example_notice(const events::Event& alert, const delivery::Subscription& subscription);

}  // namespace trainwarden::cli
