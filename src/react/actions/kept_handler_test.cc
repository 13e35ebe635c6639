#include "react/actions/kept_handler.h"

#include <chrono>
#include <csignal>
#include <string>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "react/actions/action_testing.h"
#include "react/actions/prepared.h"

namespace trainwarden::actions {
namespace {

using namespace std::chrono_literals;
using How = HandlerEnd::How;
using Kind = ActionOutcome::Kind;

HandlerOptions script(const std::string& text) {
  HandlerOptions options;
  options.command = {"/bin/sh", "-c", text};
  options.timeout = 60s;
  options.kill_after = 5s;
  return options;
}

// The answer names the process.
const std::string kNamesItself =
    "while read -r line; do echo \"{\\\"exit_code\\\": 0, \\\"output\\\": \\\"$$\\\"}\"; done";

class KeptHandlerTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "no zombie is left"; }
};

TEST_F(KeptHandlerTest, OneProcessAnswersManyEventsWithoutItsStart) {
  KeptHandler handler(script(kNamesItself));
  ASSERT_TRUE(handler.prepare().ok());
  const auto first = handler.send("{\"seq\": 0}", {}, {});
  ASSERT_TRUE(first.ok()) << first.status().message();
  for (int seq = 1; seq <= 50; ++seq) {
    const auto end = handler.send("{\"seq\": " + std::to_string(seq) + "}", {}, {});
    ASSERT_TRUE(end.ok()) << end.status().message();
    EXPECT_EQ(end->output, first->output) << "the same process";
  }
}

TEST_F(KeptHandlerTest, GetsTheEventAndItsEnvironmentInALine) {
  KeptHandler handler(
      script("echo $TRAINWARDEN_HANDLER_KEPT >&2; read -r line; echo \"$line\" >&2; "
             "echo '{\"exit_code\": 75}'; cat >/dev/null"));
  const auto end = handler.send("{\n\"id\":\n\"0123\"}", {{"TRAINWARDEN_RULE", "Hang"}}, {});
  ASSERT_TRUE(end.ok()) << end.status().message();
  EXPECT_EQ(end->number, 75);
  EXPECT_EQ(end->output, "1 / {\"event\":{ \"id\": \"0123\"},\"environment\":{\"TRAINWARDEN_RULE\":\"Hang\"}}");
}

TEST_F(KeptHandlerTest, WhatItWritesBesideAnswersIsKeptAsItsWords) {
  KeptHandler handler(
      script("while read -r line; do echo looking; echo '{\"a\": 1}'; echo '{\"exit_code\": 1}'; done"));
  const auto end = handler.send("{}", {}, {});
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->number, 1);
  EXPECT_EQ(end->output, "looking / {\"a\": 1}");
}

TEST_F(KeptHandlerTest, OneThatDiesIsStartedAnew) {
  KeptHandler handler(
      script("read -r line; case $line in *die*) kill -KILL $$;; *leave*) exit 0;; *fail*) exit 9;; esac; "
             "echo '{\"exit_code\": 0}'; cat >/dev/null"));
  EXPECT_EQ(handler.send("\"fine\"", {}, {})->number, 0);
  KeptHandler other(
      script("read -r line; case $line in *die*) kill -KILL $$;; *leave*) exit 0;; *fail*) exit 9;; esac; "
             "echo '{\"exit_code\": 0}'"));
  const auto killed = other.send("\"die\"", {}, {});
  ASSERT_TRUE(killed.ok()) << killed.status().message();
  EXPECT_EQ(killed->how, How::kSignalled);
  EXPECT_EQ(killed->number, SIGKILL);
  EXPECT_EQ(other.send("\"fail\"", {}, {})->number, 9);
  EXPECT_EQ(other.send("\"leave\"", {}, {}).status().code(), Code::kUnavailable) << "no answer is no success";
  EXPECT_EQ(other.send("\"fine\"", {}, {})->number, 0);
}

TEST_F(KeptHandlerTest, OneThatTakesTooLongIsEndedAndStartedAnew) {
  HandlerOptions options = script(
      "while read -r line; do case $line in *slow*) sleep 600;; esac; "
      "echo '{\"exit_code\": 0}'; done");
  options.timeout = 2s;
  KeptHandler handler(options);
  EXPECT_EQ(handler.send("\"slow\"", {}, {})->how, How::kTimedOut);
  EXPECT_EQ(handler.send("\"fine\"", {}, {})->number, 0);
  std::stop_source leave;
  leave.request_stop();
  EXPECT_EQ(handler.send("\"slow\"", {}, leave.get_token())->how, How::kCancelled);
}

TEST_F(KeptHandlerTest, OneThatCannotBeStartedSaysWhy) {
  HandlerOptions options;
  options.command = {"no-such-program-here"};
  KeptHandler handler(options);
  EXPECT_EQ(handler.prepare().code(), Code::kNotFound);
  EXPECT_EQ(handler.send("{}", {}, {}).status().code(), Code::kNotFound);
}

TEST_F(KeptHandlerTest, ExecKeepsWhatItIsToldToKeep) {
  RunContext run;
  run.name = "first";
  run.path = "/runs/first";
  const auto action = create_action(
      "exec",
      {{"command", {"sh", "-c", "echo $JOB_NAME >&2; while read -r line; do echo '{\"exit_code\": 0}'; done"}},
       {"keep", {"true"}}},
      run);
  ASSERT_TRUE(action.ok()) << action.status().message();
  dynamic_cast<Prepared&>(**action).prepare();
  const ActionOutcome outcome = (*action)->run(sample_notice(), {});
  EXPECT_EQ(outcome.kind, Kind::kDone) << outcome.status.message();
  EXPECT_EQ((*action)->run(sample_notice(), {}).kind, Kind::kDone);
}

}  // namespace
}  // namespace trainwarden::actions
