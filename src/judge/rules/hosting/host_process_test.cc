#include "judge/rules/hosting/host_process.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace trainwarden::rules {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

// A host that is this shell script; its questions and answers go over descriptor 3.
std::unique_ptr<HostProcess> script(const std::string& text) {
  auto host = HostProcess::start({"/bin/bash", "-c", text});
  if (!host.ok()) ADD_FAILURE() << host.status().message();
  return host.ok() ? *std::move(host) : nullptr;
}

constexpr HostLimits kSoon{200ms};
constexpr HostLimits kPatient{20s};

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
  const auto host = script("echo on my way; while true; do :; done");
  const auto start = SteadyClock::now();
  const Status status = host->ask("x", kSoon).status();
  EXPECT_LT(SteadyClock::now() - start, 5s);
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
  const Status status = host->ask("x", {20s, 64 << 20}).status();
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

std::optional<pid_t> pid_in(const std::filesystem::path& file) {
  for (int i = 0; i < 500; ++i) {
    pid_t id = 0;
    if (std::ifstream(file) >> id) return id;
    std::this_thread::sleep_for(10ms);
  }
  return std::nullopt;
}

bool ends_soon(pid_t id) {
  for (int i = 0; i < 500; ++i) {
    std::ifstream stat("/proc/" + std::to_string(id) + "/stat");
    std::string pid;
    std::string name;
    std::string state;
    if (!(stat >> pid >> name >> state) || state == "Z") return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

// Whatever ends us ends it, even when it spins and asks nothing.
TEST(HostProcess, EndsWithUs) {
  const auto file = std::filesystem::temp_directory_path() / ("tw_host_" + std::to_string(getpid()));
  const pid_t engine = fork();
  if (engine == 0) {
    // The thread that starts it may end before the process does.
    std::unique_ptr<HostProcess> host;
    std::thread([&] { host = script("echo $$ > " + file.string() + "; while true; do :; done"); }).join();
    std::this_thread::sleep_for(100s);
    _exit(0);
  }
  const auto host = pid_in(file);
  ASSERT_TRUE(host);
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(kill(*host, 0), 0) << "it ended with the thread that started it";
  kill(engine, SIGKILL);
  waitpid(engine, nullptr, 0);
  EXPECT_TRUE(ends_soon(*host));
  std::filesystem::remove(file);
}

TEST(HostProcess, WhatItStartedEndsWithIt) {
  const auto file = std::filesystem::temp_directory_path() / ("tw_hosted_" + std::to_string(getpid()));
  auto host = script("sleep 100 & echo $! > " + file.string() + "; wait");
  const auto grandchild = pid_in(file);
  ASSERT_TRUE(grandchild);
  EXPECT_EQ(host->ask("x", kSoon).status().code(), Code::kDeadlineExceeded);
  EXPECT_TRUE(ends_soon(*grandchild));
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace trainwarden::rules
