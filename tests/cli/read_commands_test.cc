// The commands that read a run: ls, show, tensors, steps, value.
#include <fstream>
#include <map>
#include <regex>

#include "cli_harness.h"

namespace trainwarden::testing_cli {
namespace {

class ReadCommands : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    train("first", {"--steps", "12"});
  }
};

using NoRuns = CliTest;

std::vector<std::string> names_in(const nlohmann::json& list) {
  std::vector<std::string> names;
  for (const auto& item : list) names.push_back(item.at("name"));
  return names;
}

TEST_F(ReadCommands, LsShowsStateStepsAndLoss) {
  train("second", {"--steps", "3"});
  const Outcome table = cli({"ls"});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_NE(table.out.find("first"), std::string::npos);
  EXPECT_NE(table.out.find("completed"), std::string::npos);

  const auto runs = cli({"ls", "--json"}).json().at("runs");
  ASSERT_EQ(runs.size(), 2u);
  const auto& newest = runs[0];
  EXPECT_EQ(newest.at("name"), "second");
  EXPECT_EQ(newest.at("state"), "completed");
  EXPECT_EQ(newest.at("steps"), 3);
  EXPECT_EQ(newest.at("last_step"), 2);
  EXPECT_NEAR(newest.at("last_loss").at("value").get<double>(), 2.0 / 3, 1e-6);
}

TEST_F(ReadCommands, LsTakesTheFolderFromTheCommandLine) {
  EXPECT_EQ(cli({"ls", "--names", "--runs", runs_.string()}).out, "first\n");
  const Outcome missing = cli({"ls", "--runs", (folder_ / "nowhere").string()});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_NE(missing.err.find("trainwarden run"), std::string::npos) << missing.err;
}

TEST_F(ReadCommands, ARunThatWasKilledIsShownAsDied) {
  train("killed", {"--crash"});
  EXPECT_EQ(cli({"show", "killed", "--json"}).json().at("state"), "died");
}

