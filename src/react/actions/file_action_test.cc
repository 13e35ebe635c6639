#include "react/actions/file_action.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/folder_testing.h"
#include "react/actions/action_testing.h"

namespace trainwarden::actions {
namespace {

using Kind = ActionOutcome::Kind;

class FileActionTest : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string content(const std::string& name) const {
    std::stringstream text;
    text << std::ifstream(path(name)).rdbuf();
    return text.str();
  }
  std::unique_ptr<Action> action(const std::string& name, const std::string& sync = "false") const {
    auto made = create_action("file", {{"path", {path(name)}}, {"sync", {sync}}});
    EXPECT_TRUE(made.ok()) << made.status().message();
    return std::move(made).value();
  }
  TestFolder folder_;
};

TEST_F(FileActionTest, AppendsALineEach) {
  const auto file = action("events.jsonl", "true");
  EXPECT_EQ(file->place(), path("events.jsonl"));
  EXPECT_EQ(file->run(sample_notice(), {}).kind, Kind::kDone);
  EventNotice pretty = sample_notice();
  pretty.document = "{\n  \"a\": 1\r\n}";
  EXPECT_EQ(file->run(pretty, {}).answer, "14 bytes");
  EXPECT_EQ(content("events.jsonl"), "{\"id\":\"0123-7\"}\n{   \"a\": 1  }\n");
}

TEST_F(FileActionTest, RunAndRuleAreFilledIn) {
  EXPECT_EQ(action("{run}-{rule}.jsonl")->run(sample_notice(), {}).kind, Kind::kDone);
  EXPECT_FALSE(content("first-VanishingGradient.jsonl").empty());
  EventNotice of_run = sample_notice();
  of_run.rule = "";
  of_run.run_name = "../a/b";
  EXPECT_EQ(action("{run}.{rule}")->run(of_run, {}).kind, Kind::kDone);
  EXPECT_FALSE(content(".._a_b.run").empty());
}

TEST_F(FileActionTest, ALineThatWasCutShortDoesNotSwallowTheNext) {
  const auto file = action("events");
  const auto old = ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit tight{6, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  const ActionOutcome cut = file->run(sample_notice(), {});
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, old);
  EXPECT_EQ(cut.kind, Kind::kTryAgain);
  EXPECT_EQ(content("events"), "{\"id\":");
  EXPECT_EQ(file->run(sample_notice(), {}).kind, Kind::kDone);
  EXPECT_EQ(content("events"), "{\"id\":\n{\"id\":\"0123-7\"}\n");
}

TEST_F(FileActionTest, LinesOfManyWritersStayWhole) {
  {
    std::vector<std::jthread> writers;
    for (int i = 0; i < 4; ++i) {
      writers.emplace_back([this] {
        const auto file = action("events");
        EventNotice notice = sample_notice();
        notice.document.assign(20'000, 'x');
        for (int line = 0; line < 50; ++line) EXPECT_EQ(file->run(notice, {}).kind, Kind::kDone);
      });
    }
  }
  std::ifstream file(path("events"));
  int lines = 0;
  for (std::string line; std::getline(file, line); ++lines) EXPECT_EQ(line.size(), 20'000u);
  EXPECT_EQ(lines, 200);
}

TEST_F(FileActionTest, WhatWillNeverWorkIsGivenUp) {
  EXPECT_EQ(action("{run}/events")->run(sample_notice(), {}).kind, Kind::kGiveUp);
  ASSERT_EQ(::mkdir(path("folder").c_str(), 0700), 0);
  EXPECT_EQ(action("folder")->run(sample_notice(), {}).kind, Kind::kGiveUp);
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(action("pipe")->run(sample_notice(), {}).kind, Kind::kGiveUp);
}

TEST_F(FileActionTest, AFullDiskPasses) {
  auto full = create_action("file", {{"path", {"/dev/full"}}});
  const ActionOutcome outcome = (*full)->run(sample_notice(), {});
  EXPECT_EQ(outcome.kind, Kind::kTryAgain);
  EXPECT_EQ(outcome.status.code(), Code::kResourceExhausted);
}

TEST_F(FileActionTest, WhatIsRefused) {
  const auto refused = [](const std::string& path) { return create_action("file", {{"path", {path}}}).status(); };
  EXPECT_EQ(refused("").code(), Code::kInvalidArgument);
  EXPECT_EQ(refused("/nowhere/events").code(), Code::kInvalidArgument);
  EXPECT_NE(refused("/tmp/{step}").message().find("{run} and {rule}"), std::string::npos);
  EXPECT_EQ(refused("/tmp/{run").code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace trainwarden::actions
