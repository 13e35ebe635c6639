// RunWatch over runs that a hook writes: what is judged is recorded, and what is recorded is delivered.
#include "react/watch/run_watch.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"
#include "react/events/ledger.h"
#include "read/trial/trial_access.h"
#include "store/storage/local_storage.h"
#include "trainwarden/hook.h"

namespace trainwarden::watch {
namespace {

using std::chrono::seconds;

class FiresAtTwo final : public Rule {
 public:
  Verdict evaluate(const StepWindow& window) override {
    if (window.global_step() != 2) return Verdict::ok();
    return {Outcome::kFired, Severity::kWarning, "step two", "take a step back", {}};
  }
};

// What an action was told, by all that share it.
struct Heard {
  std::mutex mutex;
  std::vector<actions::EventNotice> notices;

  std::vector<std::string> headlines() {
    std::lock_guard lock(mutex);
    std::vector<std::string> all;
    for (const actions::EventNotice& notice : notices) all.push_back(notice.headline);
    return all;
  }
  std::size_t count() {
    std::lock_guard lock(mutex);
    return notices.size();
  }
};

class Listener final : public actions::Action {
 public:
  explicit Listener(std::shared_ptr<Heard> heard) : heard_(std::move(heard)) {}
  std::string_view name() const override { return "listen"; }
  std::string place() const override { return "the test"; }
  actions::ActionOutcome run(const actions::EventNotice& notice, std::stop_token) override {
    std::lock_guard lock(heard_->mutex);
    heard_->notices.push_back(notice);
    return actions::ActionOutcome::done();
  }

 private:
  std::shared_ptr<Heard> heard_;
};

constexpr const char* kAlerts = R"({"type":["io.trainwarden.training_job.alert.v1"]})";
constexpr const char* kChanges = R"({"type":["io.trainwarden.training_job.state_change.v1"]})";

class RunWatchTest : public testing::Test {
 protected:
  void train(int steps) {
    for (int i = 0; i < steps; ++i) {
      hook_->save_scalar("loss", i);
      hook_->end_step();
    }
    ASSERT_TRUE(hook_->flush().ok());
  }
  std::unique_ptr<RunWatch> watch(const char* pattern, bool write_journal = true, const std::string& config = {}) {
    trials_.push_back(Trial::open(run_).value());
    std::vector<rules::EngineRule> rules;
    rules.push_back({{"Mine", {}}, std::make_unique<FiresAtTwo>()});
    RunWatchOptions options;
    options.write_journal = write_journal;
    options.subscribe = [this, pattern,
                         config](const actions::RunContext&) -> Result<std::vector<delivery::Subscription>> {
      std::vector<delivery::Subscription> all;
      TRAINWARDEN_ASSIGN_OR_RETURN(match::Pattern parsed, match::Pattern::parse(pattern));
      all.push_back({.name = "test", .pattern = std::move(parsed), .action = std::make_unique<Listener>(heard_)});
      all.back().config = config;
      return all;
    };
    return RunWatch::start(*trials_.back(), std::move(rules), std::move(options)).value();
  }
  events::LedgerContents ledger() {
    return events::read_ledger(*storage::open_local_storage(run_), TrialAccess::run_info(*trials_.back())).value();
  }

