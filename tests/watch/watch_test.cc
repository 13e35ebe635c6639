// Watch over runs that a hook writes.
#include "trainwarden/watch.h"

#include <functional>
#include <stdexcept>

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"
#include "trainwarden/hook.h"

namespace trainwarden {
namespace {

using Evaluate = std::function<Verdict(const StepWindow&)>;

class FunctionRule final : public Rule {
 public:
  explicit FunctionRule(Evaluate evaluate) : evaluate_(std::move(evaluate)) {}
  Verdict evaluate(const StepWindow& window) override { return evaluate_(window); }

 private:
  Evaluate evaluate_;
};

WatchRule rule(std::string name, Evaluate evaluate) {
  return {{std::move(name), {}}, std::make_unique<FunctionRule>(std::move(evaluate))};
}

Verdict fire_at_two(const StepWindow& window) {
  if (window.global_step() < 2) return Verdict::ok();
  return {Outcome::kFired, Severity::kWarning, "step two", "", {}};
}

class WatchTest : public testing::Test {
 protected:
  void train(int steps) {
    for (int i = 0; i < steps; ++i) {
      hook_->save_scalar("loss", i);
      hook_->end_step();
    }
    ASSERT_TRUE(hook_->flush().ok());
  }
  std::unique_ptr<Watch> watch(std::vector<WatchRule> rules, WatchOptions options = {}) {
    trial_ = Trial::open(run_).value();
    return Watch::start(*trial_, std::move(rules), std::move(options)).value();
  }

  TestFolder folder_;
  const std::filesystem::path run_ = folder_.path() / "run";
  std::unique_ptr<Hook> hook_ = Hook::open({.run_dir = run_}).value();
  std::unique_ptr<Trial> trial_;
};

TEST_F(WatchTest, JudgesAFinishedRunAndWritesDownWhatItFound) {
  train(4);
  ASSERT_TRUE(hook_->close().ok());
  std::vector<WatchRule> rules;
  rules.push_back(rule("Mine", fire_at_two));
  rules.push_back(rule("Calm", [](const StepWindow&) { return Verdict::ok(); }));
  const auto watch = this->watch(std::move(rules));
  ASSERT_TRUE(watch->poll().ok());
  EXPECT_TRUE(watch->run_ended());
  watch->finish();
  EXPECT_EQ(watch->last_judged_step(), 3);
  EXPECT_EQ(watch->journal(), "watch-0");
  EXPECT_TRUE(watch->journal_status().ok());
  EXPECT_TRUE(std::filesystem::exists(run_ / "journal" / "watch-0"));
  ASSERT_EQ(watch->statuses().size(), 2u);
  EXPECT_EQ(watch->statuses()[0].status, RuleStatus::kIssuesFound);
  EXPECT_EQ(watch->statuses()[1].status, RuleStatus::kNoIssuesFound);
  EXPECT_EQ(watch->statuses()[1].outcomes[0], 4u);
  ASSERT_EQ(watch->first_fired().size(), 1u);
  EXPECT_EQ(watch->first_fired()[0].rule_id, "Mine");
  EXPECT_EQ(watch->first_fired()[0].global_step, 2);
  EXPECT_EQ(watch->first_fired()[0].verdict.message, "step two");
}

TEST_F(WatchTest, ARuleThatThrowsIsToldAndTheOthersGoOn) {
  train(3);
  std::vector<WatchRule> rules;
  rules.push_back(rule("Broken", [](const StepWindow&) -> Verdict { throw std::runtime_error("no luck"); }));
  rules.push_back(rule("Mine", fire_at_two));
  std::vector<WatchVerdict> reported;
  WatchOptions options;
  options.write_journal = false;
  options.on_verdict = [&](const WatchVerdict& verdict) { reported.push_back(verdict); };
  const auto watch = this->watch(std::move(rules), std::move(options));
  ASSERT_TRUE(watch->poll().ok());
  EXPECT_TRUE(watch->all_decided());
  EXPECT_FALSE(watch->run_ended());
  EXPECT_FALSE(std::filesystem::exists(run_ / "journal" / "watch-0"));
  ASSERT_EQ(reported.size(), 2u);
  EXPECT_EQ(reported[0].verdict.outcome, Outcome::kError);
  EXPECT_NE(reported[0].verdict.message.find("no luck"), std::string::npos);
  EXPECT_EQ(reported[1].rule_id, "Mine");
}

TEST_F(WatchTest, StopsTheTrainingAndHasItsAnswer) {
  train(3);
  std::vector<WatchRule> rules;
  rules.push_back(rule("Mine", fire_at_two));
  WatchOptions options;
  options.stop_on_fire = true;
  StepEnd end;
  options.idle = [&] { end = hook_->end_step(); };  // the training goes on
  const auto watch = this->watch(std::move(rules), std::move(options));
  ASSERT_TRUE(watch->poll().ok());
  EXPECT_TRUE(watch->stop_requested());
  EXPECT_TRUE(hook_->end_step().stop_requested);
}

TEST_F(WatchTest, LeavesOffWhenAsked) {
  train(3);
  std::stop_source stop;
  std::vector<WatchRule> rules;
  int judged = 0;
  rules.push_back(rule("Mine", [&](const StepWindow&) {
    ++judged;
    stop.request_stop();
    return Verdict::ok();
  }));
  WatchOptions options;
  options.stop = stop.get_token();
  const auto watch = this->watch(std::move(rules), std::move(options));
  ASSERT_TRUE(watch->poll().ok());
  EXPECT_EQ(judged, 1);
  watch->finish();
  EXPECT_EQ(watch->statuses()[0].status, RuleStatus::kStopped);
}

TEST_F(WatchTest, RefusesARuleThatIsNone) {
  trial_ = Trial::open(run_).value();
  std::vector<WatchRule> rules(1);
  EXPECT_EQ(Watch::start(*trial_, std::move(rules)).status().code(), Code::kInvalidArgument);
}

// Its training would not answer, and nothing may be written into it.
TEST(WatchOfAnotherRecorder, OnlyJudges) {
  const TestFolder folder;
  std::filesystem::create_directories(folder.path() / "collections");
  const auto trial = Trial::open(folder.path()).value();
  EXPECT_EQ(trial->recorder(), "smdebug");
  EXPECT_EQ(Watch::start(*trial, {}, {.stop_on_fire = true}).status().code(), Code::kFailedPrecondition);
  std::vector<WatchRule> rules;
  rules.push_back(rule("Mine", fire_at_two));
  const auto watch = Watch::start(*trial, std::move(rules)).value();
  EXPECT_TRUE(watch->poll().ok());
  EXPECT_EQ(watch->journal(), "");
  EXPECT_EQ(watch->journal_status().code(), Code::kFailedPrecondition);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "journal"));
}

}  // namespace
}  // namespace trainwarden
