#include "ui/cli/commands/usage_error.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"

namespace trainwarden::cli {
namespace {

// The commands that were parsed, the program first.
std::vector<const CLI::App*> parsed_commands(const CLI::App& app) {
  std::vector<const CLI::App*> commands = {&app};
  for (auto parsed = app.get_subcommands(); !parsed.empty(); parsed = parsed.front()->get_subcommands()) {
    commands.push_back(parsed.front());
  }
  return commands;
}

// But those that are not for people.
std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); })) {
    names.push_back(command->get_name());
  }
  return names;
}

// "-x" and "--option", but not "-", "--" and numbers.
bool looks_like_option(const std::string& word) {
  if (word.size() < 2 || word[0] != '-' || word == "--") return false;
  return std::isdigit(static_cast<unsigned char>(word[1])) == 0 && word[1] != '.';
}

// What is wrong in words before `--`. What stands behind it is the program's.
struct Strays {
  std::optional<std::string> unknown_option;  // the first that the command does not have
  std::optional<std::string> argument;  // the first that is neither an option nor its value, where there is a `--`
};

Strays find_strays(const CLI::App& command, const std::vector<std::string>& words) {
  Strays strays;
  const auto end = std::find(words.begin(), words.end(), "--");
  for (auto word = words.begin(); word != end; ++word) {
    if (!looks_like_option(*word)) {
      if (end != words.end() && !strays.argument) strays.argument = *word;
      continue;
    }
    const std::string name = word->substr(0, word->find('='));
    // Of letters in one word, -abc, the first names the option.
    const CLI::Option* option = command.get_option_no_throw(name[1] == '-' ? name : name.substr(0, 2));
    if (option == nullptr) {
      strays.unknown_option = name;
      return strays;
    }
    const bool has_value = option->get_type_size_max() > 0 && name.size() == word->size();
    if (has_value && std::next(word) != end) ++word;  // which may look like anything
  }
  return strays;
}

struct KnownOption {
  std::string name;   // "--runs"
  std::string value;  // "DIR"
};

std::vector<KnownOption> known_options(const CLI::App& command) {
  std::vector<KnownOption> known;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_lnames().empty()) continue;
    known.push_back({"--" + option->get_lnames().front(), option->get_type_name()});
  }
  return known;
}

// The option that is spelled most alike; else one that has the word in its name, or asks for it as its value.
std::string nearest_option(const CLI::App& command, const std::string& typed) {
  const std::vector<KnownOption> known = known_options(command);
  std::vector<std::string> names;
  for (const KnownOption& option : known) names.push_back(option.name);
  const std::string word = lower(typed.substr(typed.find_first_not_of('-')));
  auto found = known.end();
  const auto look_for = [&](auto fits) {
    if (found == known.end()) found = std::find_if(known.begin(), known.end(), fits);
  };
  const std::optional<std::string> alike = nearest(typed, names);
  look_for([&](const KnownOption& option) { return alike && option.name == *alike; });
  constexpr std::size_t kDistinctiveLetters = 3;
  if (word.size() >= kDistinctiveLetters) {
    look_for([&](const KnownOption& option) { return option.name.find(word) != std::string::npos; });
    look_for([&](const KnownOption& option) { return lower(option.value) == word; });
  }
  if (found == known.end()) return "";
  return fmt::format("; did you mean \"{}{}{}\"?", found->name, found->value.empty() ? "" : " ", found->value);
}

// `words` are those behind the names of the commands, of which one more is needed.
std::string missing_command(const CLI::App& app, const CLI::App& group, const std::vector<std::string>& words) {
  const std::vector<std::string> names = command_names(group);
  const std::string choice = fmt::format("; expected one of {}", fmt::join(names, ", "));
  if (words.empty()) return fmt::format("{} needs a command{}", typed_command(app), choice);
  const std::string near = did_you_mean(words.front(), names);
  const bool is_top = group.get_parent() == nullptr;
  return fmt::format("{} no command \"{}\"{}", is_top ? "there is" : typed_command(app) + " has", words.front(),
                     near.empty() && !is_top ? choice : near);
}

}  // namespace

std::string typed_command(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : parsed_commands(app)) names.push_back(command->get_name());
  return fmt::format("{}", fmt::join(names, " "));
}

std::string explain_usage(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& words) {
  const std::vector<const CLI::App*> commands = parsed_commands(app);
  const CLI::App& command = *commands.back();
  // The names of the commands come first: no option stands before them.
  const std::vector<std::string> own(
      words.begin() + static_cast<std::ptrdiff_t>(std::min(commands.size() - 1, words.size())), words.end());
  const bool has_option_first = !own.empty() && looks_like_option(own.front());
  if (command.get_require_subcommand_min() > 0 && !has_option_first) return missing_command(app, command, own);
  const Strays strays = find_strays(command, own);
  if (const auto& unknown = strays.unknown_option) {
    return fmt::format("{} has no option {}{}", typed_command(app), *unknown, nearest_option(command, *unknown));
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    if (strays.argument) {
      return fmt::format("expected only options before --, found {}; an option takes one value: repeat it for more",
                         *strays.argument);
    }
    return fmt::format("expected no more arguments, found {}", fmt::join(command.remaining(), " "));
  }
  return error.what();
}

}  // namespace trainwarden::cli
