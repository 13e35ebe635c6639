#include "work/launch/launcher.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "core/base/folder_testing.h"
#include "read/trial/run_testing.h"

namespace trainwarden::launch {
namespace {

namespace fs = std::filesystem;

class FiresAtTwo final : public Rule {
 public:
  Verdict evaluate(const StepWindow& window) override {
    if (window.global_step() != 2) return Verdict::ok();
    return {Outcome::kFired, Severity::kWarning, "step two", "take a step back", {}};
  }
};

// What was reported to it, in order.
class Heard final : public Observer {
 public:
  void on_start(const fs::path&, pid_t) override { story += "start "; }
  void on_program_end(const process::ExitRecord& exit) override { ended_with = exit.shell_code(); }
  void on_verdict(const rules::VerdictRecord& verdict) override {
    story += verdict.rule_id + "@" + std::to_string(verdict.place.global_step) + " ";
  }
  void on_event(const events::Event& event) override {
    if (event.change.kind == events::ChangeKind::kRule) changes += event.change.rule + " " + event.change.to + ", ";
  }
  void on_progress(Trial&, const rules::Engine&) override { ++looks; }
  void on_end() override { story += "end"; }

  std::string story;
  std::string changes;  // of rules
  int looks = 0;
  int ended_with = -1;
};

// A shell script in place of a training: it copies a run that a hook wrote into the folder that it is given.
class LauncherTest : public ::testing::Test {
 protected:
  void SetUp() override {
    TestRun run;
    run.add_steps(0, 4);
    run.end();
    run.save_to(recorded_);
    plan_.run = folder_.path() / "run";
  }
  void TearDown() override { EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "no zombie is left"; }

  void script(const std::string& text) { plan_.command = {"/bin/sh", "-c", text}; }
  std::string copy_run() const {
    return "cp -r '" + recorded_.string() +
           "' \"$TRAINWARDEN_RUN_DIR.new\" && mv \"$TRAINWARDEN_RUN_DIR.new\" \"$TRAINWARDEN_RUN_DIR\"; ";
  }

  Result<LaunchResult> launch_it(std::vector<rules::EngineRule> rules = {}) {
    process::SignalRelay relay;
    return launch(plan_, std::move(rules), heard_, relay);
  }
  static std::vector<rules::EngineRule> rules() {
    std::vector<rules::EngineRule> made;
    made.push_back({{"FiresAtTwo", {}}, std::make_unique<FiresAtTwo>()});
    return made;
  }
  static std::string text_of(const fs::path& file) {
    std::ifstream in(file);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }

  TestFolder folder_;
  fs::path recorded_ = folder_.path() / "recorded";
  LaunchPlan plan_;
  Heard heard_;
};

TEST_F(LauncherTest, JudgesWhatTheProgramWritesAndHandsOnItsExitCode) {
  script(copy_run() + "exit 5");
  const auto result = launch_it(rules());
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->exit.shell_code(), 5);
  EXPECT_TRUE(result->run_appeared);
  EXPECT_TRUE(result->judging.status.ok()) << result->judging.status.message();
  EXPECT_TRUE(result->judging.run_ended);
  EXPECT_TRUE(result->judging.report.any_fired());
  EXPECT_EQ(heard_.story, "start FiresAtTwo@2 end");
  EXPECT_EQ(heard_.changes, "FiresAtTwo InProgress, FiresAtTwo IssuesFound, ");
  EXPECT_GT(heard_.looks, 0);
  EXPECT_EQ(heard_.ended_with, 5);
}

TEST_F(LauncherTest, ItsProgramKnowsItsRunAndWhoWatches) {
  plan_.environment = {{"TW_WORD", "given"}};
  plan_.output = folder_.path() / "out";
  std::ofstream(plan_.output) << "of before\n";
  script("echo $TW_WORD $TRAINWARDEN_RUN_DIR $TRAINWARDEN_WATCHER; echo error >&2");
  ASSERT_TRUE(launch_it().ok());
  EXPECT_EQ(text_of(plan_.output),
            "of before\ngiven " + fs::absolute(plan_.run).string() + " " + std::to_string(::getpid()) + "\nerror\n");
}

TEST_F(LauncherTest, AProgramThatWritesNoRunIsNoError) {
  script("exit 0");
  const auto result = launch_it(rules());
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->run_appeared);
  EXPECT_EQ(result->judging.status.code(), Code::kNotFound);
  EXPECT_EQ(heard_.story, "start end");
}

TEST_F(LauncherTest, AProgramThatCannotBeStartedIsOneAndNothingIsJudged) {
  plan_.command = {"no-such-program-here"};
  EXPECT_EQ(launch_it(rules()).status().code(), Code::kNotFound);
  EXPECT_EQ(heard_.story, "");
}

TEST_F(LauncherTest, HandsOnASignalThatIsSentToUs) {
  script("trap 'exit 9' TERM; kill -TERM " + std::to_string(::getpid()) + "; while :; do sleep 0.01; done");
  const auto result = launch_it();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->exit.shell_code(), 9);
}

}  // namespace
}  // namespace trainwarden::launch
