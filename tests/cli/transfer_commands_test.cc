// export and import, and what `run` shows to TensorBoard.
#include <fstream>

#include <signal.h>

#include "cli_harness.h"

namespace trainwarden::testing_cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class TransferCommands : public CliTest {
 protected:
  std::string out(const char* name) const { return (folder_ / name).string(); }

  static std::vector<fs::path> event_files(const fs::path& folder) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.path().filename().string().find("tfevents") != std::string::npos) files.push_back(entry.path());
    }
    return files;
  }
};

TEST_F(TransferCommands, EveryFormatIsWrittenAndReported) {
  train("first", {"--steps", "4"});
  for (const char* format : {"smdebug", "tensorboard", "safetensors", "npz", "csv", "json"}) {
    const Outcome outcome = cli({"export", "first", "--to", format, out(format), "--json"});
    ASSERT_EQ(outcome.exit_code, 0) << format << ": " << outcome.err;
    const json report = outcome.json();
    EXPECT_EQ(report.at("format"), format);
    EXPECT_EQ(report.at("steps"), 4) << format;
    EXPECT_EQ(report.at("records"), 16) << format;
    EXPECT_EQ(report.at("damaged"), 0);
    EXPECT_EQ(report.at("run_ended"), true);
    EXPECT_GT(report.at("bytes"), 0);
    EXPECT_TRUE(fs::exists(out(format))) << format;
  }
}

TEST_F(TransferCommands, PeopleAreToldWhatIsNotAsInTheRun) {
  train("first", {"--steps", "2"});
  const Outcome outcome = cli({"export", "first", "--to", "tensorboard", out("board")});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("2 steps, 8 records"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("values of tensors as histograms"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.err, "");
}

TEST_F(TransferCommands, TheChoiceNarrows) {
  train("first", {"--steps", "10"});
  const Outcome outcome = cli({"export", "first", "--to", "json", out("some.json"), "--include", "accuracy", "--mode",
                               "train", "--steps", "2:8:3"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json records = json::parse(read_file(out("some.json"))).at("records");
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].at("step"), 2);
  EXPECT_EQ(records[1].at("step"), 5);
  EXPECT_EQ(cli({"export", "first", "--to", "json", out("none.json"), "--steps", "100:"}).err,
            "no step of the run matches\n");
}

TEST_F(TransferCommands, WrongUsage) {
  train("first", {"--steps", "2"});
  EXPECT_EQ(cli({"export", "first", "--to", "hdf5", out("x")}).exit_code, 2);
  EXPECT_EQ(cli({"export", "first", out("x")}).exit_code, 2);
  EXPECT_EQ(cli({"export", "first", "--to", "csv", out("x"), "--steps", "a"}).exit_code, 2);
  EXPECT_EQ(cli({"export", "first", "--to", "csv", out("x"), "--include", "("}).exit_code, 2);
  EXPECT_EQ(cli({"export", "none", "--to", "csv", out("x")}).exit_code, 1);
  EXPECT_EQ(cli({"import", out("none")}).exit_code, 1);
  EXPECT_EQ(cli({"import", run_path("first").string(), "--name", "second"}).exit_code, 2);
  EXPECT_FALSE(fs::exists(out("x")));
  EXPECT_FALSE(fs::exists(run_path("second")));
}

TEST_F(TransferCommands, WhatIsThereIsKeptUnlessForced) {
  train("first", {"--steps", "2"});
  std::ofstream(out("loss.csv")) << "mine";
  const Outcome refused = cli({"export", "first", "--to", "csv", out("loss.csv")});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.err.find("--force"), std::string::npos) << refused.err;
  EXPECT_EQ(read_file(out("loss.csv")), "mine");
  EXPECT_EQ(cli({"export", "first", "--to", "csv", out("loss.csv"), "--force"}).exit_code, 0);
  EXPECT_EQ(read_file(out("loss.csv")).substr(0, 5), "step,");
}

TEST_F(TransferCommands, ThereAndBack) {
  train("first", {"--steps", "5"});
  ASSERT_EQ(cli({"export", "first", "--to", "smdebug", out("old")}).exit_code, 0);
  const Outcome outcome = cli({"import", out("old"), "--name", "back", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.json().at("workers"), json({{"worker_0", "rank-00000"}}));
  EXPECT_EQ(outcome.json().at("source_ended"), true);
  const json before = cli({"value", "first", "conv0.weight", "--step", "3", "--json", "--elements"}).json();
  const json after = cli({"value", "back", "conv0.weight", "--step", "3", "--json", "--elements"}).json();
  EXPECT_EQ(after.at("elements"), before.at("elements"));
  EXPECT_EQ(after.at("shape"), before.at("shape"));
  EXPECT_EQ(cli({"doctor", "back"}).exit_code, 0);
  EXPECT_EQ(cli({"import", out("old"), "--name", "back"}).exit_code, 1);
}

TEST_F(TransferCommands, ALiveRunIsFollowedToItsEnd) {
  Background training(cli_command({"run", "--name", "live", "--", tiny_training().string(), "--until-stopped"}),
                      folder_);
  await([&] { return fs::exists(run_path("live") / "run.json"); });
  fs::create_directory(folder_ / "export");
  Background following(cli_command({"export", "live", "--to", "tensorboard", out("board"), "--follow", "--json"}),
                       folder_ / "export");
  await([&] { return fs::exists(out("board")) && !event_files(out("board")).empty(); });
  ::kill(training.id(), SIGTERM);
  training.wait();
  const Outcome outcome = following.wait();
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.json().at("run_ended"), true);
  EXPECT_EQ(outcome.json().at("steps"), cli({"steps", "live", "--json"}).json().at("steps").size());
}

TEST_F(TransferCommands, RunShowsTheTrainingToTensorBoard) {
  const Outcome outcome =
      cli({"run", "--name", "shown", "--tensorboard", out("board"), "--", tiny_training().string(), "--steps", "5"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("tensorboard --logdir " + out("board")), std::string::npos) << outcome.err;
  EXPECT_EQ(event_files(folder_ / "board" / "shown").size(), 1u);
}

TEST_F(TransferCommands, TheConfigurationMayAskForTensorBoardToo) {
  std::ofstream(out("config.json")) << R"({"tensorboard_dir": ")" << out("board") << R"(", "save_all": true})";
  const Outcome outcome =
      cli({"run", "--name", "shown", "--config", out("config.json"), "--", tiny_training().string()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(event_files(folder_ / "board" / "shown").size(), 1u) << outcome.err;

  const Outcome again = cli({"run", "--name", "again", "--config", out("config.json"), "--", tiny_training().string()});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.err.find("not shown to TensorBoard"), std::string::npos) << again.err;
  EXPECT_EQ(event_files(folder_ / "board" / "again").size(), 1u) << again.err;
}

TEST_F(TransferCommands, ABoardThatCannotBeWrittenIsNoAffairOfTheTraining) {
  std::ofstream(out("board")) << "a file";
  const Outcome outcome =
      cli({"run", "--name", "shown", "--tensorboard", out("board"), "--", tiny_training().string(), "--exit", "7"});
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_NE(outcome.err.find("not shown to TensorBoard"), std::string::npos) << outcome.err;
  EXPECT_EQ(cli({"show", "shown", "--json"}).json().at("last_complete_step"), 29);
}

}  // namespace
}  // namespace trainwarden::testing_cli
