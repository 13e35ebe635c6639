#include "cli/run_locator.h"

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "views/run_listing.h"

namespace trainwarden::cli {
namespace {

namespace fs = std::filesystem;

class RunLocator : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    runs_ = fs::path(testing::TempDir()) / "run_locator_test" / test->name();
    fs::remove_all(runs_);
    fs::create_directories(runs_);
  }
  void TearDown() override { fs::remove_all(runs_); }

  void make_run(const std::string& name) {
    fs::create_directories(runs_ / name);
    std::ofstream(runs_ / name / "run.json") << "{}";
  }

  fs::path runs_;
};

TEST_F(RunLocator, FindsARunByNameAndByPath) {
  make_run("first");
  EXPECT_EQ(*locate_run("first", runs_), runs_ / "first");
  EXPECT_EQ(*locate_run((runs_ / "first").string(), "elsewhere"), runs_ / "first");
}

TEST_F(RunLocator, AnUnknownNameNamesTheNearest) {
  make_run("fashion-1");
  const auto run = locate_run("fashoin-1", runs_);
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.status().code(), Code::kNotFound);
  EXPECT_NE(run.status().message().find("fashion-1"), std::string::npos) << run.status().message();
}

TEST_F(RunLocator, APathWithoutARunIsNotTakenForAName) {
  make_run("first");
  const auto run = locate_run("./first", runs_);
  ASSERT_FALSE(run.ok());
  EXPECT_NE(run.status().message().find("run.json"), std::string::npos);
}

TEST_F(RunLocator, PlainFilesBesideRunsAreLeftOut) {
  make_run("first");
  std::ofstream(runs_ / "first.log") << "what it printed";
  const std::string run = (runs_ / "first").string();
  const std::string log = (runs_ / "first.log").string();
  const auto located = locate_runs({run, log}, runs_);
  ASSERT_TRUE(located.ok()) << located.status().message();
  EXPECT_EQ(located->runs, std::vector<fs::path>{run});
  EXPECT_EQ(located->plain_files, std::vector<std::string>{log});
  EXPECT_NE(left_out_note(*located).find("first.log"), std::string::npos);
  EXPECT_EQ(left_out_note({{run}, {}}), "");

  EXPECT_EQ(locate_runs({log}, runs_).status().code(), Code::kNotFound) << "alone it was meant";
  EXPECT_EQ(locate_runs({run, log, (runs_ / "frist").string()}, runs_).status().code(), Code::kNotFound);
}

TEST_F(RunLocator, AFolderThatSmdebugWroteIsARun) {
  fs::create_directories(runs_ / "old" / "index");
  fs::create_directories(runs_ / "notes" / "events");
  EXPECT_EQ(*locate_run("old", runs_), runs_ / "old");
  EXPECT_EQ(*views::list_runs(runs_), std::vector<std::string>{"old"});
}

TEST_F(RunLocator, AMissingFolderSaysHowToMakeOne) {
  const auto run = locate_run("first", runs_ / "nothing");
  ASSERT_FALSE(run.ok());
  EXPECT_NE(run.status().message().find("trainwarden run"), std::string::npos);
}

TEST_F(RunLocator, ListsOnlyRunsInOrder) {
  make_run("b");
  make_run("a");
  fs::create_directories(runs_ / "not-a-run");
  EXPECT_EQ(*views::list_runs(runs_), (std::vector<std::string>{"a", "b"}));
}

TEST_F(RunLocator, TheOptionWinsOverTheEnvironment) {
  const Environment environment = [](const char*) { return "/from/environment"; };
  EXPECT_EQ(runs_folder("/from/option", environment), "/from/option");
  EXPECT_EQ(runs_folder("", environment), "/from/environment");
  EXPECT_EQ(runs_folder("", [](const char*) { return nullptr; }), "runs");
}

TEST_F(RunLocator, NewNamesSayWhenAndWhatAndAreFree) {
  const std::vector<std::string> command = {"./build/fashion_mnist", "--epochs", "2"};
  const std::string first = make_run_name(runs_, command, 1'700'000'000);
  EXPECT_EQ(first.substr(8, 1) + first.substr(13), "--fashion_mnist");
  fs::create_directories(runs_ / first);
  EXPECT_EQ(make_run_name(runs_, command, 1'700'000'000), first + "-2");
}

TEST_F(RunLocator, AScriptNamesTheRunRatherThanItsInterpreter) {
  const std::string name = make_run_name(runs_, {"/usr/bin/python3", "train me.py"}, 1'700'000'000);
  EXPECT_EQ(name.substr(14), "train_me");
  EXPECT_EQ(make_run_name(runs_, {"python3", "-c", "pass"}, 1'700'000'000).substr(14), "python3");
}

TEST_F(RunLocator, ARunIsTypedByNameOnlyWhereItWouldBeFound) {
  make_run("first");
  const std::string folder = runs_.string();
  EXPECT_EQ(typed_run(runs_ / "first", [&](const char*) { return folder.c_str(); }), "first");
  EXPECT_EQ(typed_run(runs_ / "first", [](const char*) { return nullptr; }), (runs_ / "first").string());
}

TEST_F(RunLocator, TheNameOfARunIsItsFolders) {
  EXPECT_EQ(run_name("runs/first"), "first");
  EXPECT_EQ(run_name("runs/first/"), "first");
}

}  // namespace
}  // namespace trainwarden::cli
