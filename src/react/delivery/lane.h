// Lane: one subscription with its thread: what is to be delivered, in order, one after the other.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <stop_token>
#include <string>
#include <thread>

#include "core/base/clock.h"
#include "data/format/delivery_request.h"
#include "react/delivery/lane_history.h"
#include "react/delivery/subscription.h"
#include "react/events/ledger.h"

namespace trainwarden::delivery {

// The message of a record of a letter that was moved.
std::string asked_for_by(const format::DeliveryRequest& request);

// What the lanes of a courier share. An action that would not leave keeps it alive.
class LaneCircle {
 public:
  using OnDelivery = std::function<void(const events::DeliveryRecord&, const events::Event&)>;

  LaneCircle(std::string name, std::filesystem::path path, const Clock& time, OnDelivery on_delivery)
      : run_name(std::move(name)), run(std::move(path)), clock(time), on_delivery_(std::move(on_delivery)) {}

  const std::string run_name;
  const std::filesystem::path run;
  const Clock& clock;

  void report(const events::DeliveryRecord& record, const events::Event& event);

  // How often something has changed in any lane, and waiting for more.
  std::uint64_t changes() const;
  void note_change();
  void wait_for_change(std::uint64_t seen, std::chrono::steady_clock::time_point deadline,
                       const std::stop_token& stop) const;

 private:
  std::mutex report_mutex_;
  const OnDelivery on_delivery_;
  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  std::uint64_t changes_ = 0;
};

// All methods may be called from many threads at once.
class Lane : public std::enable_shared_from_this<Lane> {
 public:
  struct Standing {
    std::uint64_t pending = 0;
    std::uint64_t dead = 0;
    bool idle = true;     // nothing is pending or being delivered
    bool settled = true;  // or what is next waits for its time
  };

  // Events before `first_seq` that `history` does not have are ignored.
  Lane(events::Ledger& ledger, Subscription subscription, LaneHistory history, std::uint64_t first_seq,
       std::shared_ptr<LaneCircle> circle, std::uint64_t jitter_seed);

  const Subscription& subscription() const { return subscription_; }  // its action is the thread's
  std::uint64_t first_seq() const { return first_seq_; }

  void start();                   // once
  void offer(std::uint64_t seq);  // an event that matches; rising
  void wake();                    // looks at the clock again
  // Moves dead letters that have died no later than `cutoff_unix_ns` and were not moved by this request before. Returns
  // how many.
  std::size_t take(const format::DeliveryRequest& request, std::int64_t cutoff_unix_ns);
  std::int64_t heard_unix_ns(const std::string& request_key) const;  // 0: never
  Standing standing() const;

  void ask_to_stop();
  // After ask_to_stop(), by one thread. An action that has not returned by `deadline` is left behind with its thread,
  // and what it returns is heard by nobody; false.
  bool join_until(std::chrono::steady_clock::time_point deadline);

 private:
  using Lock = std::unique_lock<std::mutex>;

  void run();
  void wait(Lock& lock, std::int64_t until_unix_ns);
  void work_on(Lock& lock, std::uint64_t seq);
  bool is_cooling_down(const OpenDelivery& open, const events::Event& event) const;
  actions::ActionOutcome act(const actions::EventNotice& notice) noexcept;
  events::DeliveryRecord attempt(Lock& lock, std::uint64_t seq, const events::Event& event);
  void judge_failure(const OpenDelivery& open, const events::Event& event, const actions::ActionOutcome& outcome,
                     events::DeliveryRecord& record);
  events::DeliveryRecord record_of(const events::Event& event, events::DeliveryState state, int attempts) const;
  void write(const events::DeliveryRecord& record, const events::Event& event);

  const std::shared_ptr<LaneCircle> circle_;
  const Subscription subscription_;
  const std::string action_name_;
  const std::string place_;
  const std::uint64_t first_seq_;
  const std::int64_t begun_unix_ns_;
  std::mt19937_64 random_;  // the thread's
  std::stop_source stop_;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  events::Ledger& ledger_;  // not when abandoned
  LaneHistory history_;     // as the ledger has it
  std::uint64_t wakes_ = 0;
  bool busy_ = false;  // with what is next
  bool exited_ = false;
  bool abandoned_ = false;
  std::thread thread_;
};

}  // namespace trainwarden::delivery