// However a run ended, all commands say the same of it.
TEST_F(ReadCommands, DescribeLsAndShowAgree) {
  train("killed", {"--crash"});
  const std::map<std::string, std::string> statuses = {{"first", "Completed"}, {"killed", "Failed"}};
  const auto listed = cli({"ls", "--json"}).json();
  for (const auto& run : listed.at("runs")) {
    const std::string name = run.at("name");
    const auto job = cli({"describe", name, "--json"}).json();
    EXPECT_EQ(job.at("TrainingJobName"), name);
    EXPECT_EQ(job.at("TrainingJobStatus"), statuses.at(name));
    EXPECT_EQ(job.contains("FailureReason"), name == "killed");
    const auto shown = cli({"show", name, "--json"}).json();
    EXPECT_EQ(run.at("status"), job.at("TrainingJobStatus"));
    EXPECT_EQ(run.at("secondary_status"), job.at("SecondaryStatus"));
    EXPECT_EQ(shown.at("status"), job.at("TrainingJobStatus"));
    EXPECT_EQ(shown.at("secondary_status"), job.at("SecondaryStatus"));
  }
  const Outcome text = cli({"describe", "first"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("first  Completed"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("Training"), std::string::npos) << text.out;
  EXPECT_EQ(cli({"describe", "nowhere"}).exit_code, 1);
}

TEST_F(ReadCommands, ShowSaysFirstWhatDidNotArrive) {
  EXPECT_EQ(cli({"show", "first"}).out.find("NOT ALL IS HERE"), std::string::npos);
  setenv("TRAINWARDEN_STAGING_BYTES", "4096", 1);
  train("crowded", {"--steps", "3", "--large"});
  unsetenv("TRAINWARDEN_STAGING_BYTES");
  const std::string shown = cli({"show", "crowded"}).out;
  // What else is dropped depends on how fast it is written.
  const std::regex first_line(
      R"(^NOT ALL IS HERE: \d+ of what was asked for did not arrive \([0-9.]+ KiB, .*too_large\); )"
      R"(save less often, keep statistics, or raise staging_bytes)");
  EXPECT_TRUE(std::regex_search(shown.substr(0, shown.find('\n')), first_line)) << shown;
}

TEST_F(ReadCommands, ShowTellsWhatARunHolds) {
  const auto run = cli({"show", "first", "--json"}).json();
  EXPECT_EQ(run.at("name"), "first");
  EXPECT_EQ(run.at("state"), "completed");
  EXPECT_EQ(run.at("labels").at("learning_rate"), "0.1");
  EXPECT_EQ(run.at("workers"), nlohmann::json({"rank-00000"}));
  EXPECT_EQ(run.at("modes").at("train").at("steps"), 12);
  EXPECT_TRUE(run.at("losses").empty());
  const Outcome text = cli({"show", "first"});
  EXPECT_EQ(text.exit_code, 0);
  for (const char* part : {"learning_rate", "rank-00000", "train", "losses", "journal/rank-00000"}) {
    EXPECT_NE(text.out.find(part), std::string::npos) << part << " in\n" << text.out;
  }
}

TEST_F(ReadCommands, TensorsCanBeNarrowed) {
  const auto all = cli({"tensors", "first", "--json"}).json().at("tensors");
  EXPECT_EQ(names_in(all), (std::vector<std::string>{"CrossEntropyLoss_output_0", "accuracy", "conv0.weight",
                                                     "gradient/conv0.weight"}));
  EXPECT_EQ(names_in(cli({"tensors", "first", "--include", "^conv0", "--json"}).json().at("tensors")),
            std::vector<std::string>{"conv0.weight"});
  EXPECT_EQ(names_in(cli({"tensors", "first", "--collection", "gradients", "--json"}).json().at("tensors")),
            std::vector<std::string>{"gradient/conv0.weight"});
  EXPECT_EQ(names_in(cli({"tensors", "first", "--include", "accuracy", "--include", "^Cross", "--step", "3", "--mode",
                          "train", "--json"})
                         .json()
                         .at("tensors"))
                .size(),
            2u);
}

TEST_F(ReadCommands, ABadPatternIsWrongUsageAndSaysWhere) {
  const Outcome outcome = cli({"tensors", "first", "--include", "conv("});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("conv("), std::string::npos) << outcome.err;
}

TEST_F(ReadCommands, StepsListGlobalAndModeSteps) {
  const auto steps = cli({"steps", "first", "--json"}).json();
  EXPECT_EQ(steps.at("steps").size(), 12u);
  EXPECT_EQ(steps.at("last_complete_step"), 11);
  EXPECT_EQ(steps.at("ended"), true);
  EXPECT_EQ(steps.at("steps")[5],
            nlohmann::json({{"step", 5}, {"mode", "train"}, {"mode_step", 5}, {"state", "available"}}));
  EXPECT_TRUE(cli({"steps", "first", "--mode", "eval", "--json"}).json().at("steps").empty());
}

TEST_F(ReadCommands, ValueShowsStatisticsAndAPicture) {
  const Outcome text = cli({"value", "first", "conv0.weight", "--step", "4"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("float32 [4, 1, 3, 3]"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("count 36"), std::string::npos);
  EXPECT_NE(text.out.find("@ is "), std::string::npos);
  EXPECT_EQ(text.out.find('\x1b'), std::string::npos) << "no colours in a pipe";
  EXPECT_NE(cli({"value", "first", "conv0.weight", "--color", "always"}).out.find("▀"), std::string::npos);
}

TEST_F(ReadCommands, ValueTakesTheLastStepWhenNoneIsGiven) {
  const auto value = cli({"value", "first", "accuracy", "--json"}).json();
  EXPECT_EQ(value.at("step"), 11);
  EXPECT_EQ(value.at("mode"), "train");
  EXPECT_NEAR(value.at("scalar").get<double>(), 1 - 1.0 / 13, 1e-12);
}

TEST_F(ReadCommands, ATensorOfSingleReductionsAloneIsShownAndJudged) {
  train("reduced", {"--steps", "4", "--reduce-gradient", "--vanish-at", "2"});
  const Outcome text = cli({"value", "reduced", "gradient/conv0.weight", "--step", "1"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("saved abs mean: 0.00"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("only the reductions"), std::string::npos) << text.out;
  EXPECT_EQ(text.out.find("float32"), std::string::npos) << text.out;

  const auto value = cli({"value", "reduced", "gradient/conv0.weight", "--step", "3", "--json"}).json();
  EXPECT_EQ(value.at("form"), "reductions");
  EXPECT_TRUE(value.at("shape").is_null() && value.at("dtype").is_null());
  EXPECT_EQ(value.at("reductions"), nlohmann::json::parse(R"([{"reduction": "mean", "abs": true, "value": 0.0}])"));

  const auto tensors = cli({"tensors", "reduced", "--include", "^gradient", "--json"}).json().at("tensors");
  EXPECT_EQ(tensors.at(0).at("reductions"), 4);
  EXPECT_TRUE(tensors.at(0).at("shape").is_null());
  EXPECT_EQ(cli({"check", "reduced", "--rule", "VanishingGradient"}).exit_code, 3);
}

TEST_F(ReadCommands, ValueWritesAFileForNumpy) {
  const std::string file = (folder_ / "conv0.npy").string();
  const Outcome outcome = cli({"value", "first", "conv0.weight", "--step", "0", "--npy", file});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(
      shell("/usr/bin/python3 -c \"import numpy; a = numpy.load('" + file +
            "'); print(a.shape, a.dtype, abs(a - numpy.sin(numpy.arange(36)).reshape(4, 1, 3, 3)).max() < 1e-6)\"")
          .out,
      "(4, 1, 3, 3) float32 True\n");
}

TEST_F(ReadCommands, ValueSaysWhichStepsThereAre) {
  const Outcome outcome = cli({"value", "first", "conv0.weight", "--step", "100"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.err.find("100"), std::string::npos);
  EXPECT_NE(outcome.err.find("11"), std::string::npos) << outcome.err;
}

TEST_F(ReadCommands, AnUnknownTensorNamesTheNearest) {
  const Outcome outcome = cli({"value", "first", "conv0.wieght"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.err.find("did you mean \"conv0.weight\"?"), std::string::npos) << outcome.err;
}

TEST_F(ReadCommands, AnUnknownRunNamesTheNearest) {
  for (const char* command : {"show", "tensors", "steps", "doctor"}) {
    const Outcome outcome = cli({command, "frist"});
    EXPECT_EQ(outcome.exit_code, 1) << command;
    EXPECT_NE(outcome.err.find("did you mean \"first\"?"), std::string::npos) << outcome.err;
  }
}

TEST_F(ReadCommands, ARunCanBeNamedByItsPath) {
  EXPECT_EQ(cli({"show", run_path("first").string(), "--runs", "elsewhere"}).exit_code, 0);
}

TEST_F(NoRuns, AnEmptyFolderOfRunsIsNoError) {
  EXPECT_EQ(cli({"ls"}).exit_code, 0);
  EXPECT_TRUE(cli({"ls", "--json"}).json().at("runs").empty());
  EXPECT_NE(cli({"show", "first"}).err.find("no runs"), std::string::npos);
}

TEST_F(NoRuns, AReaderThatGoesAwayIsNoError) {
  train("first", {"--steps", "2000"});
  const Outcome outcome = shell("$TW steps first | head -n 1; echo \"${PIPESTATUS[0]}\"");
  EXPECT_NE(outcome.out.find("STEP"), std::string::npos);
  EXPECT_EQ(outcome.err, "");
}

TEST_F(NoRuns, AFullDiskBehindARedirectionIsAnError) {
  train("first");
  const Outcome outcome = shell("$TW steps first > /dev/full");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.err.find("cannot write"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace trainwarden::testing_cli
