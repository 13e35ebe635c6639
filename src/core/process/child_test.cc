#include "core/process/child.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/folder_testing.h"
#include "core/process/captured_output.h"
#include "core/process/descriptors.h"
#include "core/process/output_tail.h"

namespace trainwarden::process {
namespace {

using namespace std::chrono_literals;
using How = ExitRecord::How;

constexpr auto kMaxWait = 60s;  // for what happens soon

Program shell(const std::string& text) {
  Program program;
  program.command = {"/bin/sh", "-c", text};
  return program;
}

// What it writes to its standard output, in one line.
std::string answer_of(const Program& program) {
  const auto answer = capture_output(program, 4096, kMaxWait);
  EXPECT_TRUE(answer.ok()) << answer.status().message();
  std::string text = answer.ok() ? answer->text : "";
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

ExitRecord run(const Program& program) {
  auto child = Child::start(program);
  EXPECT_TRUE(child.ok()) << child.status().message();
  if (!child.ok()) return {};
  EXPECT_TRUE(child->wait_for(kMaxWait));
  return child->reap();
}

Code start_code(const std::string& program) {
  Program wanted;
  wanted.command = {program};
  return Child::start(wanted).status().code();
}

class ChildTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "no zombie is left"; }

  std::string file(const std::string& name, const std::string& text, mode_t mode = 0755) {
    const std::string path = (folder_.path() / name).string();
    std::ofstream(path) << text;
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }

