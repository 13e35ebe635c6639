#include "ui/cli/options/words_option.h"

#include <gtest/gtest.h>

#include "ui/cli/commands/all_commands.h"

namespace trainwarden::cli {
namespace {

using Texts = std::vector<std::string>;

const Texts kOddWords = {"A", "[]", "[1, 2]", "[a,b]", "{}", "{a}", "%%",         "'\"x\"'",  "`x`",
                         "",  "-v", "--lr",   "--",    "-5", "++",  "two\nlines", "[[1],[2]]"};

TEST(WordsOptionTest, WordsOfAnArgumentComeAsTheyWereTyped) {
  for (const Texts& typed : {kOddWords, Texts{"{}"}, Texts{"[]"}, Texts{""}, Texts{"--"}}) {
    CLI::App app("", "trainwarden");
    CLI::App* run = app.add_subcommand("run", "");
    app.add_subcommand("A", "");  // a word of the program may be called like a command
    Texts words;
    add_words(*run, "PROGRAM", words, "")->required();
    Texts line = {"run", "--"};
    line.insert(line.end(), typed.begin(), typed.end());
    app.parse(Texts(line.rbegin(), line.rend()));
    EXPECT_EQ(words, typed);
  }
}

TEST(WordsOptionTest, AnOptionTakesOneWordEachTime) {
  CLI::App app("", "trainwarden");
  Texts words;
  Texts lists;
  std::string rest;
  add_words(app, "--set", words, "");
  add_words(app, "--columns", lists, "")->delimiter(',');
  app.add_option("REST", rest, "");
  const Texts line = {"--set", "[1,2]", "--set", "{}", "--set=", "", "--set=[]", "--columns", "a,[b", "-", "--"};
  app.parse(Texts(line.rbegin(), line.rend()));
  EXPECT_EQ(words, (Texts{"[1,2]", "{}", "", "[]"}));
  EXPECT_EQ(lists, (Texts{"a", "[b"}));
  EXPECT_EQ(rest, "-");
}

// Where CLI11 lets an option take any number of words, it splits "[a,b]".
void expect_no_splitting(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    EXPECT_FALSE(option->get_allow_extra_args()) << command.get_name() << " " << option->get_name() << ": add_words()";
  }
  for (const CLI::App* one : command.get_subcommands([](const CLI::App*) { return true; })) expect_no_splitting(*one);
}

TEST(WordsOptionTest, NoCommandHasAnOptionThatSplitsWords) {
  CLI::App app("", "trainwarden");
  CommandAction action;
  add_all_commands(app, action);
  expect_no_splitting(app);
}

}  // namespace
}  // namespace trainwarden::cli
