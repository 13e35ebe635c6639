#include "react/actions/exec_action.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"
#include "react/actions/action_testing.h"

namespace trainwarden::actions {
namespace {

using Kind = ActionOutcome::Kind;

std::unique_ptr<Action> exec(std::vector<std::string> command) {
  auto action = create_action("exec", {{"command", std::move(command)}});
  EXPECT_TRUE(action.ok()) << action.status().message();
  return std::move(action).value();
}

ActionOutcome run_script(const std::string& text) {
  return exec({"sh", "-c", text})->run(sample_notice(), {});
}

TEST(ExecAction, GivesTheEventAndSaysWhatItIs) {
  const ActionOutcome outcome = run_script(
      "cat; echo; echo $JOB_NAME $TRAINWARDEN_RUN $TRAINWARDEN_RUN_PATH; echo $TRAINWARDEN_EVENT_ID "
      "$TRAINWARDEN_EVENT_KEY $TRAINWARDEN_EVENT_TYPE; echo $TRAINWARDEN_RULE $TRAINWARDEN_STEP $TRAINWARDEN_ATTEMPT");
  EXPECT_EQ(outcome.kind, Kind::kDone);
  EXPECT_TRUE(outcome.status.ok());
  EXPECT_EQ(outcome.answer,
            "exit code 0: {\"id\":\"0123-7\"} / first first /runs/first / 0123-7 vanishinggradient-120 "
            "io.trainwarden.training_job.alert.v1 / VanishingGradient 120 2");
}

TEST(ExecAction, WithoutAStepTheVariableIsEmpty) {
  EventNotice notice = sample_notice();
  notice.global_step = -1;
  EXPECT_EQ(exec({"sh", "-c", "echo [$TRAINWARDEN_STEP]"})->run(notice, {}).answer, "exit code 0: []");
}

TEST(ExecAction, TheExitCodeSaysHowItGoesOn) {
  EXPECT_EQ(run_script("exit 0").answer, "exit code 0");
  const ActionOutcome again = run_script("echo later; exit 75");
  EXPECT_EQ(again.kind, Kind::kTryAgain);
  EXPECT_EQ(again.answer, "exit code 75");
  EXPECT_EQ(again.status.message(), "sh ended with exit code 75; the last that it wrote: later");
  EXPECT_EQ(run_script("exit 1").kind, Kind::kGiveUp);
  EXPECT_EQ(run_script("no-such-program-here").kind, Kind::kGiveUp);
}

TEST(ExecAction, ASignalFromOutsidePassesAndACrashDoesNot) {
  const ActionOutcome killed = run_script("kill -KILL $$");
  EXPECT_EQ(killed.kind, Kind::kTryAgain);
  EXPECT_EQ(killed.answer, "signal 9 (Killed)");
  EXPECT_EQ(run_script("kill -TERM $$").kind, Kind::kTryAgain);
  EXPECT_EQ(run_script("ulimit -c 0; kill -SEGV $$").kind, Kind::kGiveUp);
}

TEST(ExecAction, TooSlowIsTriedAgain) {
  auto action = create_action("exec", {{"command", {"sleep 600"}}, {"timeout", {"100ms"}}});
  const ActionOutcome outcome = (*action)->run(sample_notice(), {});
  EXPECT_EQ(outcome.kind, Kind::kTryAgain);
  EXPECT_EQ(outcome.status.code(), Code::kDeadlineExceeded);
  EXPECT_EQ(outcome.status.message(), "sleep took longer than 100.0 ms and was ended");
}

TEST(ExecAction, LeavesWhenAsked) {
  std::stop_source stop;
  stop.request_stop();
  const ActionOutcome outcome = exec({"sleep", "600"})->run(sample_notice(), stop.get_token());
  EXPECT_EQ(outcome.kind, Kind::kTryAgain);
  EXPECT_EQ(outcome.status.code(), Code::kCancelled);
}

TEST(ExecAction, WhatCannotBeStartedIsGivenUp) {
  const ActionOutcome outcome = exec({"no-such-program-here"})->run(sample_notice(), {});
  EXPECT_EQ(outcome.kind, Kind::kGiveUp);
  EXPECT_EQ(outcome.status.code(), Code::kNotFound);
}

TEST(ExecAction, OneTextIsTakenApart) {
  EXPECT_EQ(exec({"printf '%s-' 'a b' c"})->run(sample_notice(), {}).answer, "exit code 0: a b-c-");
}

TEST(ExecAction, ThePlaceShowsNoArgument) {
  const TestFolder folder;
  const std::string script = (folder.path() / "handler.py").string();
  std::ofstream(script) << "";
  EXPECT_EQ(exec({"python3", script, "--token", "hunter2"})->place(), "handler.py");
  EXPECT_EQ(exec({"/usr/bin/python3", "-u", script})->place(), "python3");
  EXPECT_EQ(exec({"/opt/notify", script})->place(), "notify");
  EXPECT_EQ(exec({"sh", "-c", "x"})->place(), "sh");
}

TEST(ExecAction, WhatIsRefused) {
  const auto refused = [](const std::map<std::string, std::vector<std::string>>& values) {
    return create_action("exec", values).status().code();
  };
  EXPECT_EQ(refused({}), Code::kInvalidArgument);
  EXPECT_EQ(refused({{"command", {""}}}), Code::kInvalidArgument);
  EXPECT_EQ(refused({{"command", {"", "x"}}}), Code::kInvalidArgument);
  EXPECT_EQ(refused({{"command", {"a | b"}}}), Code::kInvalidArgument);
  EXPECT_EQ(refused({{"command", {"a"}}, {"nice", {"20"}}}), Code::kInvalidArgument);
  EXPECT_EQ(refused({{"command", {"a"}}, {"comand", {"b"}}}), Code::kInvalidArgument);
}

}  // namespace
}  // namespace trainwarden::actions
