#include "work/ranks/local_ranks.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include <unistd.h>

#include "core/base/folder_testing.h"
#include "core/process/running_testing.h"

namespace trainwarden::ranks {
namespace {

using process::ExitRecord;

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class LocalRanksTest : public testing::Test {
 protected:
  LocalRanksTest() {
    jobs::JobOrder order;
    order.name = "job";
    order.program = {"sh"};
    Result<jobs::JobRecord> made = jobs::JobRecord::create(storage::Location(folder_.path()), order);
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    job_.emplace(*std::move(made));
    EXPECT_TRUE(job_->prepare_attempt(1).ok());
  }

  // Runs this line of a shell as each rank; it works in a folder where it can leave files.
  Result<ExitRecord> run(std::int64_t count, const std::string& script, double grace_seconds = 30) {
    const auto print = [this](std::string_view lines) { printed_ += lines; };
    const std::string line = "cd " + folder_.path().string() + "; " + script;
    return run_local_ranks({count, grace_seconds, {"sh", "-c", line}}, {*job_, 1, signals_, print});
  }

  // As read_launch() says it when the launcher saw exit code `code`.
  jobs::JobExit cause(int code) {
    jobs::JobExit launch;
    launch.code = code;
    std::ofstream(*job_->prepare_attempt(1)) << jobs::encode_exit(launch);
    const auto read = job_->read_launch(1);
    EXPECT_TRUE(read.ok() && read->has_value());
    return read.ok() && *read ? **read : jobs::JobExit();
  }

  std::string file(const std::string& name) const { return text_of(folder_.path() / name); }

  process::SignalRelay signals_;  // before any thread of a test, which would else die of the signal that it sends
  TestFolder folder_;
  std::optional<jobs::JobRecord> job_;
  std::string printed_;
};

TEST_F(LocalRanksTest, EachRankHasItsVariablesItsLogAndItsLines) {
  const auto end = run(3,
                       "echo \"$RANK/$WORLD_SIZE $LOCAL_RANK/$LOCAL_WORLD_SIZE $NODE_RANK $MASTER_ADDR\"; "
                       "echo \"$MASTER_PORT\" > port-$RANK; printf 'half '; sleep 0.1; printf 'line'");
  ASSERT_TRUE(end.ok()) << end.status().to_string();
  EXPECT_EQ(end->shell_code(), 0);
  for (const std::string rank : {"0", "1", "2"}) {
    const std::string line = rank + "/3 " + rank + "/3 0 127.0.0.1";
    EXPECT_EQ(file("job/ranks/" + rank + ".log"), line + "\nhalf line");
    EXPECT_NE(printed_.find("[" + rank + "] " + line + "\n"), std::string::npos) << printed_;
    EXPECT_NE(printed_.find("[" + rank + "] half line\n"), std::string::npos) << printed_;
    EXPECT_EQ(file("port-" + rank), file("port-0"));
  }
  EXPECT_EQ(cause(0).rank, std::nullopt);
}

TEST_F(LocalRanksTest, ARankThatFailsEndsTheOthersAndIsTheCause) {
  const auto end =
      run(3,
          "if [ $RANK = 1 ]; then until [ -e ready-0 ] && [ -e ready-2 ]; do sleep 0.01; done; exit 7; fi; "
          "trap 'echo told > told-$RANK; exit 0' TERM; echo > ready-$RANK; sleep 600 & wait");
  ASSERT_TRUE(end.ok()) << end.status().to_string();
  EXPECT_EQ(end->shell_code(), 7);
  for (const char* told : {"told-0", "told-2"}) EXPECT_EQ(file(told), "told\n");
  const jobs::JobExit known = cause(7);
  EXPECT_EQ(known.rank, 1);
  EXPECT_EQ(jobs::how_it_ended(known), "rank 1 has ended with exit code 7");
}

TEST_F(LocalRanksTest, ARankThatIsKilledIsToldFromOneThatEndsWithAHighCode) {
  const auto end = run(2, "if [ $RANK = 0 ]; then kill -9 $$; fi; exec sleep 60");
  ASSERT_TRUE(end.ok()) << end.status().to_string();
  EXPECT_EQ(end->shell_code(), 128 + SIGKILL);
  EXPECT_EQ(jobs::how_it_ended(cause(128 + SIGKILL)), "rank 0 was ended by signal 9");
}

TEST_F(LocalRanksTest, WhatDoesNotEndWhenARankHasFailedIsKilledWithAllThatItStarted) {
  const auto end = run(2,
                       "trap '' TERM; if [ $RANK = 0 ]; then while [ ! -e child ]; do sleep 0.01; done; exit 3; fi; "
                       "sleep 600 & echo $! > child.new; mv child.new child; wait; sleep 600",
                       0.3);
  ASSERT_TRUE(end.ok()) << end.status().to_string();
  EXPECT_EQ(end->shell_code(), 3);
  pid_t child = 0;
  std::istringstream(file("child")) >> child;
  ASSERT_GT(child, 0);
  EXPECT_TRUE(process::ends_soon(child));
}

TEST_F(LocalRanksTest, WhatWasAskedToEndHasNotFailed) {
  std::jthread asks([this] {
    await([this] { return !file("ready-0").empty() && !file("ready-1").empty(); });
    ::kill(::getpid(), SIGTERM);
  });
  const auto end = run(2, "trap 'exit 5' TERM; echo yes > ready-$RANK; while :; do sleep 0.02; done");
  ASSERT_TRUE(end.ok()) << end.status().to_string();
  EXPECT_EQ(end->shell_code(), 5);
  EXPECT_EQ(cause(5).rank, std::nullopt);
}

TEST_F(LocalRanksTest, AProgramThatCannotBeStartedLeavesNoRank) {
  const auto end = run_local_ranks({2, 30, {"/no/such/program"}}, {*job_, 1, signals_, [](std::string_view) {}});
  EXPECT_EQ(end.status().code(), Code::kNotFound);
}

TEST_F(LocalRanksTest, TheFirstFailureStays) {
  jobs::JobExit first;
  first.rank = 3;
  first.signal = SIGSEGV;
  jobs::JobExit second = first;
  second.rank = 0;
  EXPECT_TRUE(job_->write_first_failure(1, first).ok());
  EXPECT_EQ(job_->write_first_failure(1, second).code(), Code::kAlreadyExists);
  EXPECT_EQ(cause(1).rank, 3);
  EXPECT_EQ(cause(1).signal, SIGSEGV);
}

}  // namespace
}  // namespace trainwarden::ranks
