#include "react/events/run_facts.h"

#include <gtest/gtest.h>

namespace trainwarden::events {
namespace {

using S = SecondaryStatus;

// A run that was created at 100 and whose steps ended at 200, 300, ...
class RunFactsTest : public ::testing::Test {
 protected:
  RunFactsTest() {
    facts_.created_unix_ns = 100;
    facts_.now_unix_ns = 1000;
    facts_.writing = true;
    facts_.first_step_after = [this](std::int64_t unix_ns) {
      for (const std::int64_t step : steps_) {
        if (step >= unix_ns) return step;
      }
      return std::int64_t{0};
    };
  }
  // Everything that follows from the facts now, in words.
  std::string run() {
    facts_.stops = stops_;
    std::string words;
    while (const auto next = next_status(table_, facts_)) {
      EXPECT_TRUE(table_.advance(next->status, next->unix_ns, next->message));
      words += (words.empty() ? "" : " ") + std::string(name(next->status));
    }
    return words;
  }
  void end(RunState state, std::int64_t unix_ns) {
    facts_.state = state;
    facts_.writing = false;
    if (state != RunState::kDied) facts_.end_unix_ns = unix_ns;
    facts_.last_unix_ns = unix_ns;
  }
  void ask(std::int64_t unix_ns, std::int64_t accepted_unix_ns = 0) {
    stops_.push_back({{"k" + std::to_string(stops_.size()), "why", "user", unix_ns}, accepted_unix_ns});
  }
  const std::string& message() const { return table_.transitions().back().message; }

