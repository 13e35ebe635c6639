// Courier: delivers the events of a ledger to the subscriptions, each at least once and in order, and writes down what
// came of it. Each subscription has a thread of its own, so that one that hangs hurts no other.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "delivery/subscription.h"
#include "events/ledger.h"
#include "trainwarden/status.h"

namespace trainwarden::delivery {

struct CourierOptions {
  std::string run_name;
  std::filesystem::path run;
  const Clock* clock = &system_clock();
  std::uint64_t jitter_seed = 0;  // 0: from the clock
  // Called from the subscriptions' threads, one at a time, for each record but kStarted.
  std::function<void(const events::DeliveryRecord&, const events::Event&)> on_delivery;
};

struct Backlog {
  std::uint64_t pending = 0;  // events that are waiting for a subscriber, or on their way
  std::uint64_t dead = 0;     // dead letters
};

// All methods may be called from many threads at once.
class Courier {
 public:
  // Begins at once. `ledger` must outlive it.
  Courier(events::Ledger& ledger, std::vector<Subscription> subscriptions, CourierOptions options);
  ~Courier();  // stop()
  Courier(const Courier&) = delete;
  Courier& operator=(const Courier&) = delete;

  Backlog backlog() const;
  // Waits until nothing is pending. False when `timeout` has passed or `stop` was asked for before.
  bool drain(std::chrono::milliseconds timeout, const std::stop_token& stop = {});
  // The same, and does not wait for what failed and is to be tried again later.
  bool settle(std::chrono::milliseconds timeout, const std::stop_token& stop = {});
  // Asks the actions to leave, and waits for them. What is on its way then is delivered again by the next courier.
  void stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainwarden::delivery
