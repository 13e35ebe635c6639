// `capture`: what a training captures is changed while it goes on.
#include <cstdlib>
#include <fstream>
#include <memory>

#include <signal.h>

#include "cli_harness.h"

namespace trainwarden::testing_cli {
namespace {

using nlohmann::json;

class CaptureCommand : public CliTest {
 protected:
  // A training that goes on until the test ends, in runs/first.
  void SetUp() override {
    CliTest::SetUp();
    config_ = folder_ / "capture.json";
    std::ofstream(config_) << "{}";
    setenv("TRAINWARDEN_CONFIG", config_.c_str(), 1);
    setenv("TRAINWARDEN_RUN_DIR", run_path("first").c_str(), 1);
    training_ =
        std::make_unique<Background>(std::vector<std::string>{tiny_training().string(), "--until-stopped"}, folder_);
    unsetenv("TRAINWARDEN_CONFIG");
    unsetenv("TRAINWARDEN_RUN_DIR");
    await([&] {
      const Outcome steps = cli({"steps", "first", "--json"});
      return steps.exit_code == 0 && steps.json().at("last_complete_step") >= 0;
    });
  }

  // The collections that are captured, by name.
  std::map<std::string, json> captured() const {
    std::map<std::string, json> collections;
    const json shown = cli({"capture", "first", "--show", "--json"}).json();
    for (const json& collection : shown.at("collections")) {
      collections[collection.at("name")] = collection;
    }
    return collections;
  }

  std::vector<std::string> names_at(std::int64_t step) const {
    await([&] { return cli({"steps", "first", "--json"}).json().at("last_complete_step") >= step; });
    std::vector<std::string> names;
    const json shown = cli({"tensors", "first", "--step", std::to_string(step), "--json"}).json();
    for (const json& tensor : shown.at("tensors")) names.push_back(tensor.at("name"));
    return names;
  }

  std::filesystem::path config_;
  std::unique_ptr<Background> training_;
};

TEST_F(CaptureCommand, ChangesWhatIsCapturedFromTheStepThatItNames) {
  const Outcome outcome = cli({"capture", "first", "--only", "--include-collection", "gradients", "--save-interval",
                               "3", "--keep", "statistics", "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  const json worker = outcome.json().at("workers").at(0);
  EXPECT_EQ(worker.at("worker"), "rank-00000");
  EXPECT_EQ(worker.at("accepted"), true);
  const std::int64_t step = worker.at("step");
  EXPECT_EQ(names_at(step - 1).size(), 4u);
  const std::int64_t third = (step + 2) / 3 * 3;
  EXPECT_EQ(names_at(third),
            (std::vector<std::string>{"CrossEntropyLoss_output_0", "accuracy", "gradient/conv0.weight"}));
  EXPECT_EQ(names_at(third + 1), (std::vector<std::string>{"CrossEntropyLoss_output_0", "accuracy"}));

  const auto collections = captured();
  EXPECT_EQ(collections.size(), 3u);
  EXPECT_EQ(collections.at("gradients").at("save").at("train").at("save_interval"), 3);
  EXPECT_EQ(collections.at("gradients").at("keep").at("values"), false);

  EXPECT_EQ(cli({"capture", "first", "--reset"}).exit_code, 0);
  EXPECT_EQ(captured().count("weights"), 1u);
}

TEST_F(CaptureCommand, SaysWhatTheTrainingRefuses) {
  const Outcome outcome = cli({"capture", "first", "--exclude-collection", "weights"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.out;
  EXPECT_NE(outcome.out.find("rank-00000: refused: collection \"weights\" cannot be left out"), std::string::npos)
      << outcome.out << outcome.err;
}

TEST_F(CaptureCommand, WrongUsageIsFoundBeforeTheTrainingIsAsked) {
  EXPECT_EQ(cli({"capture", "first"}).exit_code, 2);
  EXPECT_EQ(cli({"capture", "first", "--include", "conv("}).exit_code, 2);
  EXPECT_EQ(cli({"capture", "first", "--keep", "everything"}).exit_code, 2);
  EXPECT_EQ(cli({"capture", "first", "--budget", "200%"}).exit_code, 2);
  EXPECT_EQ(cli({"capture", "first", "--save-interval", "0", "--include", "x"}).exit_code, 2);
  const Outcome outcome = cli({"capture", "first", "--include-collection", "gradeints"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("did you mean \"gradients\"?"), std::string::npos) << outcome.err;
  EXPECT_TRUE(std::filesystem::is_empty(run_path("first") / "control"));
}

TEST_F(CaptureCommand, TheBudgetAndTheBillAreShown) {
  EXPECT_EQ(cli({"capture", "first", "--budget", "1%"}).exit_code, 0);
  await([&] {
    const json bills = cli({"show", "first", "--json"}).json().at("bills");
    return !bills.empty() && bills.at(0).at("budget") == 0.01 && bills.at(0).at("share") > 0;
  });
  const Outcome text = cli({"show", "first"});
  EXPECT_NE(text.out.find("budget 1 % and 0.1 s at the start"), std::string::npos) << text.out;
}

TEST_F(CaptureCommand, EditingTheConfigurationDoesTheSame) {
  std::ofstream(config_, std::ios::trunc) << R"({"save": {"save_interval": 7}, "save_all": false,
                                                 "include_collections": ["biases"]})";
  await([&] { return captured().count("weights") == 0; });
  EXPECT_EQ(captured().at("biases").at("save").at("train").at("save_interval"), 7);
}

TEST_F(CaptureCommand, ATrainingThatHasEndedCapturesNothingMore) {
  training_.reset();
  const Outcome outcome = cli({"capture", "first", "--include-collection", "weights"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.err.find("the training of first has ended (died)"), std::string::npos) << outcome.err;
}

TEST_F(CaptureCommand, AStuckTrainingDoesNotHoldTheCommand) {
  kill(training_->id(), SIGSTOP);
  const Outcome outcome = cli({"capture", "first", "--include-collection", "weights", "--timeout", "0.1"});
  kill(training_->id(), SIGCONT);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.out.find("rank-00000: no answer yet"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace trainwarden::testing_cli