  RunTable table_;
  RunFacts facts_;
  std::vector<std::int64_t> steps_;
  std::vector<StopFact> stops_;
};

TEST_F(RunFactsTest, StartsTrainsAndCompletes) {
  EXPECT_EQ(run(), "Starting");
  EXPECT_EQ(run(), "");
  steps_ = {200, 300};
  EXPECT_EQ(run(), "Training");
  EXPECT_EQ(table_.transitions().back().start_unix_ns, 200);
  end(RunState::kCompleted, 400);
  EXPECT_EQ(run(), "Completed");
  EXPECT_EQ(table_.transitions().back().start_unix_ns, 400);
  EXPECT_EQ(run(), "");
}

TEST_F(RunFactsTest, AllAtOnce) {
  steps_ = {200};
  end(RunState::kCompleted, 400);
  EXPECT_EQ(run(), "Starting Training Completed");
}

TEST_F(RunFactsTest, WithoutAStep) {
  end(RunState::kCompleted, 400);
  EXPECT_EQ(run(), "Starting Completed");
}

TEST_F(RunFactsTest, Stops) {
  steps_ = {200};
  ask(250);
  EXPECT_EQ(run(), "Starting Training Stopping");
  EXPECT_EQ(message(), "why (asked for by user)");
  stops_[0].accepted_unix_ns = 260;
  end(RunState::kStopped, 400);
  EXPECT_EQ(run(), "Stopped");
  EXPECT_EQ(message(), "why (asked for by user)");
}

TEST_F(RunFactsTest, CompletesBeforeItHearsOfTheStop) {
  steps_ = {200};
  ask(250);
  end(RunState::kCompleted, 400);
  EXPECT_EQ(run(), "Starting Training Stopping Completed");
}

TEST_F(RunFactsTest, IsNotAskedAfterItsEnd) {
  steps_ = {200};
  ask(450);
  end(RunState::kCompleted, 400);
  EXPECT_EQ(run(), "Starting Training Completed");
}

TEST_F(RunFactsTest, DiesWithoutAWord) {
  steps_ = {200};
  end(RunState::kDied, 300);
  EXPECT_EQ(run(), "Starting Training Failed");
  EXPECT_EQ(table_.transitions().back().start_unix_ns, 300);
  EXPECT_NE(message().find("died"), std::string::npos);
}

TEST_F(RunFactsTest, DiesWhenItIsAskedToStop) {
  steps_ = {200};
  ask(250, 260);
  end(RunState::kDied, 300);
  EXPECT_EQ(run(), "Starting Training Stopping Stopped");
}

TEST_F(RunFactsTest, GoesOnAfterItDied) {
  steps_ = {200};
  end(RunState::kDied, 300);
  run();
  facts_.state = RunState::kRunning;
  facts_.writing = true;
  EXPECT_EQ(run(), "Restarting");
  EXPECT_EQ(table_.transitions().back().start_unix_ns, 1000);
  steps_.push_back(1100);
  EXPECT_EQ(run(), "Training");
  end(RunState::kDied, 1200);
  EXPECT_EQ(run(), "Failed");
  EXPECT_EQ(table_.attempt(), 2);
}

TEST_F(RunFactsTest, AnOldStopIsOver) {
  steps_ = {200};
  ask(250, 260);
  end(RunState::kDied, 300);
  table_.advance(S::kStarting, 100, "");
  table_.advance(S::kFailed, 240, "as another recorder saw it");
  table_.advance(S::kRestarting, 500, "");
  EXPECT_EQ(stop_of_attempt(table_, (facts_.stops = stops_, facts_)), nullptr);
  ask(600);
  EXPECT_EQ(stop_of_attempt(table_, (facts_.stops = stops_, facts_))->request.unix_ns, 600);
}

TEST_F(RunFactsTest, IsStoppedByTheRequestThatWasAccepted) {
  ask(250);
  ask(260, 270);
  ask(265, 270);
  facts_.stops = stops_;
  table_.advance(S::kStarting, 100, "");
  EXPECT_EQ(stop_of_attempt(table_, facts_)->request.unix_ns, 260);
}

// Each end of a program that its parent sees.
TEST_F(RunFactsTest, EndsAsItsProgramEnds) {
  struct Case {
    RunState state;
    int exit_code;
    bool asked;
    bool accepted;
    std::string status;
    std::string message;
  };
  const std::vector<Case> cases = {
      {RunState::kCompleted, 0, false, false, "Completed", ""},
      {RunState::kCompleted, 1, false, false, "Failed", "exit code 1"},
      {RunState::kCompleted, 137, false, false, "Failed", "signal 9 (Killed)"},
      {RunState::kDied, 139, false, false, "Failed", "signal 11 (Segmentation fault)"},
      {RunState::kDied, 1, false, false, "Failed", "exit code 1"},
      {RunState::kDied, 0, false, false, "Failed", "the training died"},
      {RunState::kRunning, 1, false, false, "Failed", "exit code 1"},  // before it wrote anything
      {RunState::kRunning, 0, false, false, "Completed", ""},
      {RunState::kStopped, 143, true, true, "Stopped", "why"},
      {RunState::kStopped, 0, true, true, "Stopped", "why"},
      {RunState::kCompleted, 143, true, true, "Stopped", "why"},
      {RunState::kDied, 143, true, true, "Stopped", "why"},
      {RunState::kDied, 1, true, true, "Stopped", "why"},
      {RunState::kDied, 143, true, false, "Stopped", "why"},
      {RunState::kDied, 137, true, false, "Stopped", "why"},
      {RunState::kCompleted, 1, true, false, "Failed", "exit code 1"},
      {RunState::kCompleted, 0, true, false, "Completed", ""},
      {RunState::kDied, 139, true, false, "Failed", "signal 11"},
  };
  for (const Case& c : cases) {
    table_ = {};
    stops_.clear();
    steps_ = {200};
    facts_.program_end_awaited = true;
    facts_.program_end.reset();
    facts_.state = RunState::kRunning;
    facts_.writing = true;
    if (c.asked) ask(250, c.accepted ? 260 : 0);
    run();
    end(c.state, 300);
    run();  // the files alone end nothing
    EXPECT_FALSE(is_terminal(table_.status()));
    facts_.program_end = {c.exit_code, 400};
    run();
    EXPECT_EQ(name(table_.status()), c.status) << c.exit_code << ' ' << name(c.state) << ' ' << c.asked;
    EXPECT_NE(message().find(c.message), std::string::npos) << message();
    EXPECT_EQ(table_.transitions().back().start_unix_ns, 400);
  }
}

TEST_F(RunFactsTest, GoesOnWithoutTheProgramThatStartedIt) {
  steps_ = {200};
  facts_.program_end_awaited = true;
  run();
  facts_.program_end = {0, 400};
  EXPECT_EQ(run(), "");
  end(RunState::kCompleted, 500);
  EXPECT_EQ(run(), "Completed");
}

TEST_F(RunFactsTest, IsInterruptedAsLongAsItsProgramLives) {
  steps_ = {200};
  facts_.program_end_awaited = true;
  end(RunState::kDied, 300);
  EXPECT_EQ(run(), "Starting Training Interrupted");
  facts_.state = RunState::kRunning;
  facts_.writing = true;
  EXPECT_EQ(run(), "Restarting");
  end(RunState::kDied, 1100);
  EXPECT_EQ(run(), "Interrupted");
  facts_.program_end = {1, 1200};
  EXPECT_EQ(run(), "Failed");
}

// A job that was stopped or preempted is resumed in the same run.
TEST_F(RunFactsTest, GoesOnAfterItHasEndedWhenAnotherProcessTakesItUp) {
  for (const RunState ended : {RunState::kCompleted, RunState::kStopped}) {
    table_ = {};
    steps_ = {200};
    facts_.now_unix_ns = 500;
    end(ended, 400);
    run();
    ASSERT_TRUE(is_terminal(table_.status()));
    EXPECT_EQ(run(), "") << "nobody writes";
    facts_.state = RunState::kRunning;
    facts_.writing = true;
    facts_.now_unix_ns = 900;
    EXPECT_EQ(run(), "Restarting");
    steps_ = {200, 1000};
    EXPECT_EQ(run(), "Training");
    EXPECT_EQ(table_.attempt(), 2);
    end(RunState::kCompleted, 1100);
    EXPECT_EQ(run(), "Completed");
  }
}

TEST_F(RunFactsTest, NamesSignals) {
  EXPECT_EQ(exit_text(1), "exit code 1");
  EXPECT_EQ(exit_text(128), "exit code 128");
  EXPECT_EQ(exit_text(143), "signal 15 (Terminated)");
  EXPECT_EQ(exit_text(255), "exit code 255");
}

}  // namespace
}  // namespace trainwarden::events
