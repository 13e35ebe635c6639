#include "ui/cli/commands/usage_error.h"

#include <gtest/gtest.h>

namespace trainwarden::cli {
namespace {

// What is said of `words`, which must be wrong.
std::string complaint_about(const std::vector<std::string>& words) {
  CLI::App app("", "trainwarden");
  app.require_subcommand(1);
  CLI::App* run = app.add_subcommand("run", "");
  std::vector<std::string> program;
  std::string text;
  bool flag = false;
  run->add_option("PROGRAM", program, "")->required()->type_name("");
  run->add_option("--runs", text, "")->type_name("DIR");
  run->add_option("-n,--name", text, "")->type_name("NAME");
  run->add_option("--save-interval", text, "")->type_name("N");
  run->add_flag("--page", flag, "");
  CLI::App* show = app.add_subcommand("show", "");
  show->add_option("RUN", text, "")->required();
  CLI::App* deliver = app.add_subcommand("events", "")->add_subcommand("deliver", "");
  deliver->add_option("--actions", text, "");
  CLI::App* job = app.add_subcommand("job", "");
  job->require_subcommand(1);
  for (const char* name : {"ls", "stop"}) job->add_subcommand(name, "");
  job->add_subcommand("agent", "")->group("");  // hidden
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    return explain_usage(app, error, words);
  }
  return "no error";
}

TEST(UsageErrorTest, AnUnknownOptionIsNamedWithTheNearest) {
  EXPECT_EQ(complaint_about({"run", "--dir", "x", "--", "python", "t.py"}),
            "trainwarden run has no option --dir; did you mean \"--runs DIR\"?");
  EXPECT_EQ(complaint_about({"run", "--nmae", "x", "--", "python"}),
            "trainwarden run has no option --nmae; did you mean \"--name NAME\"?");
  EXPECT_EQ(complaint_about({"run", "--interval=3", "--", "python"}),
            "trainwarden run has no option --interval; did you mean \"--save-interval N\"?");
  EXPECT_EQ(complaint_about({"run", "--pag", "--", "python"}),
            "trainwarden run has no option --pag; did you mean \"--page\"?");
  EXPECT_EQ(complaint_about({"run", "--zzz", "--", "python"}), "trainwarden run has no option --zzz");
  EXPECT_EQ(complaint_about({"run", "-q", "--", "python"}), "trainwarden run has no option -q");
  EXPECT_EQ(complaint_about({"events", "deliver", "--action", "x"}),
            "trainwarden events deliver has no option --action; did you mean \"--actions TEXT\"?");
}

TEST(UsageErrorTest, ValuesAndTheProgramsOwnOptionsAreNotTakenForUnknownOnes) {
  EXPECT_EQ(complaint_about({"run", "--name", "-x", "--page", "--", "python", "--lr", "3"}), "no error");
  EXPECT_EQ(complaint_about({"run", "--name", "-x", "--pgae", "--", "python", "--lr", "3"}),
            "trainwarden run has no option --pgae; did you mean \"--page\"?");
}

TEST(UsageErrorTest, ArgumentsTooManyAreToldInTheirOrder) {
  EXPECT_EQ(complaint_about({"show", "first", "second", "third"}), "expected no more arguments, found second third");
}

TEST(UsageErrorTest, ASecondValueOfAnOptionIsNamed) {
  EXPECT_EQ(complaint_about({"run", "--name", "a", "b", "--page", "--", "python"}),
            "expected only options before --, found b; an option takes one value: repeat it for more");
}

TEST(UsageErrorTest, AnUnknownCommandIsNamedWithTheNearest) {
  EXPECT_EQ(complaint_about({"rnu", "x"}), "there is no command \"rnu\"; did you mean \"run\"?");
  EXPECT_EQ(complaint_about({"job", "lss"}), "trainwarden job has no command \"lss\"; did you mean \"ls\"?");
  EXPECT_EQ(complaint_about({"job", "agnet"}), "trainwarden job has no command \"agnet\"; expected one of ls, stop");
  EXPECT_EQ(complaint_about({"job"}), "trainwarden job needs a command; expected one of ls, stop");
  EXPECT_EQ(complaint_about({"job", "--jsn"}), "trainwarden job has no option --jsn");
}

}  // namespace
}  // namespace trainwarden::cli
