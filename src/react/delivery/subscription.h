// Subscription: which events go to which action, and how often it is tried.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "react/actions/action.h"
#include "react/match/pattern.h"

namespace trainwarden::delivery {

inline constexpr std::size_t kMaxSubscriptions = 64;  // of one run: each has a thread

// What a subscriber gets, and what its pattern is matched against.
enum class EventFormat : std::uint8_t { kCloudEvents, kEventBridge };

struct RetryPolicy {
  std::chrono::milliseconds first_delay{1'000};  // doubled each time, with full jitter
  std::chrono::milliseconds longest_delay{300'000};
  int max_attempts = 185;
  std::chrono::milliseconds max_age{24 * 3'600'000};  // of the event, or of its redrive
};

struct Subscription {
  std::string name;  // one of a kind within the run; what the ledger knows it by
  match::Pattern pattern;
  EventFormat format = EventFormat::kCloudEvents;
  std::unique_ptr<actions::Action> action;
  RetryPolicy retry;
  std::chrono::milliseconds cool_down{0};  // after a delivery, events with the same subject are left out for so long
  bool from_now = false;                   // not the events from before it was there
  std::string config;                      // the file that says so; empty: the command line
};

}  // namespace trainwarden::delivery
