// The guides' commands of `bert` have sub-commands and options that there are.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <sstream>

#include "cli/program_testing.h"

namespace bert {
namespace {

// Lines of code that run `bert`, those that end with a backslash put together.
std::vector<std::string> commands_in(const std::string& guide) {
  std::ifstream in(std::string(BERT_GUIDES) + "/" + guide);
  std::vector<std::string> commands;
  std::string command;
  for (std::string line; std::getline(in, line);) {
    if (command.empty() && !std::regex_search(line, std::regex("^    (.* )?bert [a-z]"))) continue;
    command += line;
    if (command.ends_with('\\')) {
      command.pop_back();
    } else {
      commands.push_back(std::move(command));
      command.clear();
    }
  }
  return commands;
}

TEST_F(BertProgram, HasTheOptionsThatItsGuidesName) {
  std::map<std::string, std::string> helps;  // by sub-command
  int options = 0;
  const std::map<std::string, std::size_t> guides = {{"bert.md", 3}, {"rate-reviews.md", 3}, {"bert-many-ranks.md", 1}};
  for (const auto& [guide, least] : guides) {
    const std::vector<std::string> commands = commands_in(guide);
    EXPECT_GE(commands.size(), least) << guide;
    for (const std::string& command : commands) {
      std::istringstream words(command.substr(command.find("bert ")));
      std::string word, name;
      words >> word >> name;
      if (helps.count(name) == 0) {
        const Outcome ended = run(std::string(BERT_PROGRAM) + " " + name + " --help");
        ASSERT_EQ(ended.code, 0) << command;
        helps[name] = ended.text;
      }
      while (words >> word) {
        if (!word.starts_with("--")) continue;
        EXPECT_TRUE(std::regex_search(helps[name], std::regex(word + "(?![\\w-])"))) << word << " of " << command;
        ++options;
      }
    }
  }
  EXPECT_GT(options, 20);
}

}  // namespace
}  // namespace bert
