// run: environment, exit codes, signals, rules beside the program; and demo, which plays it twice.
#include <chrono>
#include <fstream>
#include <thread>

#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli_harness.h"

namespace trainwarden::testing_cli {
namespace {

using RunCommand = CliTest;

TEST_F(RunCommand, GivesTheProgramAFolderAndSaysWhatIsNext) {
  const Outcome outcome = cli({"run", "--name", "first", "--", tiny_training().string(), "--steps", "5"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("show first"), std::string::npos) << outcome.err;
  EXPECT_EQ(cli({"show", "first", "--json"}).json().at("last_complete_step"), 4);
}

TEST_F(RunCommand, WhatIsNextIsNamedAsItCanBeTyped) {
  const std::string run = "$TW run --name r -- " + tiny_training().string() + " --steps 3";
  EXPECT_NE(shell("PATH=$(dirname $TW):$PATH " + run).err.find("next: trainwarden show r\n"), std::string::npos);
  EXPECT_EQ(shell(std::string(run).replace(run.find(" r "), 3, " q ")).err.find("next: trainwarden show q\n"),
            std::string::npos)
      << "PATH does not find it";
}

TEST_F(RunCommand, WhereNoMetricIsPrintedNoneIsShown) {
  ASSERT_EQ(
      cli({"run", "--name", "r", "--log", (folder_ / "r.log").string(), "--", tiny_training().string()}).exit_code, 0);
  EXPECT_EQ(cli({"show", "r"}).out.find("PRINTED METRIC"), std::string::npos);
}

TEST_F(RunCommand, ANearRuleIsNamedAlone) {
  const auto complaint = [&](const std::string& rule) { return cli({"run", "--rule", rule, "--", "true"}).err; };
  EXPECT_NE(complaint("VanishingGradiant").find("did you mean \"VanishingGradient\"?\n"), std::string::npos);
  EXPECT_NE(complaint("Xyz").find("the rules are "), std::string::npos) << complaint("Xyz");
  EXPECT_NE(complaint("VanishingGradient:treshold=1").find("did you mean \"threshold\"?\n"), std::string::npos)
      << complaint("VanishingGradient:treshold=1");
}

TEST_F(RunCommand, NamesTheRunAfterTimeAndProgram) {
  cli({"run", "--", tiny_training().string()});
  const auto runs = cli({"ls", "--json"}).json().at("runs");
  ASSERT_EQ(runs.size(), 1u);
  const std::string name = runs[0].at("name");
  EXPECT_EQ(name.substr(name.size() - 14), "-tiny_training") << name;
}

TEST_F(RunCommand, LeavesTheProgramsStreamsAlone) {
  const Outcome outcome = shell("printf 'a\\nb\\n' | $TW run --no-sample -- sh -c 'cat; echo problem >&2'");
  EXPECT_EQ(outcome.out, "a\nb\n");
  EXPECT_NE(outcome.err.find("problem\n"), std::string::npos);
  EXPECT_NE(outcome.err.find("wrote no run"), std::string::npos) << outcome.err;
}

TEST_F(RunCommand, ArgumentsOfTheProgramAreItsOwn) {
  EXPECT_EQ(cli({"run", "--", "echo", "--name", "x", "--", "-v"}).out, "--name x -- -v\n");
}

TEST_F(RunCommand, LabelsTheRunAndRecordsTheNamedVariablesAlone) {
  setenv("TW_TEST_BATCH", "32", 1);
  setenv("TW_TEST_OTHER", "unheard-of", 1);
  const Outcome outcome = cli({"run", "--name", "first", "--label", "lr=0.1", "--label", "note=a=b", "--env-params",
                               "TW_TEST_BATCH", "--", tiny_training().string()});
  unsetenv("TW_TEST_OTHER");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const nlohmann::json expected = {{"lr", "0.1"}, {"note", "a=b"}, {"TW_TEST_BATCH", "32"}, {"learning_rate", "0.1"}};
  EXPECT_EQ(cli({"describe", "first", "--json"}).json().at("HyperParameters"), expected);
  EXPECT_NE(cli({"show", "first"}).out.find("lr = 0.1"), std::string::npos);
  EXPECT_EQ(read_file(run_path("first") / "run.json").find("unheard-of"), std::string::npos);
  unsetenv("TW_TEST_BATCH");
  EXPECT_EQ(cli({"run", "--label", "lr", "--", "true"}).exit_code, 2);
  EXPECT_EQ(cli({"run", "--env-params", "TW_TEST_BATCH", "--", "true"}).exit_code, 2);
}

TEST_F(RunCommand, SecretsAmongArgumentsAndLabelsAreMasked) {
  const std::string key = "hf_" + std::string("aB3dE6gH1jK4mN7pQ2sT5vW8yZ0aB3dE6g");
  const std::string patterns = (folder_ / "patterns").string();
  std::ofstream(patterns) << "ACME-[0-9]+\n";
  setenv("TRAINWARDEN_SECRET_PATTERNS", patterns.c_str(), 1);
  const Outcome outcome =
      cli({"run", "--name", "first", "--label", "api_key=planted-1", "--label", "badge=ACME-77", "--",
           tiny_training().string(), "--steps", "3", "--password", "planted-2", "--hub", key, "--max-tokens", "512"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string shown = cli({"describe", "first", "--json"}).out + read_file(run_path("first") / "run.json");
  for (const std::string& planted : {std::string("planted-1"), std::string("planted-2"), std::string("ACME-77"), key}) {
    EXPECT_EQ(shown.find(planted), std::string::npos) << planted;
  }
  EXPECT_NE(shown.find("\"512\""), std::string::npos) << shown;
  setenv("TRAINWARDEN_SECRET_PATTERNS", "/no/such/file", 1);
  const Outcome refused = cli({"run", "--", tiny_training().string()});
  unsetenv("TRAINWARDEN_SECRET_PATTERNS");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("TRAINWARDEN_SECRET_PATTERNS"), std::string::npos) << refused.err;
}

TEST_F(RunCommand, HandsTheExitCodeOn) {
  EXPECT_EQ(cli({"run", "--", "sh", "-c", "exit 7"}).exit_code, 7);
  EXPECT_EQ(cli({"run", "--", "sh", "-c", "kill -SEGV $$"}).exit_code, 128 + SIGSEGV);
  EXPECT_EQ(cli({"run", "--", "/no/such/program"}).exit_code, 127);
  EXPECT_EQ(cli({"run", "--", "/etc/passwd"}).exit_code, 126);
}

TEST_F(RunCommand, ARuleThatFiresIsThree) {
  const Outcome outcome =
      cli({"run", "--name", "sick", "--rule", "VanishingGradient", "--", tiny_training().string(), "--vanish-at", "7"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_NE(outcome.err.find("VanishingGradient fired at step 7"), std::string::npos) << outcome.err;
  EXPECT_EQ(cli({"show", "sick", "--json"}).json().at("rules").at(0).at("status"), "IssuesFound");
}

TEST_F(RunCommand, TheFailureOfTheProgramCountsMoreThanARule) {
  EXPECT_EQ(
      cli({"run", "--rule", "VanishingGradient", "--", tiny_training().string(), "--vanish-at", "7", "--exit", "5"})
          .exit_code,
      5);
}

TEST_F(RunCommand, ARuleMayStopTheProgram) {
  const Outcome outcome = cli({"run", "--name", "sick", "--rule", "VanishingGradient", "--on-fire", "stop", "--",
                               tiny_training().string(), "--until-stopped", "--vanish-at", "7"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_EQ(cli({"show", "sick", "--json"}).json().at("state"), "stopped");
}

TEST_F(RunCommand, AGoalThatIsReachedStopsTheProgramAndIsNoFault) {
  const Outcome outcome = cli({"run", "--name", "good", "--rule", "TargetReached:scores=accuracy,target=0.9,count=1000",
                               "--on-fire", "stop", "--", tiny_training().string(), "--until-stopped"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const nlohmann::json shown = cli({"show", "good", "--json"}).json();
  EXPECT_EQ(shown.at("state"), "stopped");
  EXPECT_EQ(shown.at("rules").at(0).at("status"), "NoIssuesFound");
}

TEST_F(RunCommand, AQuietRuleDoesNotChangeTheExitCode) {
  const Outcome outcome = cli({"run", "--rule", "ExplodingTensor", "--", tiny_training().string(), "--exit", "5"});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_NE(outcome.err.find("NoIssuesFound"), std::string::npos) << outcome.err;
}

TEST_F(RunCommand, OfASetOfRulesOneSentenceIsPrinted) {
  const Outcome outcome = cli({"run", "--name", "many", "--rules", "default", "--", tiny_training().string()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("the training was not examined.\nOf "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("diagnose many --whole"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("NotApplicable"), std::string::npos) << outcome.err;
}

TEST_F(RunCommand, AFailedTrainingIsNeverCalledRight) {
  const Outcome outcome =
      cli({"run", "--name", "failed", "--rules", "default", "--", tiny_training().string(), "--exit", "5"});
  EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
  EXPECT_NE(outcome.err.find("The training failed: exit code 5."), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("Nothing is wrong"), std::string::npos) << outcome.err;
  const Outcome later = cli({"diagnose", "failed"});
  EXPECT_NE(later.out.find("The training failed: exit code 5."), std::string::npos) << later.out;
  EXPECT_EQ(cli({"diagnose", "failed", "--json"}).json().at("failure"), "exit code 5");
  EXPECT_TRUE(cli({"diagnose", "failed", "--json"}).json().at("diagnosis").is_null());
}

TEST_F(RunCommand, SignalsThatAreSentToItReachTheProgramOnce) {
  Background run(cli_command({"run", "--", tiny_training().string(), "--await-signal"}), folder_);
  run.await_output("ready");
  kill(run.id(), SIGTERM);
  const Outcome outcome = run.wait();
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.out.find("signals: 1"), std::string::npos) << outcome.out;
}

// What a program under `trainwarden run` writes to a terminal on which somebody types Ctrl-C once it is ready.
std::string output_after_ctrl_c(const std::vector<std::string>& command) {
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    std::vector<char*> arguments;
    for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  std::string seen;
  bool typed = false;
  char buffer[256];
  for (ssize_t count = read(terminal, buffer, sizeof buffer); count > 0;
       count = read(terminal, buffer, sizeof buffer)) {
    seen.append(buffer, static_cast<std::size_t>(count));
    if (typed || seen.find("ready") == std::string::npos) continue;
    typed = write(terminal, "\x03", 1) == 1;
  }
  int status = 0;
  waitpid(child, &status, 0);
  close(terminal);
  return seen;
}

TEST_F(RunCommand, CtrlCReachesTheProgramOnce) {
  const std::string seen = output_after_ctrl_c(cli_command({"run", "--", tiny_training().string(), "--await-signal"}));
  EXPECT_NE(seen.find("signals: 1"), std::string::npos) << seen;
  EXPECT_NE(seen.find("ended with code 0"), std::string::npos) << seen;
}

TEST_F(RunCommand, ABadConfigIsFoundBeforeTheProgramStarts) {
  const std::string config = (folder_ / "capture.json").string();
  std::ofstream(config) << R"({"save_intervall": 10})";
  const Outcome outcome = cli({"run", "--config", config, "--", "echo", "started"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("save_intervall"), std::string::npos) << outcome.err;
  EXPECT_EQ(cli({"run", "--config", "/no/such.json", "--", "echo"}).exit_code, 2);
}

TEST_F(RunCommand, AConfigOfSmdebugSaysWhatIsCaptured) {
  const std::string config = (folder_ / "debughookconfig.json").string();
  std::ofstream(config) << R"({"LocalPath": "/not/here", "HookParameters": {"save_interval": "4", "save_all": "false"},
    "CollectionConfigurations": [{"CollectionName": "weights"}, {"CollectionName": "gradients", "CollectionParameters":
      {"reductions": "abs_mean", "save_interval": 3}}]})";
  ASSERT_EQ(
      cli({"run", "--name", "theirs", "--config", config, "--", tiny_training().string(), "--steps", "9"}).exit_code,
      0);
  const auto tensors = cli({"tensors", "theirs", "--include", "conv0", "--json"}).json().at("tensors");
  ASSERT_EQ(tensors.size(), 2u);
  EXPECT_EQ(tensors[0].at("name"), "conv0.weight");
  EXPECT_EQ(tensors[0].at("values"), 3) << "steps 0, 4 and 8";
  EXPECT_EQ(tensors[1].at("values"), 0);
  EXPECT_EQ(tensors[1].at("statistics"), 3) << "steps 0, 3 and 6";

  std::ofstream(config) << R"({"HookParameter": {}})";
  const Outcome mistake = cli({"run", "--config", config, "--", "echo", "started"});
  EXPECT_EQ(mistake.exit_code, 2);
  EXPECT_NE(mistake.err.find("did you mean \"HookParameters\"?"), std::string::npos) << mistake.err;
}

TEST_F(RunCommand, ABadRuleIsFoundBeforeTheProgramStarts) {
  const Outcome outcome = cli({"run", "--rule", "Nonsense", "--", "echo", "started"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.out, "");
}

TEST_F(RunCommand, AFinishedRunIsNeverWrittenAgain) {
  train("first");
  const Outcome outcome = cli({"run", "--name", "first", "--", "echo", "started"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(cli({"run", "--name", "../first", "--", "echo"}).exit_code, 2);
}

TEST_F(RunCommand, ARunThatDiedMayGoOn) {
  train("first", {"--crash"});
  EXPECT_EQ(cli({"run", "--name", "first", "--", tiny_training().string()}).exit_code, 0);
  EXPECT_EQ(cli({"show", "first", "--json"}).json().at("state"), "completed");
}

TEST_F(RunCommand, TheDemoPlaysTwoActs) {
  setenv("TRAINWARDEN_DEMO_PROGRAM", tiny_training().c_str(), 1);
  const Outcome outcome = cli({"demo"});
  unsetenv("TRAINWARDEN_DEMO_PROGRAM");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* part : {"Act one", "conv0.weight at step 0", "conv0.weight at step 29", "Act two", "What happened",
                           "VanishingGradient fired", "Where the evidence lies", "What to type next"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << " in\n" << outcome.out;
  }
  const auto runs = cli({"ls", "--json"}).json().at("runs");
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].at("state"), "stopped");
  EXPECT_EQ(runs[1].at("state"), "completed");
}

TEST_F(RunCommand, TheDemoSaysHowToGetItsProgram) {
  setenv("TRAINWARDEN_DEMO_PROGRAM", "/no/such/program", 1);
  const Outcome outcome = cli({"demo"});
  unsetenv("TRAINWARDEN_DEMO_PROGRAM");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.err.find("./dev demo"), std::string::npos) << outcome.err;
}

// A job's program prints into a file whose disk may be full.
TEST_F(RunCommand, WhatItCannotPrintEndsNoTraining) {
  const Outcome outcome = shell("$TW run --name unheard -- sh -c 'exit 3' 2>/dev/full");
  EXPECT_EQ(outcome.exit_code, 3);
}

}  // namespace
}  // namespace trainwarden::testing_cli
