#include "judge/rules/hosting/host_process.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/folder_testing.h"
#include "core/process/running_testing.h"

namespace trainwarden::rules {
namespace {

using namespace std::chrono_literals;
using process::ends_soon;
namespace fs = std::filesystem;

// A host that is this shell script; its questions and answers go over descriptor 3.
std::unique_ptr<HostProcess> script(const std::string& text) {
  auto host = HostProcess::start({"/bin/bash", "-c", text});
  if (!host.ok()) ADD_FAILURE() << host.status().message();
  return host.ok() ? *std::move(host) : nullptr;
}

constexpr HostLimits kSoon{200ms};
constexpr HostLimits kPatient{60s};

bool contains(const Status& status, std::string_view part) {
  return status.message().find(part) != std::string::npos;
}

TEST(HostProcess, AnswersLineByLine) {
  const auto host = script("while read -r line <&3; do echo \"got $line\" >&3; done");
  for (const char* question : {"a", "b", ""}) {
    const auto answer = host->ask(question, kPatient);
    ASSERT_TRUE(answer.ok()) << answer.status().message();
    EXPECT_EQ(*answer, std::string("got ") + question);
  }
}

TEST(HostProcess, LongQuestionsAndAnswersGoThrough) {
  const auto host = script("read -r line <&3; echo \"$line\" >&3");
  const std::string question(900'000, 'x');
  const auto answer = host->ask(question, kPatient);
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_EQ(*answer, question);
}

TEST(HostProcess, OneThatSpinsIsKilled) {
  const TestFolder folder;
  const fs::path spins = folder.path() / "spins";
  const auto host = script("echo on my way; touch " + spins.string() + "; while true; do :; done");
  ASSERT_TRUE(await([&] { return fs::exists(spins); }));
  const Status status = host->ask("x", kSoon).status();
  EXPECT_EQ(status.code(), Code::kDeadlineExceeded);
  EXPECT_TRUE(contains(status, "took longer than 0.2 s and was killed; the last that it wrote: on my way"))
      << status.message();
  EXPECT_EQ(host->ask("x", kSoon).status().code(), Code::kDeadlineExceeded);
}

TEST(HostProcess, OneThatReadsNothingIsKilled) {
  const auto host = script("sleep 100");
  EXPECT_EQ(host->ask(std::string(4'000'000, 'x'), kSoon).status().code(), Code::kDeadlineExceeded);
}

TEST(HostProcess, OneThatNeverEndsItsOutputIsKilled) {
  const auto host = script("yes");
  EXPECT_EQ(host->ask("x", kSoon).status().code(), Code::kDeadlineExceeded);
}

TEST(HostProcess, OneThatAnswersWithoutEndIsKilled) {
  const auto host = script("tr '\\0' x < /dev/zero >&3");
  EXPECT_EQ(host->ask("x", kPatient).status().code(), Code::kDataLoss);
}

TEST(HostProcess, OneThatAllocatesWithoutEndIsKilled) {
  const auto host = script("x=aaaaaaaaaaaaaaaa; while true; do x=$x$x; done");
  const Status status = host->ask("x", {60s, 64 << 20}).status();
  EXPECT_EQ(status.code(), Code::kResourceExhausted) << status.message();
  EXPECT_TRUE(contains(status, "held more than 64.0 MiB of memory")) << status.message();
}

TEST(HostProcess, ExitCodesAndSignalsAreTold) {
  const Status exited = script("read -r line <&3; echo first; echo no luck >&2; exit 7")->ask("x", kPatient).status();
  EXPECT_EQ(exited.code(), Code::kAborted);
  EXPECT_TRUE(contains(exited, "ended with exit code 7; the last that it wrote: first / no luck")) << exited.message();
  const Status crashed = script("kill -SEGV $$")->ask("x", kPatient).status();
  EXPECT_EQ(crashed.code(), Code::kAborted);
  EXPECT_TRUE(contains(crashed, "signal 11")) << crashed.message();
}

TEST(HostProcess, ItMayCloseItsOutput) {
  const auto answer = script("exec >&- 2>&-; read -r line <&3; sleep 0.1; echo \"$line\" >&3")->ask("x", kPatient);
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_EQ(*answer, "x");
}

TEST(HostProcess, HalfAnAnswerIsNone) {
  const Status status = script("read -r line <&3; printf '{\"outcome\":' >&3")->ask("x", kPatient).status();
  EXPECT_EQ(status.code(), Code::kAborted);
}

TEST(HostProcess, AProgramThatIsNotThere) {
  auto host = HostProcess::start({"no_such_program_at_all"});
  ASSERT_TRUE(host.ok());
  const Status status = (*host)->ask("x", kPatient).status();
  EXPECT_TRUE(contains(status, "cannot start no_such_program_at_all")) << status.message();
}

TEST(HostProcess, ClosedConnectionOfALivingProcess) {
  const auto host = script("exec 3>&-; sleep 100");
  const Status status = host->ask("x", kPatient).status();
  EXPECT_TRUE(contains(status, "closed its connection")) << status.message();
}

std::optional<pid_t> pid_in(const fs::path& file) {
  pid_t id = 0;
  if (await([&] { return static_cast<bool>(std::ifstream(file) >> id); })) return id;
  return std::nullopt;
}

// A thread that was joined: that is possible a moment before the system ends what the thread may take along.
void await_end_of_thread(pid_t thread) {
  await([&] { return !fs::exists("/proc/self/task/" + std::to_string(thread)); });
}

// Whatever ends us ends it, even when it spins and asks nothing.
TEST(HostProcess, EndsWithUs) {
  const TestFolder folder;
  const fs::path started = folder.path() / "started", alone = folder.path() / "alone", lives = folder.path() / "lives";
  const std::string text = "echo $$ > " + started.string() + "; while [ ! -e " + alone.string() +
                           " ]; do :; done; touch " + lives.string() + "; while true; do :; done";
  const pid_t engine = fork();
  if (engine == 0) {
    // The thread that starts it may end before the process does.
    std::unique_ptr<HostProcess> host;
    pid_t thread = 0;
    std::thread([&] {
      thread = gettid();
      host = script(text);
    }).join();
    await_end_of_thread(thread);
    std::ofstream(alone).flush();
    for (;;) pause();
  }
  const auto host = pid_in(started);
  ASSERT_TRUE(host);
  EXPECT_TRUE(await([&] { return fs::exists(lives); })) << "it ended with the thread that started it";
  kill(engine, SIGKILL);
  waitpid(engine, nullptr, 0);
  EXPECT_TRUE(ends_soon(*host));
}

TEST(HostProcess, WhatItStartedEndsWithIt) {
  const TestFolder folder;
  const fs::path file = folder.path() / "started";
  auto host = script("sleep 1000 & echo $! > " + file.string() + "; wait");
  const auto grandchild = pid_in(file);
  ASSERT_TRUE(grandchild);
  EXPECT_EQ(host->ask("x", kSoon).status().code(), Code::kDeadlineExceeded);
  EXPECT_TRUE(ends_soon(*grandchild));
}

}  // namespace
}  // namespace trainwarden::rules
