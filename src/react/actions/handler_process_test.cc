#include "react/actions/handler_process.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/folder_testing.h"
#include "react/actions/request.h"

namespace trainwarden::actions {
namespace {

using namespace std::chrono_literals;
using How = HandlerEnd::How;

constexpr auto kMost = 60s;  // for what happens soon

class HandlerProcessTest : public ::testing::Test {
 protected:
  // No zombie is left, whatever has happened.
  void TearDown() override { EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1); }

  static HandlerOptions script(const std::string& text) {
    HandlerOptions options;
    options.command = {"/bin/sh", "-c", text};
    options.timeout = kMost;
    return options;
  }
  static HandlerEnd run(const HandlerOptions& options, const std::stop_token& stop = {}) {
    const auto end = run_handler(options, stop);
    EXPECT_TRUE(end.ok()) << end.status().message();
    return end.value_or(HandlerEnd{});
  }
  // The caller leaves once there is the file that the program makes.
  std::string ready_file() const { return (folder_.path() / "ready").string(); }
  HandlerEnd run_until_ready(const HandlerOptions& options) const {
    std::stop_source stop;
    const std::jthread leaver([&] {
      await([&] { return std::filesystem::exists(ready_file()); });
      stop.request_stop();
    });
    return run(options, stop.get_token());
  }
  std::string executable(const std::string& text, int mode = 0755) {
    const std::string path = (folder_.path() / "handler").string();
    std::ofstream(path) << text;
    EXPECT_EQ(::chmod(path.c_str(), static_cast<mode_t>(mode)), 0);
    return path;
  }
  // It runs no more: gone, or waiting for whoever adopted it.
  static bool has_ended(const std::string& pid) {
    std::ifstream stat("/proc/" + pid + "/stat");
    std::string number;
    std::string name;
    std::string state;
    return !(stat >> number >> name >> state) || state == "Z" || state == "X";
  }
  static void await(const std::function<bool()>& happened) {
    const auto waited = wait_until([&]() -> Result<bool> { return happened(); }, kMost, {}, system_clock());
    EXPECT_EQ(*waited, Waited::kHappened);
  }

  TestFolder folder_;
};

TEST_F(HandlerProcessTest, ReadsItsInputAndIsHeard) {
  HandlerOptions options = script("cat; echo; echo $WHAT >&2");
  options.input = "{\"a\": 1}";
  options.environment = {{"WHAT", "told"}};
  const HandlerEnd end = run(options);
  EXPECT_EQ(end.how, How::kExited);
  EXPECT_EQ(end.number, 0);
  EXPECT_EQ(end.output, "{\"a\": 1} / told");
}

TEST_F(HandlerProcessTest, ALargeInputMayBeReadOrNot) {
  for (const char* text : {"true", "exec <&-", "head -c 1 >/dev/null", "wc -c"}) {
    HandlerOptions options = script(text);
    options.input.assign(5'000'000, 'x');
    const HandlerEnd end = run(options);
    EXPECT_EQ(end.number, 0) << text;
    EXPECT_EQ(end.output, text == std::string("wc -c") ? "5000000" : "");
  }
}

TEST_F(HandlerProcessTest, ExitCodesAndSignals) {
  EXPECT_EQ(run(script("exit 75")).number, 75);
  const HandlerEnd end = run(script("kill -TERM $$"));
  EXPECT_EQ(end.how, How::kSignalled);
  EXPECT_EQ(end.number, SIGTERM);
}

TEST_F(HandlerProcessTest, TheLastOfAFloodIsKept) {
  const HandlerEnd end = run(script("yes 0123456789 | head -c 20000000; echo; printf 'la\\033[2Jst'"));
  EXPECT_EQ(end.number, 0);
  EXPECT_TRUE(end.output.ends_with(" / la\\x1B[2Jst")) << end.output;
  EXPECT_LT(end.output.size(), 10'000u);
}

TEST_F(HandlerProcessTest, AFloodWithoutEndIsCutOffByTime) {
  HandlerOptions options = script("yes");
  options.timeout = 200ms;
  EXPECT_EQ(run(options).how, How::kTimedOut);
}

TEST_F(HandlerProcessTest, WhatItLeavesInTheBackgroundIsNotWaitedForAndGoesOn) {
  const HandlerEnd end = run(script("sleep 600 & echo $!"));
  EXPECT_EQ(end.how, How::kExited);
  ASSERT_FALSE(end.output.empty());
  EXPECT_FALSE(has_ended(end.output));
  ::kill(std::stoi(end.output), SIGKILL);
}

TEST_F(HandlerProcessTest, TooSlowIsEndedWithAllThatItStarted) {
  HandlerOptions options = script("sleep 600 & echo $!; sleep 600");
  options.timeout = 1s;
  const HandlerEnd end = run(options);
  EXPECT_EQ(end.how, How::kTimedOut);
  ASSERT_FALSE(end.output.empty());
  await([&] { return has_ended(end.output); });
}

TEST_F(HandlerProcessTest, WhatIgnoresSigtermIsKilled) {
  HandlerOptions options = script("trap '' TERM; echo $$; touch " + ready_file() + "; while :; do sleep 0.01; done");
  options.kill_after = 100ms;
  const HandlerEnd end = run_until_ready(options);
  EXPECT_EQ(end.how, How::kCancelled);
  ASSERT_FALSE(end.output.empty());
  EXPECT_TRUE(has_ended(end.output));
}

TEST_F(HandlerProcessTest, SigtermLetsItCleanUp) {
  HandlerOptions options =
      script("trap 'echo clean; exit 0' TERM; echo ready; touch " + ready_file() + "; while :; do :; done");
  options.kill_after = kMost;
  const HandlerEnd end = run_until_ready(options);
  EXPECT_EQ(end.how, How::kCancelled);
  EXPECT_EQ(end.output, "ready / clean");
}

TEST_F(HandlerProcessTest, TheCallerLeaves) {
  EXPECT_EQ(run_until_ready(script("touch " + ready_file() + "; sleep 600")).how, How::kCancelled);
}

TEST_F(HandlerProcessTest, NoneOfOurFilesIsOpenInIt) {
  const int leak = ::fcntl(STDERR_FILENO, F_DUPFD, 50);  // not close-on-exec, as some library may have it
  ASSERT_GE(leak, 50);
  const HandlerEnd end = run(script("cd /proc/$$/fd && echo *"));
  ::close(leak);
  EXPECT_EQ(end.output, "0 1 2 3");  // 3 is the folder that the shell lists
}

TEST_F(HandlerProcessTest, ItsSignalsAreAsProgramsExpectThem) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&blocked, number);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const auto old = ::signal(SIGPIPE, SIG_IGN);
  HandlerOptions options;
  // Of the first 28; beyond are some that the C library keeps for itself.
  options.command = {"sed", "-nE", R"(s/^Sig(Blk|Ign):.*(.{7})$/\1 \2/p)", "/proc/self/status"};
  const HandlerEnd end = run(options);
  ::signal(SIGPIPE, old);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(end.output, "Blk 0000000 / Ign 0000000");
}

