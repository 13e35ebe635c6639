// The command line itself: help, wrong usage, completion.
#include "cli_harness.h"

namespace trainwarden::testing_cli {
namespace {

using Usage = CliTest;

constexpr const char* kCommands[] = {"run",     "ls",     "show",   "tensors", "steps", "value",
                                     "rules",   "check",  "watch",  "doctor",  "demo",  "completion",
                                     "capture", "export", "import", "stop",    "save"};

TEST_F(Usage, EveryCommandHasHelpWithExamples) {
  for (const char* command : kCommands) {
    const Outcome outcome = cli({command, "--help"});
    EXPECT_EQ(outcome.exit_code, 0) << command;
    EXPECT_NE(outcome.out.find("Examples:\n  trainwarden " + std::string(command)), std::string::npos)
        << command << ":\n"
        << outcome.out;
  }
}

TEST_F(Usage, TheHelpNamesEveryCommandAndTheExitCodes) {
  const Outcome outcome = cli({"--help"});
  EXPECT_EQ(outcome.exit_code, 0);
  for (const char* command : kCommands) EXPECT_NE(outcome.out.find(command), std::string::npos) << command;
  EXPECT_NE(outcome.out.find("3  a rule fired"), std::string::npos);
}

TEST_F(Usage, AnOptionThatMayBeGivenAgainIsNotShownAsOneOfManyWords) {
  const std::string help = cli({"run", "--help"}).out;
  EXPECT_NE(help.find("--include-collection NAME (repeatable)"), std::string::npos) << help;
  EXPECT_EQ(help.find("NAME ..."), std::string::npos) << help;
}

TEST_F(Usage, WrongUsageIsTwoAndSaysWhatToDo) {
  EXPECT_EQ(cli({}).exit_code, 2);
  EXPECT_EQ(cli({"show"}).exit_code, 2);
  EXPECT_EQ(cli({"ls", "--nonsense"}).exit_code, 2);
  EXPECT_EQ(cli({"steps", "first", "--mode", "sleep"}).exit_code, 2);
  const Outcome outcome = cli({"tensor", "first"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("did you mean \"tensors\"?"), std::string::npos) << outcome.err;
}

TEST_F(Usage, AnUnknownOptionOfRunIsNamedAndNotTheProgramsWords) {
  const Outcome outcome = cli({"run", "--dir", "x", "--", "python", "t.py"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("no option --dir; did you mean \"--runs DIR\"?"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("t.py"), std::string::npos) << outcome.err;
  for (const char* command : kCommands) {
    const Outcome unknown = cli({command, "--no-such-option"});
    EXPECT_EQ(unknown.exit_code, 2) << command;
    EXPECT_NE(unknown.err.find(std::string(command) + " has no option --no-such-option"), std::string::npos)
        << unknown.err;
  }
}

TEST_F(Usage, HasAVersion) {
  EXPECT_EQ(cli({"--version"}).out.substr(0, 12), "trainwarden ");
}

TEST_F(Usage, BashCompletesItself) {
  const Outcome outcome = shell(
      "source <($TW completion bash)\n"
      "COMP_WORDS=(trainwarden check first --rule Van); COMP_CWORD=4; _trainwarden; echo ${COMPREPLY[*]}\n"
      "COMP_WORDS=(trainwarden do); COMP_CWORD=1; _trainwarden; echo ${COMPREPLY[*]}");
  EXPECT_EQ(outcome.out, "VanishingGradient\ndoctor\n") << outcome.err;
}

TEST_F(Usage, CompletionKnowsThreeShells) {
  for (const char* name : {"bash", "zsh", "fish"}) {
    const Outcome outcome = cli({"completion", name});
    EXPECT_EQ(outcome.exit_code, 0);
    for (const char* command : kCommands) EXPECT_NE(outcome.out.find(command), std::string::npos) << command;
  }
  EXPECT_EQ(cli({"completion", "cmd.exe"}).exit_code, 2);
}

}  // namespace
}  // namespace trainwarden::testing_cli
