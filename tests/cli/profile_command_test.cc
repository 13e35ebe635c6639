// `profile`: a training is asked to record operators in steps to come.
#include <cstdlib>
#include <memory>

#include <signal.h>

#include "cli_harness.h"

namespace trainwarden::testing_cli {
namespace {

using nlohmann::json;

class ProfileCommand : public CliTest {
 protected:
  // A training without a framework that goes on until the test ends, in runs/first.
  void SetUp() override {
    CliTest::SetUp();
    setenv("TRAINWARDEN_RUN_DIR", run_path("first").c_str(), 1);
    training_ =
        std::make_unique<Background>(std::vector<std::string>{tiny_training().string(), "--until-stopped"}, folder_);
    unsetenv("TRAINWARDEN_RUN_DIR");
    await([this] { return last_step() >= 0; });
  }
  std::int64_t last_step() const {
    const Outcome steps = cli({"steps", "first", "--json"});
    return steps.exit_code == 0 ? steps.json().at("last_complete_step").get<std::int64_t>() : -1;
  }

  std::unique_ptr<Background> training_;
};

TEST_F(ProfileCommand, TheTrainingSaysFromWhichStepOn) {
  const std::int64_t reached = last_step();
  const Outcome outcome = cli({"profile", "first", "--steps", "3", "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  const json shown = outcome.json();
  EXPECT_GE(shown.at("first_step"), reached + 2);
  EXPECT_EQ(shown.at("steps"), 3);
  EXPECT_TRUE(shown.at("silent").empty());
  const json worker = shown.at("workers").at(0);
  EXPECT_EQ(worker.at("worker"), "rank-00000");
  EXPECT_EQ(worker.at("steps"), 3);
  EXPECT_GE(worker.at("first_step"), shown.at("first_step"));
}

TEST_F(ProfileCommand, WaitsUntilTheStepsAreOverAndSaysThatNobodyListened) {
  const Outcome outcome = cli({"profile", "first", "--steps", "2", "--first-step", "0", "--wait"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("rank-00000: nothing in 2 steps from step "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("no adapter of ours listens to a framework there"), std::string::npos) << outcome.out;
}

TEST_F(ProfileCommand, WrongUsageIsFoundBeforeTheTrainingIsAsked) {
  EXPECT_EQ(cli({"profile", "first", "--steps", "0"}).exit_code, 2);
  EXPECT_EQ(cli({"profile", "first", "--steps", "10001"}).exit_code, 2);
  EXPECT_EQ(cli({"profile", "first", "--first-step", "-1"}).exit_code, 2);
  EXPECT_TRUE(std::filesystem::is_empty(run_path("first") / "control"));
}

TEST_F(ProfileCommand, ATrainingThatHasEndedRecordsNothing) {
  training_.reset();
  const Outcome outcome = cli({"profile", "first"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.err.find("the training of first has ended (died)"), std::string::npos) << outcome.err;
}

TEST_F(ProfileCommand, AStuckTrainingDoesNotHoldTheCommand) {
  kill(training_->id(), SIGSTOP);
  const Outcome outcome = cli({"profile", "first", "--timeout", "0.1"});
  kill(training_->id(), SIGCONT);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.out.find("rank-00000: no answer yet"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace trainwarden::testing_cli
