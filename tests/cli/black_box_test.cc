// run --black-box: what is left of the steps before a verdict, and how the commands lead to it.
#include "cli_harness.h"

namespace trainwarden::testing_cli {
namespace {

using BlackBoxCommands = CliTest;

TEST_F(BlackBoxCommands, ARuleThatFiresHasTheStepsBeforeItWritten) {
  const Outcome outcome = cli({"run", "--name", "sick", "--black-box=64", "--rule", "VanishingGradient", "--on-fire",
                               "stop", "--", tiny_training().string(), "--until-stopped", "--vanish-at", "7"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  const auto dumps = cli({"show", "sick", "--json"}).json().at("black_boxes");
  ASSERT_EQ(dumps.size(), 1u) << outcome.err;
  EXPECT_EQ(dumps[0].at("why").at("rule"), "VanishingGradient");
  EXPECT_EQ(dumps[0].at("failing_step"), 7);
  const std::string path = dumps[0].at("path");
  EXPECT_EQ(path.rfind("blackbox/step-", 0), 0u) << path;

  const Outcome text = cli({"show", "sick"});
  EXPECT_NE(text.out.find("BLACK BOX"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find(path), std::string::npos) << text.out;
  EXPECT_EQ(cli({"ls", "--names"}).out, "sick\n") << "a dump is no run of its own there";

  const std::string dump = (run_path("sick") / path).string();
  const auto checkup = cli({"doctor", dump, "--json"});
  EXPECT_EQ(checkup.exit_code, 0) << checkup.out;
  EXPECT_EQ(checkup.json().at("healthy"), true);
  const auto shown = cli({"show", dump, "--json"}).json();
  EXPECT_EQ(shown.at("state"), "completed");
  EXPECT_EQ(shown.at("labels").at("black_box.rank"), "0");
  const auto value = cli({"value", dump, "conv0.weight", "--json"});
  EXPECT_EQ(value.exit_code, 0) << value.err;
}

TEST_F(BlackBoxCommands, WithoutItNothingIsAskedForOrShown) {
  setenv("TRAINWARDEN_BLACK_BOX", "off", 1);
  cli({"run", "--name", "sick", "--rule", "VanishingGradient", "--", tiny_training().string(), "--vanish-at", "7"});
  unsetenv("TRAINWARDEN_BLACK_BOX");
  EXPECT_TRUE(cli({"show", "sick", "--json"}).json().at("black_boxes").empty());
  EXPECT_EQ(cli({"show", "sick"}).out.find("BLACK BOX"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(run_path("sick") / "blackbox"));
}

TEST_F(BlackBoxCommands, AReplayThatIsDamagedIsShownAsThat) {
  train("first", {"--steps", "3"});
  const auto dump = run_path("first") / "blackbox" / "step-000001-rank-00000";
  std::filesystem::create_directories(dump);
  std::filesystem::copy(run_path("first") / "run.json", dump / "run.json");
  const Outcome text = cli({"show", "first"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("replay.json"), std::string::npos) << text.out;
}

TEST_F(BlackBoxCommands, ANumberOfStepsThatIsNoneIsRefused) {
  const Outcome outcome = cli({"run", "--black-box=often", "--", "true"});
  EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
  EXPECT_NE(outcome.err.find("expected a number of steps"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace trainwarden::testing_cli
