// Courier: delivers the events of a ledger to the subscriptions, each at least once and in order, and writes down what
// came of it. Each subscription has a thread of its own, so that one that hangs hurts no other; one more thread finds
// out which events are for whom, and reads requests about dead letters from the run's control folder.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "data/format/delivery_request.h"
#include "react/delivery/subscription.h"
#include "react/events/ledger.h"
#include "trainwarden/status.h"

namespace trainwarden::delivery {

struct CourierOptions {
  std::string run_name;  // empty: the ledger has events of many, and each says whose it is
  std::filesystem::path run;
  std::string run_id;  // requests that are meant for another run are passed over; empty: none is
  const Clock* clock = &system_clock();
  std::uint64_t jitter_seed = 0;  // 0: from the clock
  // Called from the courier's threads, one at a time, for each record but kStarted. Of this class it may call
  // backlog().
  std::function<void(const events::DeliveryRecord&, const events::Event&)> on_delivery{};
  // How long stop() waits for actions. One that does not return by then is left behind with its thread, and what it
  // returns is heard by nobody; the process should end soon.
  std::chrono::milliseconds patience{10'000};
};

struct Backlog {
  std::uint64_t pending = 0;  // events that are waiting for a subscriber, or on their way
  std::uint64_t dead = 0;     // dead letters
};

// All methods may be called from many threads at once.
class Courier {
 public:
  // Begins at once, where the ledger's records end: what was redriven or dropped there is. While it runs, dead letters
  // are moved by requests. `ledger` and the clock must outlive it.
  Courier(events::Ledger& ledger, std::vector<Subscription> subscriptions, CourierOptions options);
  ~Courier();  // stop()
  Courier(const Courier&) = delete;
  Courier& operator=(const Courier&) = delete;

  Backlog backlog() const;
  // Waits until nothing is pending. False when `timeout` has passed, or when `stop` was asked for or stop() called
  // before.
  bool drain(std::chrono::milliseconds timeout, const std::stop_token& stop = {});
  // The same, and does not wait for what failed and is to be tried again later.
  bool settle(std::chrono::milliseconds timeout, const std::stop_token& stop = {});
  // Redrives or drops dead letters, as a file in the control folder would. Returns how many. A request with a key that
  // was carried out before moves no letter a second time.
  std::size_t request(const format::DeliveryRequest& request);
  // Looks at the clock and into the control folder at once. It does so by itself about once a second.
  void wake();
  // Asks the actions to leave, and waits for them (CourierOptions::patience). What is on its way then is delivered
  // again by the next courier.
  void stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainwarden::delivery
