#include "actions/by_verdict/dispatcher.h"

#include <stdexcept>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/log.h"

namespace trainwarden::actions::by_verdict {
namespace {

using nlohmann::json;

class ScriptedAction final : public Action {
 public:
  explicit ScriptedAction(std::function<Status(const ActionContext&)> script) : script_(std::move(script)) {}
  std::string_view name() const override { return "scripted"; }
  Status run(const ActionContext& context) override { return script_(context); }

 private:
  const std::function<Status(const ActionContext&)> script_;
};

class DispatcherTest : public ::testing::Test {
 protected:
  DispatcherTest()
      : dispatcher_(
            "watch-0",
            [this](std::int64_t step, std::string_view text) {
              told_steps_.push_back(step);
              told_.push_back(json::parse(text));
              return Status();
            },
            clock_) {}

  void add(std::function<Status(const ActionContext&)> script, std::string rule_id = {}) {
    dispatcher_.add(std::make_unique<ScriptedAction>(std::move(script)), std::move(rule_id));
  }
  static FiredVerdict fired(std::string rule_id, std::int64_t step) {
    return {std::move(rule_id), step, "step", {Outcome::kFired, Severity::kWarning, "", "", {}}};
  }

  FakeClock clock_;
  std::vector<std::int64_t> told_steps_;
  std::vector<json> told_;
  Dispatcher dispatcher_;
};

TEST_F(DispatcherTest, TellsStartAndOutcome) {
  add([&](const ActionContext& context) {
    EXPECT_EQ(context.key, "rule-7");
    EXPECT_EQ(context.requested_by, "watch-0");
    EXPECT_EQ(told_.size(), 1u);  // the start is told before
    clock_.advance_ns(5);
    return Status();
  });
  const auto outcomes = dispatcher_.dispatch(fired("Rule", 7));
  ASSERT_EQ(outcomes.size(), 1u);
  EXPECT_TRUE(outcomes[0].status.ok());
  EXPECT_EQ(outcomes[0].duration_ns, 5);
  ASSERT_EQ(told_.size(), 2u);
  EXPECT_EQ(told_[0],
            json::parse(R"({"type":"action_start","action":"scripted","key":"rule-7","rule_id":"Rule","step":7})"));
  EXPECT_EQ(told_[1], json::parse(R"({"type":"action_outcome","action":"scripted","key":"rule-7","rule_id":"Rule",
                                      "step":7,"code":"ok","message":"","duration_ns":5})"));
  EXPECT_EQ(told_steps_, (std::vector<std::int64_t>{7, 7}));
}

TEST_F(DispatcherTest, FailuresAndThrowsDoNotKeepTheNextFromRunning) {
  int ran = 0;
  add([](const ActionContext&) { return Status(Code::kUnavailable, "no route"); });
  add([](const ActionContext&) -> Status { throw std::runtime_error("broken"); });
  add([](const ActionContext&) -> Status { throw 7; });
  add([&](const ActionContext&) { return ++ran, Status(); });
  const auto outcomes = dispatcher_.dispatch(fired("Rule", 7));
  ASSERT_EQ(outcomes.size(), 4u);
  EXPECT_EQ(outcomes[0].status.code(), Code::kUnavailable);
  EXPECT_EQ(outcomes[1].status.code(), Code::kInternal);
  EXPECT_EQ(outcomes[2].status.code(), Code::kInternal);
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(told_[1]["code"], "unavailable");
  EXPECT_EQ(told_[1]["message"], "no route");
}

TEST_F(DispatcherTest, SuccessIsNotRepeatedAndFailureIs) {
  int good = 0;
  int bad = 0;
  add([&](const ActionContext&) { return ++good, Status(); });
  add([&](const ActionContext&) { return ++bad, Status(Code::kUnavailable, ""); });
  for (int i = 0; i < 3; ++i) dispatcher_.dispatch(fired("Rule", 7));
  dispatcher_.dispatch(fired("Rule", 8));
  EXPECT_EQ(good, 2);
  EXPECT_EQ(bad, 4);
}

TEST_F(DispatcherTest, AnActionMayBeForOneRuleOnly) {
  int ran = 0;
  add([&](const ActionContext&) { return ++ran, Status(); }, "Rule-2");
  dispatcher_.dispatch(fired("Rule", 7));
  EXPECT_EQ(ran, 0);
  dispatcher_.dispatch(fired("Rule-2", 7));
  EXPECT_EQ(ran, 1);
}

TEST_F(DispatcherTest, OnlyWhatFiredIsActedOn) {
  add([](const ActionContext&) { return Status(); });
  FiredVerdict failed = fired("Rule", 7);
  failed.verdict.outcome = Outcome::kError;
  EXPECT_TRUE(dispatcher_.dispatch(failed).empty());
}

TEST(Dispatcher, ASinkThatFailsDoesNotKeepTheActionFromRunning) {
  set_log_sink([](LogLevel, std::string_view) {});
  int ran = 0;
  Dispatcher dispatcher("user",
                        [](std::int64_t, std::string_view) { return Status(Code::kResourceExhausted, "full"); });
  dispatcher.add(std::make_unique<ScriptedAction>([&](const ActionContext&) { return ++ran, Status(); }));
  dispatcher.dispatch({"Rule", 7, "step 7", {Outcome::kFired, Severity::kWarning, "", "", {}}});
  set_log_sink({});
  EXPECT_EQ(ran, 1);
}

}  // namespace
}  // namespace trainwarden::actions::by_verdict
