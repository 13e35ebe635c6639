// What tests of the delivery have in common: an action that follows a script, events, and somebody who is notified of
// records.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/clock.h"
#include "react/actions/action.h"
#include "react/delivery/courier.h"
#include "react/events/ledger.h"

namespace trainwarden::delivery {

constexpr std::chrono::seconds kLongEnough{60};  // nothing takes so long but a test that fails

inline journal::RunInfo sample_run() {
  journal::RunInfo run;
  run.id = "0123456789abcdef0123456789abcdef";
  run.created_unix_ns = 1'700'000'000'000'000'000;
  run.host = "node7";
  return run;
}

// An alert of a rule.
inline events::Event alert_of(const std::string& rule, int step, std::int64_t unix_ns = 1'700'000'000'000'000'000) {
  events::Event event;
  event.key = rule + "-" + std::to_string(step);
  event.type = events::kAlertType;
  event.subject = rule;
  event.source = "/trainwarden/node7/runs/first";
  event.unix_ns = unix_ns;
  event.change = {events::ChangeKind::kAlert, rule, "", ""};
  event.global_step = step;
  event.headline = rule + " fired at step " + std::to_string(step);
  event.text = "look at it";
  event.data = {{"TrainingJobName", "first"}};
  return event;
}

// What an action got, seen by the test. Shared with the action, which belongs to a subscription.
class Calls {
 public:
  void add(const actions::EventNotice& notice) {
    {
      const std::scoped_lock lock(mutex_);
      notices_.push_back(notice);
    }
    changed_.notify_all();
  }
  std::vector<actions::EventNotice> notices() const {
    const std::scoped_lock lock(mutex_);
    return notices_;
  }
  std::vector<std::string> keys() const {
    std::vector<std::string> keys;
    for (const actions::EventNotice& notice : notices()) keys.push_back(notice.key);
    return keys;
  }
  std::size_t count() const { return notices().size(); }
  bool wait_for(std::size_t count) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kLongEnough, [&] { return notices_.size() >= count; });
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<actions::EventNotice> notices_;
};

using Script = std::function<actions::ActionOutcome(const actions::EventNotice&, const std::stop_token&)>;

class ScriptedAction final : public actions::Action {
 public:
  ScriptedAction(std::shared_ptr<Calls> calls, Script script) : calls_(std::move(calls)), script_(std::move(script)) {}
  std::string_view name() const override { return "scripted"; }
  std::string place() const override { return "here"; }
  actions::ActionOutcome run(const actions::EventNotice& notice, std::stop_token stop) override {
    calls_->add(notice);
    return script_ ? script_(notice, stop) : actions::ActionOutcome::done();
  }

 private:
  std::shared_ptr<Calls> calls_;
  Script script_;
};

inline actions::ActionOutcome busy() {
  return actions::ActionOutcome::try_again(Status(Code::kUnavailable, "busy"), "503");
}
inline actions::ActionOutcome refused() {
  return actions::ActionOutcome::give_up(Status(Code::kInvalidArgument, "no such thing"), "400");
}
inline actions::ActionOutcome gone() {
  return {actions::ActionOutcome::Kind::kTargetGone, Status(Code::kNotFound, "moved away"), "410", {}};
}

// Collects what a courier reports.
class Heard {
 public:
  void add(const events::DeliveryRecord& record) {
    {
      const std::scoped_lock lock(mutex_);
      records_.push_back(record);
    }
    changed_.notify_all();
  }
  std::vector<events::DeliveryRecord> records() const {
    const std::scoped_lock lock(mutex_);
    return records_;
  }
  // The n-th record, from 1, once it is there.
  events::DeliveryRecord wait_for(std::size_t n) const {
    std::unique_lock lock(mutex_);
    const bool there = changed_.wait_for(lock, kLongEnough, [&] { return records_.size() >= n; });
    EXPECT_TRUE(there) << "record " << n << " did not come";
    return there ? records_[n - 1] : events::DeliveryRecord{};
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<events::DeliveryRecord> records_;
};

inline match::Pattern pattern_of(const std::string& json) {
  auto pattern = match::Pattern::parse(json);
  EXPECT_TRUE(pattern.ok()) << pattern.status().to_string();
  return *std::move(pattern);
}

inline constexpr const char* kAnyAlert = R"({"type": ["io.trainwarden.training_job.alert.v1"]})";

inline Subscription scripted(const std::string& name, std::shared_ptr<Calls> calls, Script script = {},
                             const std::string& pattern = kAnyAlert) {
  return {.name = name,
          .pattern = pattern_of(pattern),
          .action = std::make_unique<ScriptedAction>(std::move(calls), std::move(script))};
}

template <class... Subscriptions>
std::vector<Subscription> list_of(Subscriptions... subscriptions) {
  std::vector<Subscription> list;
  (list.push_back(std::move(subscriptions)), ...);
  return list;
}

}  // namespace trainwarden::delivery
