// `trainwarden stop` and `trainwarden save` on trainings that go on.
#include "cli_harness.h"

namespace trainwarden::testing_cli {
namespace {

class ControlCommands : public CliTest {
 protected:
  // Goes on until it is asked to stop.
  std::unique_ptr<Background> start(const std::vector<std::string>& options) const {
    std::vector<std::string> command = cli_command({"run", "--name", "first", "--", tiny_training().string()});
    command.insert(command.end(), options.begin(), options.end());
    auto run = std::make_unique<Background>(command, folder_);
    await([this] { return cli({"steps", "first"}).exit_code == 0; });  // its first step has ended
    return run;
  }
};

TEST_F(ControlCommands, StopEndsATraining) {
  const auto run = start({"--until-stopped"});
  const Outcome stopped = cli({"stop", "first", "--reason", "the loss is flat", "--timeout", "60s", "--json"});
  ASSERT_EQ(stopped.exit_code, 0) << stopped.err;
  EXPECT_TRUE(stopped.err.empty()) << stopped.err;  // no progress where nobody looks
  EXPECT_EQ(stopped.json()["run"], "first");
  EXPECT_EQ(stopped.json()["status_before"], "InProgress");
  EXPECT_EQ(stopped.json()["already"], false);
  EXPECT_EQ(stopped.json()["ended"], true);
  EXPECT_EQ(run->wait().exit_code, 0);

  const Outcome again = cli({"stop", "first"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.out, "first: the training has ended already\n");
  const Outcome strict = cli({"stop", "first", "--if-status", "InProgress"});
  EXPECT_EQ(strict.exit_code, 1);
  EXPECT_NE(strict.err.find("expected a run whose status is InProgress"), std::string::npos) << strict.err;
}

TEST_F(ControlCommands, ARunThatNobodyWritesAnyMoreIsOver) {
  const auto run = start({"--steps", "1", "--await-signal"});
  run->await_output("ready");
  const Outcome over = cli({"stop", "first"});  // its hook is closed: nobody writes the run any more
  EXPECT_EQ(over.exit_code, 0) << over.err;
  kill(run->id(), SIGTERM);
  EXPECT_NE(run->wait().out.find("signals: 1"), std::string::npos);
}

TEST_F(ControlCommands, SaveOfAProgramThatCannot) {
  const auto run = start({"--until-stopped"});
  const Outcome saved = cli({"save", "first", "--timeout", "60s"});
  EXPECT_EQ(saved.exit_code, 1);
  EXPECT_NE(saved.err.find("no checkpoint"), std::string::npos) << saved.err;
  const Outcome asked = cli({"save", "first", "--no-wait", "--json"});
  EXPECT_EQ(asked.exit_code, 0) << asked.err;
  EXPECT_TRUE(asked.json()["checkpoint"].is_null());
  EXPECT_EQ(cli({"stop", "first", "--timeout", "60s"}).exit_code, 0);
  EXPECT_EQ(run->wait().exit_code, 0);
}

TEST_F(ControlCommands, WrongUsage) {
  EXPECT_EQ(cli({"stop", "nothing"}).exit_code, 1);
  train("first");
  EXPECT_EQ(cli({"stop", "first", "--timeout", "30"}).exit_code, 2);
  EXPECT_EQ(cli({"stop", "first", "--then", "shoot"}).exit_code, 2);
  EXPECT_EQ(cli({"stop", "first", "--if-status", "Running"}).exit_code, 2);
  EXPECT_EQ(cli({"stop", "first", "--key", "../up"}).exit_code, 2);
  EXPECT_EQ(cli({"stop", "first", "--no-wait", "--then", "term"}).exit_code, 2);
}

}  // namespace
}  // namespace trainwarden::testing_cli
