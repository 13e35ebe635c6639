// RunPipeline: what becomes of the ledger, and from which one is delivered.
#include "react/watch/run_pipeline.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"
#include "trainwarden/hook.h"

namespace trainwarden::watch {
namespace {

constexpr std::chrono::seconds kMaxSettle{20};

class Counter final : public actions::Action {
 public:
  explicit Counter(std::shared_ptr<std::atomic<int>> count) : count_(std::move(count)) {}
  std::string_view name() const override { return "count"; }
  std::string place() const override { return "the test"; }
  actions::ActionOutcome run(const actions::EventNotice&, std::stop_token) override {
    ++*count_;
    return actions::ActionOutcome::done();
  }

 private:
  std::shared_ptr<std::atomic<int>> count_;
};

class RunPipelineTest : public testing::Test {
 protected:
  void SetUp() override {
    hook_->save_scalar("loss", 1);
    hook_->end_step();
    ASSERT_TRUE(hook_->flush().ok());
    trial_ = Trial::open(run_).value();
    other_trial_ = Trial::open(run_).value();
  }
  std::vector<delivery::Subscription> count_all(const std::string& config = {}) {
    std::vector<delivery::Subscription> all;
    all.push_back({.name = "all",
                   .pattern = match::Pattern::parse(R"({"type":[{"exists":true}]})").value(),
                   .action = std::make_unique<Counter>(count_)});
    all.back().config = config;
    return all;
  }
  bool ledger_exists() const { return std::filesystem::exists(run_ / "journal" / "ledger"); }

  TestFolder folder_;
  const std::filesystem::path run_ = folder_.path() / "run";
  std::unique_ptr<Hook> hook_ = Hook::open({.run_dir = run_}).value();
  std::unique_ptr<Trial> trial_;
  std::unique_ptr<Trial> other_trial_;
  std::shared_ptr<std::atomic<int>> count_ = std::make_shared<std::atomic<int>>(0);
};

TEST_F(RunPipelineTest, InMemoryNothingIsWrittenDown) {
  const auto pipeline = RunPipeline::open(*trial_, LedgerUse::kMemory);
  ASSERT_TRUE(pipeline.ok());
  ASSERT_TRUE((*pipeline)->deliver(count_all(), {}).ok());
  ASSERT_TRUE((*pipeline)->record().ok());
  ASSERT_TRUE((*pipeline)->settle(kMaxSettle, {}));
  EXPECT_GT(*count_, 0);
  EXPECT_FALSE(ledger_exists());
  EXPECT_EQ((*pipeline)->note(), "");
}

TEST_F(RunPipelineTest, KeepsTheRunsOwnAndLetsNobodyElseKeepIt) {
  const auto keeper = RunPipeline::open(*trial_, LedgerUse::kKeep);
  ASSERT_TRUE(keeper.ok());
  ASSERT_TRUE((*keeper)->poll().ok());
  EXPECT_TRUE(ledger_exists());
  EXPECT_GT((*keeper)->recorded(), 0u);
  EXPECT_EQ(RunPipeline::open(*other_trial_, LedgerUse::kKeep).status().code(), Code::kAlreadyExists);
}

TEST_F(RunPipelineTest, BesideAKeeperItGoesOnInMemoryAndSaysSo) {
  const auto keeper = RunPipeline::open(*trial_, LedgerUse::kKeep);
  ASSERT_TRUE(keeper.ok());
  const auto second = RunPipeline::open(*other_trial_, LedgerUse::kKeepOrMemory);
  ASSERT_TRUE(second.ok());
  EXPECT_TRUE((*second)->is_kept());
  EXPECT_FALSE((*second)->follows());
  EXPECT_NE((*second)->note().find("another program records"), std::string::npos);
}

TEST_F(RunPipelineTest, BesideAKeeperItDeliversFromACopyUntilTheKeeperHasGone) {
  auto keeper = RunPipeline::open(*trial_, LedgerUse::kKeep);
  ASSERT_TRUE(keeper.ok());
  ASSERT_TRUE((*keeper)->poll().ok());
  const auto second = RunPipeline::open(*other_trial_, LedgerUse::kKeepOrCopy);
  ASSERT_TRUE(second.ok()) << second.status().message();
  ASSERT_TRUE((*second)->deliver(count_all(), {}).ok());
  ASSERT_TRUE((*second)->poll().ok());
  EXPECT_TRUE((*second)->follows());
  EXPECT_EQ((*second)->source().last_seq(), (*keeper)->source().last_seq());
  ASSERT_TRUE((*second)->settle(kMaxSettle, {}));
  EXPECT_EQ(static_cast<std::uint64_t>(*count_), (*keeper)->source().last_seq());
  keeper->reset();
  ASSERT_TRUE((*second)->poll().ok());
  EXPECT_FALSE((*second)->follows());
}

TEST_F(RunPipelineTest, WhatTheKeeperDeliversFromTheSameFileIsLeftToIt) {
  const auto keeper = RunPipeline::open(*trial_, LedgerUse::kKeep);
  ASSERT_TRUE(keeper.ok());
  ASSERT_TRUE((*keeper)->deliver(count_all("/etc/actions.toml"), {}).ok());
  ASSERT_TRUE((*keeper)->poll().ok());
  ASSERT_TRUE((*keeper)->settle(kMaxSettle, {}));
  const int calls = *count_;
  const auto second = RunPipeline::open(*other_trial_, LedgerUse::kKeepOrCopy);
  ASSERT_TRUE(second.ok());
  ASSERT_TRUE((*second)->deliver(count_all("/etc/actions.toml"), {}).ok());
  EXPECT_EQ((*second)->left_to_keeper(), std::vector<std::string>{"all"});
  ASSERT_TRUE((*second)->poll().ok());
  ASSERT_TRUE((*second)->settle(kMaxSettle, {}));
  EXPECT_EQ(*count_, calls);
}

}  // namespace
}  // namespace trainwarden::watch
