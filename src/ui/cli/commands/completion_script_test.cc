#include "ui/cli/commands/completion_script.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/folder_testing.h"

namespace trainwarden::cli {
namespace {

// A command line like ours, in small.
class CompletionScript : public testing::Test {
 protected:
  CompletionScript() : app_("a program", "trainwarden") {
    CLI::App* look = app_.add_subcommand("look", "Look at it: don't touch (much)");
    look->add_option("RUN", text_, "A run")->required();
    look->add_option("--mode", text_, "Mode")->type_name("MODE")->check(CLI::IsMember({"train", "predict"}));
    look->add_option("--npy", text_, "File")->type_name("FILE");
    look->add_flag("--json", flag_, "As JSON");
    app_.add_subcommand("start", "Start it");
    CLI::App* events = app_.add_subcommand("events", "What changed");
    events->add_option("RUN", text_, "A run");
    events->add_flag("--follow", flag_, "Go on");
    CLI::App* drop = events->add_subcommand("drop", "Give up");
    drop->add_option("RUN", text_, "A run");
    drop->add_option("--as", text_, "How")->check(CLI::IsMember({"quietly", "loudly"}));
    events->add_subcommand("deliver", "Hand over");
    CLI::App* rule = events->add_subcommand("rule", "Standing ones");
    rule->add_subcommand("rm", "Remove it")->add_option("SUBSCRIPTION", text_, "Which");
    CLI::App* job = app_.add_subcommand("job", "Jobs");
    CLI::App* logs = job->add_subcommand("logs", "Its output");
    logs->add_option("JOB", text_, "Which");
    logs->add_option("--of-job", text_, "Not for people")->group("");
    job->add_subcommand("agent", "Not for people")->group("");
    app_.add_subcommand("rule-host", "Not for people")->group("");
  }

  // Bash's answers for what was typed; the last word is the one at the cursor.
  std::string complete_in_bash(const std::string& words) {
    const TestFolder folder;
    const std::string script = folder.path() / "completion.bash";
    std::ofstream(script) << bash_completion(describe_commands(app_)) << "trainwarden() {\n"
                          << "  case \"$*\" in\n    ls*) echo first second ;;\n    job*) echo bert ;;\n"
                          << "    *) echo ended ;;\n  esac\n}\n"
                          << fmt::format("COMP_WORDS=({})\n", words)
                          << "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_trainwarden\necho \"${COMPREPLY[*]}\"\n";
    std::FILE* pipe = popen(fmt::format("bash -eu {}", script).c_str(), "r");
    std::string answer;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) answer += static_cast<char>(c);
    EXPECT_EQ(pclose(pipe), 0);
    return answer.substr(0, answer.find_last_not_of('\n') + 1);
  }