  TestFolder folder_;
};

TEST_F(ChildTest, SaysHowItEnded) {
  const ExitRecord exited = run(shell("exit 7"));
  EXPECT_EQ(exited.how, How::kExited);
  EXPECT_EQ(exited.number, 7);
  EXPECT_EQ(exited.shell_code(), 7);
  const ExitRecord killed = run(shell("kill -TERM $$"));
  EXPECT_EQ(killed.how, How::kSignalled);
  EXPECT_EQ(killed.number, SIGTERM);
  EXPECT_EQ(killed.shell_code(), 128 + SIGTERM);
}

TEST_F(ChildTest, SaysWhatItTook) {
  // Half a million turns of a shell, and 64 MiB held at once.
  const ExitRecord record =
      run(shell("i=0; while [ $i -lt 500000 ]; do i=$((i+1)); done; "
                "head -c 67108864 /dev/zero | tail -c 67108864 >/dev/null"));
  EXPECT_EQ(record.number, 0);
  EXPECT_GT(record.user_cpu, 1ms);
  EXPECT_GE(record.wall, record.user_cpu / 16) << "it has at most a few processes at a time";
  EXPECT_GE(record.peak_memory_bytes, 64u << 20);
}

TEST_F(ChildTest, AnExitCodeThatSomebodyElseTookIsUnknown) {
  const auto old = ::signal(SIGCHLD, SIG_IGN);
  const ExitRecord record = run(shell("exit 3"));
  ::signal(SIGCHLD, old);
  EXPECT_EQ(record.how, How::kUnknown);
  EXPECT_EQ(record.shell_code(), 255);
}

TEST_F(ChildTest, WaitsUntilItsTimeIsUp) {
  auto child = Child::start(shell("exec sleep 600"));
  ASSERT_TRUE(child.ok());
  EXPECT_FALSE(child->wait_for(20ms));
  EXPECT_FALSE(child->reaped());
  child->send(SIGKILL);
  EXPECT_TRUE(child->wait_for(kMaxWait));
  EXPECT_EQ(child->reap().number, SIGKILL);
  EXPECT_TRUE(child->wait_for(0ms)) << "it stays ended";
}

TEST_F(ChildTest, ItsEndCanBePolledFor) {
  auto child = Child::start(shell("exit 0"));
  ASSERT_TRUE(child.ok());
  const FileDescriptor end = child->open_end();
  ASSERT_TRUE(end.is_open());
  pollfd event{end.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&event, 1, 60'000), 1);
  EXPECT_TRUE(child->has_ended());
  child->reap();
}

TEST_F(ChildTest, GetsItsDescriptorsInAnyOrder) {
  auto input = open_memory_file("first");
  auto other = open_memory_file("second");
  auto output = open_pipe();
  ASSERT_TRUE(input.ok() && other.ok() && output.ok());
  Program program = shell("cat; cat <&5; echo; echo error >&2");
  program.descriptors = {{0, input->get()}, {5, other->get()}, {1, output->writing.get()}, {2, output->writing.get()}};
  EXPECT_EQ(run(program).number, 0);
  OutputTail tail(std::move(output->reading), 100);
  tail.read();
  EXPECT_EQ(tail.text(), "firstsecond\nerror\n");
}

// Two of ours that stand where the other one is wanted.
TEST_F(ChildTest, DescriptorsMaySwapTheirNumbers) {
  auto one = open_memory_file("one");
  auto two = open_memory_file("two");
  ASSERT_TRUE(one.ok() && two.ok());
  Program program = shell("exit 9");
  program.descriptors = {{one->get(), two->get()}, {two->get(), one->get()}};
  program.command[2] = "test \"$(cat <&" + std::to_string(one->get()) + ")\" = two && test \"$(cat <&" +
                       std::to_string(two->get()) + ")\" = one";
  EXPECT_EQ(run(program).number, 0);
}

TEST_F(ChildTest, NothingElseOfOursIsOpenInIt) {
  const int leak = ::fcntl(STDERR_FILENO, F_DUPFD, 50);  // not close-on-exec, as some library may have it
  ASSERT_GE(leak, 50);
  const std::string open = answer_of(shell("cd /proc/$$/fd && echo *"));
  ::close(leak);
  EXPECT_EQ(open, "0 1 2 3");  // 3 is the folder that the shell lists
}

TEST_F(ChildTest, ItsEnvironmentIsOursWithChanges) {
  ::setenv("TW_KEPT", "kept", 1);
  ::setenv("TW_REMOVED", "removed", 1);
  ::setenv("TW_CHANGED", "ours", 1);
  Program program = shell("echo $TW_KEPT $TW_REMOVED $TW_CHANGED $TW_NEW");
  program.environment.set = {{"TW_CHANGED", "theirs"}, {"TW_NEW", "new"}};
  program.environment.removed = {"TW_REMOVED"};
  EXPECT_EQ(answer_of(program), "kept theirs new");
  for (const char* name : {"TW_KEPT", "TW_REMOVED", "TW_CHANGED"}) ::unsetenv(name);
}

TEST_F(ChildTest, WorksInItsFolder) {
  Program program = shell("pwd -P");
  program.folder = folder_.path().string();
  EXPECT_EQ(answer_of(program), std::filesystem::canonical(folder_.path()).string());
  program.folder = "/nowhere/at/all";
  const Status status = Child::start(program).status();
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_NE(status.message().find("/nowhere/at/all"), std::string::npos) << status.message();
}

TEST_F(ChildTest, HasItsLimitsFromTheStart) {
  Program program = shell("ulimit -v; ulimit -c; nice");
  program.memory_bytes = 256u << 20;
  program.core_file = false;
  program.nice = 7 - ::nice(0);
  EXPECT_EQ(answer_of(program), "262144\n0\n7");
}

// Of the first 28 signals; beyond are some that the C library keeps for itself.
std::string signals_of(SignalStart start) {
  Program program;
  program.command = {"sed", "-nE", R"(s/^Sig(Blk|Ign|Cgt):.*(.{7})$/\1 \2/p)", "/proc/self/status"};
  program.signals = start;
  return answer_of(program);
}

TEST_F(ChildTest, ItsSignalsAreWhatItsPlanSays) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const auto old_pipe = ::signal(SIGPIPE, SIG_IGN);
  const auto old_hangup = ::signal(SIGHUP, SIG_IGN);
  const auto old_user = ::signal(SIGUSR1, [](int) {});
  EXPECT_EQ(signals_of({}), "Blk 0000000\nIgn 0001001\nCgt 0000000") << "what we ignore stays ignored";
  EXPECT_EQ(signals_of(SignalStart::usual()), "Blk 0000000\nIgn 0000001\nCgt 0000000") << "but SIGPIPE";
  EXPECT_EQ(signals_of(SignalStart::all_default()), "Blk 0000000\nIgn 0000000\nCgt 0000000");
  SignalStart blocking;
  blocking.blocked = blocked;
  EXPECT_EQ(signals_of(blocking), "Blk 0004000\nIgn 0001001\nCgt 0000000");
  ::signal(SIGUSR1, old_user);
  ::signal(SIGHUP, old_hangup);
  ::signal(SIGPIPE, old_pipe);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

std::string group_of(pid_t id) {
  return std::to_string(::getpgid(id));
}

TEST_F(ChildTest, IsInOurGroupOrInItsOwn) {
  const std::string script = "cut -d' ' -f5 /proc/$$/stat; exit 0";
  Program program = shell(script);
  auto output = open_pipe();
  ASSERT_TRUE(output.ok());
  program.descriptors = {{1, output->writing.get()}};
  EXPECT_EQ(run(program).number, 0);
  OutputTail tail(std::move(output->reading), 100);
  tail.read();
  EXPECT_EQ(tail.last_lines(), group_of(0));
  program.own_group = true;
  program.descriptors.clear();
  program.command[2] = "[ $(cut -d' ' -f5 /proc/$$/stat) = $$ ]";
  EXPECT_EQ(run(program).number, 0);
}

TEST_F(ChildTest, TheGroupEndsWithAllThatItStarted) {
  auto output = open_pipe();
  ASSERT_TRUE(output.ok());
  Program program = shell("trap '' TERM; sleep 600 & echo $!; wait; wait");
  program.own_group = true;
  program.descriptors = {{1, output->writing.get()}};
  auto child = Child::start(program);
  ASSERT_TRUE(child.ok());
  output->writing = FileDescriptor();
  pollfd said{output->reading.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&said, 1, 60'000), 1);
  EXPECT_TRUE(child->end_group(50ms)) << "SIGTERM is ignored, SIGKILL is not";
  EXPECT_EQ(child->reap().number, SIGKILL);
  // The sleeper held the pipe: its end is the pipe's.
  OutputTail tail(std::move(output->reading), 100);
  while (tail.number() >= 0) {
    pollfd closed{tail.number(), POLLIN, 0};
    ASSERT_EQ(::poll(&closed, 1, 60'000), 1);
    tail.read();
  }
}

TEST_F(ChildTest, SigtermLetsItCleanUp) {
  Program program = shell("trap 'exit 5' TERM; touch ready; while :; do sleep 0.01; done");
  program.own_group = true;
  program.folder = folder_.path().string();
  auto child = Child::start(program);
  ASSERT_TRUE(child.ok());
  while (!std::filesystem::exists(folder_.path() / "ready")) std::this_thread::yield();
  EXPECT_TRUE(child->end_group(kMaxWait));
  EXPECT_EQ(child->reap().number, 5);
}

TEST_F(ChildTest, NothingIsSentAfterItsEnd) {
  auto child = Child::start(shell("exit 0"));
  ASSERT_TRUE(child.ok());
  ASSERT_TRUE(child->wait_for(kMaxWait));
  child->reap();
  child->send(SIGKILL);
  child->send_to_group(SIGKILL);
  EXPECT_TRUE(child->end_group(0ms));
  EXPECT_EQ(child->reap().number, 0);
}

// Whatever ends us; here the process that started it is killed.
TEST_F(ChildTest, MayEndWithUs) {
  auto output = open_pipe();
  ASSERT_TRUE(output.ok());
  const pid_t starter = ::fork();
  if (starter == 0) {
    Program program = shell("echo started; while :; do sleep 0.01; done");
    program.ends_with_us = true;
    program.descriptors = {{1, output->writing.get()}};
    const auto child = Child::start(program);
    output->writing = FileDescriptor();
    if (child.ok()) ::pause();
    ::_exit(1);
  }
  output->writing = FileDescriptor();
  pollfd said{output->reading.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&said, 1, 60'000), 1);
  OutputTail tail(std::move(output->reading), 100);
  tail.read();
  EXPECT_EQ(tail.last_lines(), "started");
  ::kill(starter, SIGKILL);
  ::waitpid(starter, nullptr, 0);
  pollfd closed{tail.number(), 0, 0};
  ASSERT_EQ(::poll(&closed, 1, 60'000), 1) << "the pipe closes when it ends";
}

TEST_F(ChildTest, WhatCannotBeStarted) {
  EXPECT_EQ(start_code("no-such-program-here"), Code::kNotFound);
  EXPECT_EQ(start_code("/nowhere/program"), Code::kNotFound);
  EXPECT_EQ(start_code(file("text", "#!/bin/sh\n", 0644)), Code::kPermissionDenied);
  EXPECT_EQ(start_code(file("lost", "#!/nowhere/sh\n")), Code::kNotFound);
  EXPECT_EQ(start_code(folder_.path().string()), Code::kPermissionDenied);
  EXPECT_EQ(start_code(file("headless", "echo without a first line\n")), Code::kInvalidArgument);
  EXPECT_EQ(Child::start({}).status().code(), Code::kInvalidArgument);
}

// As the shell does: a file of the name that may not be executed hides none that may.
TEST_F(ChildTest, LooksThroughThePath) {
  std::filesystem::create_directories(folder_.path() / "a");
  std::filesystem::create_directories(folder_.path() / "b");
  file("a/tw-tool", "#!/bin/sh\nexit 1\n", 0644);
  file("b/tw-tool", "#!/bin/sh\nexit 4\n");
  const std::string path = std::getenv("PATH");
  const std::string a = (folder_.path() / "a").string();
  ::setenv("PATH", (a + ":/nowhere:" + (folder_.path() / "b").string() + ":" + path).c_str(), 1);
  Program program;
  program.command = {"tw-tool"};
  EXPECT_EQ(run(program).number, 4);
  ::setenv("PATH", (a + ":/nowhere").c_str(), 1);
  EXPECT_EQ(start_code("tw-tool"), Code::kPermissionDenied);
  ::setenv("PATH", path.c_str(), 1);
}

TEST_F(ChildTest, ManyThreadsMayStartPrograms) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([i] {
      for (int turn = 0; turn < 10; ++turn) EXPECT_EQ(run(shell("exit " + std::to_string(i))).number, i);
    });
  }
}

}  // namespace
}  // namespace trainwarden::process
