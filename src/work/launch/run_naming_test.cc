#include "work/launch/run_naming.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"
#include "read/trial/run_listing.h"
#include "read/trial/run_testing.h"

namespace trainwarden::launch {
namespace {

namespace fs = std::filesystem;

class RunNaming : public testing::Test {
 protected:
  void make_run(const std::string& name) {
    fs::create_directories(runs_ / name);
    std::ofstream(runs_ / name / "run.json") << "{}";
  }

  void end_children() {
    for (const pid_t child : std::exchange(children_, {})) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
  }

  std::vector<pid_t> children_;
  const TestFolder folder_;
  const fs::path runs_ = folder_.path();
};

TEST_F(RunNaming, FindsARunByNameAndByPath) {
  make_run("first");
  EXPECT_EQ(*locate_run("first", runs_), runs_ / "first");
  EXPECT_EQ(*locate_run((runs_ / "first").string(), "elsewhere"), runs_ / "first");
}

TEST_F(RunNaming, AnUnknownNameNamesTheNearest) {
  make_run("fashion-1");
  const auto run = locate_run("fashoin-1", runs_);
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.status().code(), Code::kNotFound);
  EXPECT_NE(run.status().message().find("fashion-1"), std::string::npos) << run.status().message();
}

TEST_F(RunNaming, APathWithoutARunIsNotTakenForAName) {
  make_run("first");
  const auto run = locate_run("./first", runs_);
  ASSERT_FALSE(run.ok());
  EXPECT_NE(run.status().message().find("run.json"), std::string::npos);
}

TEST_F(RunNaming, AFolderThatSmdebugWroteIsARun) {
  fs::create_directories(runs_ / "old" / "index");
  fs::create_directories(runs_ / "notes" / "events");
  EXPECT_EQ(*locate_run("old", runs_), runs_ / "old");
  EXPECT_EQ(*trial::list_runs(runs_), std::vector<std::string>{"old"});
}

TEST_F(RunNaming, AMissingFolderSaysHowToMakeOne) {
  const auto run = locate_run("first", runs_ / "nothing");
  ASSERT_FALSE(run.ok());
  EXPECT_NE(run.status().message().find("trainwarden run"), std::string::npos);
}

TEST_F(RunNaming, ListsOnlyRunsInOrder) {
  make_run("b");
  make_run("a");
  fs::create_directories(runs_ / "not-a-run");
  EXPECT_EQ(*trial::list_runs(runs_), (std::vector<std::string>{"a", "b"}));
}

TEST_F(RunNaming, TheOptionWinsOverTheEnvironment) {
  const Environment environment = [](const char*) { return "/from/environment"; };
  EXPECT_EQ(runs_folder("/from/option", environment), "/from/option");
  EXPECT_EQ(runs_folder("", environment), "/from/environment");
  EXPECT_EQ(runs_folder("", [](const char*) { return nullptr; }), "runs");
}

TEST_F(RunNaming, NewNamesSayWhenAndWhatAndAreFree) {
  const std::vector<std::string> command = {"./build/fashion_mnist", "--epochs", "2"};
  const std::string first = make_run_name(runs_, command, 1'700'000'000);
  EXPECT_EQ(first.substr(8, 1) + first.substr(13), "--fashion_mnist");
  EXPECT_EQ(make_run_name(runs_, command, 1'700'000'000), first + "-2") << "without a folder it is taken, too";
  fs::create_directories(runs_ / (first + "-3"));
  EXPECT_EQ(make_run_name(runs_, command, 1'700'000'000), first + "-4");
}

TEST_F(RunNaming, TwoProcessesAtOnceGetTwoNames) {
  const auto name_of_a_process = [&] {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      const std::string name = make_run_name(runs_, {"train"}, 1'700'000'000);
      [[maybe_unused]] const auto written = ::write(ends[1], name.data(), name.size());
      ::pause();
    }
    ::close(ends[1]);
    std::string name(100, '\0');
    name.resize(static_cast<std::size_t>(::read(ends[0], name.data(), name.size())));
    ::close(ends[0]);
    children_.push_back(child);
    return name;
  };
  const std::string first = name_of_a_process();
  EXPECT_EQ(name_of_a_process(), first + "-2");
  end_children();
  EXPECT_EQ(name_of_a_process(), first) << "who has ended has no claim any more";
  end_children();
}

TEST_F(RunNaming, AScriptNamesTheRunRatherThanItsInterpreter) {
  const std::string name = make_run_name(runs_, {"/usr/bin/python3", "train me.py"}, 1'700'000'000);
  EXPECT_EQ(name.substr(14), "train_me");
  EXPECT_EQ(make_run_name(runs_, {"python3", "-c", "pass"}, 1'700'000'000).substr(14), "python3");
}

TEST_F(RunNaming, TheNameOfARunIsItsFolders) {
  EXPECT_EQ(run_name("runs/first"), "first");
  EXPECT_EQ(run_name("runs/first/"), "first");
}

TEST_F(RunNaming, ANewRunMayGoOnWithOneThatWasCutOffButNotWriteAFinishedOneAgain) {
  const std::vector<std::string> command = {"./train"};
  const auto choose = [&](const std::string& name, bool resume = false) {
    return choose_run(
        {.folder = runs_, .name = name, .command = command, .unix_seconds = 1'700'000'000, .resume = resume});
  };
  const std::string made = make_run_name(runs_, command, 1'700'000'000);
  EXPECT_EQ(*choose(""), runs_ / (made + "-2"));
  EXPECT_EQ(*choose("new"), runs_ / "new");
  EXPECT_EQ(choose("a/b").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(choose(".hidden").status().code(), Code::kInvalidArgument);
  TestRun cut_off;
  cut_off.add_steps(0, 2);
  cut_off.kill();
  cut_off.save_to(runs_ / "cut-off");
  EXPECT_EQ(*choose("cut-off"), runs_ / "cut-off");
  TestRun finished;
  finished.add_steps(0, 2);
  finished.end();
  finished.save_to(runs_ / "finished");
  EXPECT_EQ(choose("finished").status().code(), Code::kAlreadyExists);
  EXPECT_EQ(*choose("finished", true), runs_ / "finished");
}

}  // namespace
}  // namespace trainwarden::launch