  TestFolder folder_;
  const std::filesystem::path run_ = folder_.path() / "run";
  std::unique_ptr<Hook> hook_ = Hook::open({.run_dir = run_}).value();
  std::vector<std::unique_ptr<Trial>> trials_;  // of all watches
  std::shared_ptr<Heard> heard_ = std::make_shared<Heard>();
};

TEST_F(RunWatchTest, AnAlertIsDeliveredByThePollThatJudgedIt) {
  train(4);
  const auto run = watch(kAlerts);
  ASSERT_TRUE(run->poll().ok());
  ASSERT_TRUE(run->settle(seconds(60)));
  ASSERT_EQ(heard_->count(), 1u);
  const actions::EventNotice notice = heard_->notices[0];
  EXPECT_EQ(notice.key, "mine-2");
  EXPECT_EQ(notice.rule, "Mine");
  EXPECT_EQ(notice.global_step, 2);
  EXPECT_EQ(notice.run_name, "run");
  EXPECT_NE(notice.text.find("step two"), std::string::npos) << notice.text;
  EXPECT_NE(notice.text.find("take a step back"), std::string::npos) << notice.text;
}

TEST_F(RunWatchTest, EachChangeOfTheRunAndItsRulesIsToldInOrder) {
  train(4);
  const auto run = watch(kChanges);
  ASSERT_TRUE(run->poll().ok());
  ASSERT_TRUE(hook_->close().ok());
  ASSERT_TRUE(run->poll().ok());
  run->program_ended({0, 1});
  run->finish();
  ASSERT_TRUE(run->settle(seconds(60)));
  std::vector<std::string> changes;
  for (const events::Event& event : ledger().events) {
    if (event.type == events::kStateChangeType) changes.push_back(event.subject + " " + event.change.to);
  }
  EXPECT_EQ(changes, (std::vector<std::string>{"run InProgress/Starting", "run InProgress/Training", "Mine InProgress",
                                               "Mine IssuesFound", "run Completed/Completed"}));
  EXPECT_EQ(heard_->count(), changes.size());
}

TEST_F(RunWatchTest, WhatWasDeliveredIsNotDeliveredAgain) {
  train(4);
  {
    const auto first = watch(kAlerts);
    ASSERT_TRUE(first->poll().ok());
    ASSERT_TRUE(first->settle(seconds(60)));
  }
  const auto second = watch(kAlerts);
  ASSERT_TRUE(second->poll().ok());
  ASSERT_TRUE(second->settle(seconds(60)));
  EXPECT_EQ(second->engine().first_fired().size(), 1u);  // it judges from the first step on
  EXPECT_EQ(heard_->count(), 1u);
  EXPECT_EQ(second->note(), "");
}

TEST_F(RunWatchTest, WhoDoesNotKeepTheLedgerDeliversAllTheSame) {
  train(4);
  const auto keeper = watch(kChanges);
  ASSERT_TRUE(keeper->poll().ok());
  ASSERT_TRUE(keeper->settle(seconds(60)));
  const std::size_t heard_by_keeper = heard_->count();
  const auto other = watch(kAlerts);
  EXPECT_NE(other->note().find("another program"), std::string::npos) << other->note();
  ASSERT_TRUE(other->poll().ok());
  ASSERT_TRUE(other->settle(seconds(60)));
  EXPECT_EQ(heard_->count(), heard_by_keeper + 1);
}

TEST_F(RunWatchTest, AFileThatTwoProgramsHaveIsHeededByOne) {
  train(4);
  const auto keeper = watch(kAlerts, true, "/project/actions.toml");
  ASSERT_TRUE(keeper->poll().ok());
  ASSERT_TRUE(keeper->settle(seconds(60)));
  ASSERT_EQ(heard_->count(), 1u);
  const auto same = watch(kAlerts, true, "/project/actions.toml");
  ASSERT_TRUE(same->poll().ok());
  ASSERT_TRUE(same->settle(seconds(60)));
  EXPECT_EQ(heard_->count(), 1u);
  const auto other = watch(kAlerts, true, "/project/others.toml");
  ASSERT_TRUE(other->poll().ok());
  ASSERT_TRUE(other->settle(seconds(60)));
  EXPECT_EQ(heard_->count(), 2u);
}

TEST_F(RunWatchTest, WithoutAJournalNothingIsWrittenAndAlertsAreDelivered) {
  train(4);
  const auto run = watch(kAlerts, false);
  ASSERT_TRUE(run->poll().ok());
  ASSERT_TRUE(run->settle(seconds(60)));
  EXPECT_EQ(heard_->count(), 1u);
  EXPECT_FALSE(std::filesystem::exists(run_ / "journal" / "ledger"));
  EXPECT_FALSE(std::filesystem::exists(run_ / "journal" / "watch-0"));
}

TEST_F(RunWatchTest, ABadSubscriptionIsToldAtTheStart) {
  const auto trial = Trial::open(run_).value();
  RunWatchOptions options;
  options.subscribe = [](const actions::RunContext&) -> Result<std::vector<delivery::Subscription>> {
    return Status(Code::kInvalidArgument, "no such action");
  };
  EXPECT_EQ(RunWatch::start(*trial, {}, std::move(options)).status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace trainwarden::watch