TEST_F(HandlerProcessTest, ItHasAGroupOfItsOwnAndIsNotWatched) {
  ::setenv("LD_PRELOAD", "/nowhere/libtrainwarden_preload.so", 1);
  const HandlerEnd end =
      run(script("[ $(cut -d' ' -f5 /proc/$$/stat) = $$ ] && echo own $TRAINWARDEN_ATTACH $LD_PRELOAD"));
  ::unsetenv("LD_PRELOAD");
  EXPECT_EQ(end.output, "own 0");
}

TEST_F(HandlerProcessTest, WorksInAFolder) {
  HandlerOptions options = script("pwd -P");
  options.folder = folder_.path().string();
  EXPECT_EQ(run(options).output, std::filesystem::canonical(folder_.path()).string());
  options.folder = "/nowhere/at/all";
  EXPECT_EQ(run_handler(options).status().code(), Code::kNotFound);
}

TEST_F(HandlerProcessTest, LimitsHold) {
  // They are set right after the start.
  HandlerOptions options =
      script("while [ $(ulimit -v) = unlimited ]; do :; done; while [ $(nice) != 7 ]; do :; done; ulimit -v; nice");
  options.memory_bytes = 256u << 20;
  options.nice = 7 - ::nice(0);
  EXPECT_EQ(run(options).output, "262144 / 7");
}

TEST_F(HandlerProcessTest, WhatCannotBeStarted) {
  const auto start = [](const std::string& program) {
    HandlerOptions options;
    options.command = {program};
    return run_handler(options).status();
  };
  EXPECT_EQ(start("no-such-program-here").code(), Code::kNotFound);
  EXPECT_EQ(start(executable("#!/bin/sh\n", 0644)).code(), Code::kPermissionDenied);
  EXPECT_EQ(start(executable("#!/nowhere/sh\n")).code(), Code::kNotFound);
  EXPECT_EQ(start(folder_.path().string()).code(), Code::kPermissionDenied);
  const Status no_script = start(executable("echo without a first line\n"));
  EXPECT_EQ(no_script.code(), Code::kInvalidArgument);
  EXPECT_NE(no_script.message().find("#!/bin/sh"), std::string::npos) << no_script.message();
}

TEST_F(HandlerProcessTest, AnExitCodeThatIsLostIsToldAsThat) {
  const auto old = ::signal(SIGCHLD, SIG_IGN);
  const HandlerEnd end = run(script("echo done"));
  ::signal(SIGCHLD, old);
  EXPECT_EQ(end.how, How::kUnknown);
  EXPECT_EQ(end.output, "done");
}

TEST_F(HandlerProcessTest, ManyAtOnce) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([i] {
      for (int turn = 0; turn < 5; ++turn) {
        HandlerOptions options = script("cat; exit " + std::to_string(i));
        options.input = std::to_string(i);
        const HandlerEnd end = run(options);
        EXPECT_EQ(end.number, i);
        EXPECT_EQ(end.output, std::to_string(i));
      }
    });
  }
}

}  // namespace
}  // namespace trainwarden::actions
