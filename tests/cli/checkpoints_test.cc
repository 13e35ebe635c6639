// show: what was saved because somebody asked.
#include <fstream>

#include "cli_harness.h"

namespace trainwarden::testing_cli {
namespace {

class CheckpointCommands : public CliTest {
 protected:
  // Before the training begins: what is wanted is there after its first step.
  void ask(const std::string& run) const {
    std::filesystem::create_directories(run_path(run) / "control");
    std::ofstream(run_path(run) / "control/checkpoint-k.json")
        << R"({"type":"checkpoint","key":"k","reason":"before I go","rule":"","global_step":-1,"requested_by":"user",)"
        << R"("unix_ns":1})";
  }
};

TEST_F(CheckpointCommands, WhatWasSavedIsShown) {
  ask("first");
  train("first", {"--steps", "3", "--offer"});
  const auto checkpoints = cli({"show", "first", "--json"}).json().at("checkpoints");
  ASSERT_EQ(checkpoints.size(), 1u);
  const auto& saved = checkpoints[0];
  EXPECT_EQ(saved.at("state"), "saved");
  EXPECT_EQ(saved.at("worker"), "rank-00000");
  EXPECT_EQ(saved.at("key"), "k");
  EXPECT_EQ(saved.at("path"), "checkpoints/step-000000-rank-00000.txt");
  EXPECT_EQ(saved.at("bytes"), 6);
  EXPECT_EQ(saved.at("global_step"), 0);
  EXPECT_EQ(read_file(run_path("first") / std::string(saved.at("path"))), "step 0");
  const Outcome text = cli({"show", "first"});
  EXPECT_NE(text.out.find("SAVED ON REQUEST"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("checkpoints/step-000000-rank-00000.txt (6 B)"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("before I go"), std::string::npos) << text.out;
}

TEST_F(CheckpointCommands, WhatWasRefusedIsShownWithItsReason) {
  ask("first");
  train("first", {"--steps", "3"});
  const auto checkpoints = cli({"show", "first", "--json"}).json().at("checkpoints");
  ASSERT_EQ(checkpoints.size(), 1u);
  EXPECT_EQ(checkpoints[0].at("state"), "refused");
  EXPECT_NE(cli({"show", "first"}).out.find("not saved: this program does not save on request"), std::string::npos);
}

TEST_F(CheckpointCommands, NobodyAskedNothingIsShown) {
  train("first", {"--steps", "3", "--offer"});
  EXPECT_TRUE(cli({"show", "first", "--json"}).json().at("checkpoints").empty());
  EXPECT_EQ(cli({"show", "first"}).out.find("ON REQUEST"), std::string::npos);
}

}  // namespace
}  // namespace trainwarden::testing_cli