  CLI::App app_;
  std::string text_;
  bool flag_ = false;
};

TEST_F(CompletionScript, DescribesTheTree) {
  const auto commands = describe_commands(app_);
  ASSERT_EQ(commands.size(), 4u);
  EXPECT_EQ(commands[0].name, "look");
  EXPECT_EQ(commands[0].description, "Look at it  don t touch");
  EXPECT_EQ(commands[0].argument.source, CompletionSource::kRuns);
  EXPECT_EQ(commands[1].argument.source, CompletionSource::kNone);
  ASSERT_EQ(commands[2].commands.size(), 3u);
  EXPECT_EQ(commands[2].commands[0].name, "drop");
}

TEST_F(CompletionScript, BashCompletesCommands) {
  EXPECT_EQ(complete_in_bash("trainwarden lo"), "look");
  EXPECT_EQ(complete_in_bash("trainwarden s"), "start");
}

TEST_F(CompletionScript, BashCompletesOptionsAndTheirValues) {
  EXPECT_EQ(complete_in_bash("trainwarden look --j"), "--json");
  EXPECT_EQ(complete_in_bash("trainwarden look --mode p"), "predict");
}

TEST_F(CompletionScript, BashAsksForTheNamesOfRuns) {
  EXPECT_EQ(complete_in_bash("trainwarden look f"), "first");
}

TEST_F(CompletionScript, BashCompletesSubCommandsBesideTheArgument) {
  EXPECT_EQ(complete_in_bash("trainwarden events d"), "drop deliver");
  EXPECT_EQ(complete_in_bash("trainwarden events rule r"), "rm");
  EXPECT_EQ(complete_in_bash("trainwarden events f"), "first");
  EXPECT_EQ(complete_in_bash("trainwarden events --f"), "--follow");
  EXPECT_EQ(complete_in_bash("trainwarden events first --f"), "--follow");
  EXPECT_EQ(complete_in_bash("trainwarden events drop --"), "--help --as");
  EXPECT_EQ(complete_in_bash("trainwarden events drop --as q"), "quietly");
  EXPECT_EQ(complete_in_bash("trainwarden events drop se"), "second");
}

TEST_F(CompletionScript, BashAsksForTheNamesOfJobsAndSubscriptions) {
  EXPECT_EQ(complete_in_bash("trainwarden job logs b"), "bert");
  EXPECT_EQ(complete_in_bash("trainwarden job ''"), "logs") << "no runs, which are no jobs";
  EXPECT_EQ(complete_in_bash("trainwarden events rule rm e"), "ended");
}

TEST_F(CompletionScript, WhatIsNotForPeopleIsNotOffered) {
  const auto commands = describe_commands(app_);
  for (const std::string& script : {bash_completion(commands), zsh_completion(commands), fish_completion(commands)}) {
    for (const char* hidden : {"rule-host", "agent", "--of-job", "-l of-job"}) {
      EXPECT_EQ(script.find(hidden), std::string::npos) << hidden;
    }
  }
}

TEST_F(CompletionScript, ZshAndFishKnowSubCommands) {
  const auto commands = describe_commands(app_);
  const std::string zsh = zsh_completion(commands);
  EXPECT_NE(zsh.find("    rm)\n      shift words"), std::string::npos) << zsh;
  EXPECT_NE(zsh.find("{compadd -- $(trainwarden events rule ls --names"), std::string::npos) << zsh;
  EXPECT_NE(zsh.find("'*--as[How]:value:(quietly loudly)'"), std::string::npos) << zsh;
  EXPECT_NE(zsh.find("compadd -- drop deliver rule $("), std::string::npos) << zsh;
  const std::string fish = fish_completion(commands);
  EXPECT_NE(fish.find("; and __fish_seen_subcommand_from rule; and __fish_seen_subcommand_from rm' -a '(trainwarden"),
            std::string::npos)
      << fish;
  EXPECT_NE(fish.find("'__fish_seen_subcommand_from events; and __fish_seen_subcommand_from drop' -l as"),
            std::string::npos)
      << fish;
}

TEST_F(CompletionScript, KnowsActions) {
  std::vector<std::string> several;
  CLI::App outer("outer", "outer");
  outer.add_subcommand("watch", "Watch")->add_option("--on-fire", several, "What to do")->type_name("ACTION");
  const auto commands = describe_commands(outer);
  const auto& words = commands[0].options.back().words;
  for (const char* word : {"report", "stop", "webhook", "mail"}) {
    EXPECT_NE(std::find(words.begin(), words.end(), word), words.end()) << word;
  }
}

TEST_F(CompletionScript, ZshAndFishNameEveryOption) {
  const auto commands = describe_commands(app_);
  const std::string zsh = zsh_completion(commands);
  EXPECT_NE(zsh.find("'*--mode[Mode]:value:(train predict)'"), std::string::npos) << zsh;
  EXPECT_NE(zsh.find("'*--npy[File]:value:_files'"), std::string::npos) << zsh;
  const std::string fish = fish_completion(commands);
  EXPECT_NE(fish.find("'__fish_seen_subcommand_from look' -l json -d 'As JSON'\n"), std::string::npos) << fish;
  EXPECT_NE(fish.find("-l npy -d 'File' -r -F\n"), std::string::npos) << fish;
}

}  // namespace
}  // namespace trainwarden::cli
