#include "ui/cli/commands/completion_script.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "trainwarden/rule.h"
#include "ui/cli/options/action_choice.h"

namespace trainwarden::cli {
namespace {

// The command that prints what is offered; null: nothing is looked up.
const char* lookup_of(CompletionSource source) {
  switch (source) {
    case CompletionSource::kRuns: return "trainwarden ls --names 2>/dev/null";
    case CompletionSource::kJobs: return "trainwarden job ls --names 2>/dev/null";
    case CompletionSource::kSubscriptions: return "trainwarden events rule ls --names 2>/dev/null";
    default: return nullptr;
  }
}

std::vector<std::string> rule_names() {
  std::vector<std::string> names;
  for (const RuleKind& kind : builtin_rules()) names.push_back(kind.description.name);
  return names;
}

// What --on-fire takes.
std::vector<std::string> action_names() {
  std::vector<std::string> names{"report", "skip-step"};
  for (const actions::ActionKind& kind : all_action_kinds()) names.push_back(kind.name);
  return names;
}

std::vector<std::string> names_of(const std::vector<CompletionCommand>& commands) {
  std::vector<std::string> names;
  for (const CompletionCommand& command : commands) names.push_back(command.name);
  return names;
}

// What --help shows after the option's name decides what is offered: "MODE:{train,eval}", "FILE", "RULE".
CompletionOption source_of(const std::string& type_name) {
  CompletionOption option;
  const std::size_t list = type_name.find('{');
  if (list != std::string::npos) option.words = split_list(type_name.substr(list + 1, type_name.rfind('}') - list - 1));
  if (type_name == "RULE") option.words = rule_names();
  if (type_name == "ACTION") option.words = action_names();
  option.source = option.words.empty() ? CompletionSource::kAny : CompletionSource::kWords;
  if (type_name == "FILE") option.source = CompletionSource::kFiles;
  if (type_name == "JOB") option.source = CompletionSource::kJobs;
  if (type_name == "DIR") option.source = CompletionSource::kFolders;
  return option;
}

CompletionOption source_of_argument(const CLI::Option& argument) {
  CompletionOption option = source_of(argument.get_type_name());
  if (argument.get_name() == "RUN") option.source = CompletionSource::kRuns;
  if (argument.get_name() == "JOB") option.source = CompletionSource::kJobs;
  if (argument.get_name() == "SUBSCRIPTION") option.source = CompletionSource::kSubscriptions;
  if (argument.get_name() == "DIR") option.source = CompletionSource::kFolders;
  if (argument.get_name() == "PROGRAM") option.source = CompletionSource::kFiles;
  return option;
}

// The description up to where it becomes long, in words that need no quoting in any shell.
std::string brief(const std::string& description) {
  std::string text = description.substr(0, description.find_first_of(";(["));
  for (char& c : text) {
    if (std::string_view("'\"`$\\[]:").find(c) != std::string_view::npos) c = ' ';
  }
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

CompletionCommand describe(const CLI::App& app) {
  CompletionCommand command{app.get_name(), brief(app.get_description()), {}, {}, describe_commands(app)};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() && option->get_lnames().empty()) {
      if (command.argument.source == CompletionSource::kNone) command.argument = source_of_argument(*option);
      continue;
    }
    if (option->get_lnames().empty() || option->get_group().empty()) continue;
    const bool is_flag = option->get_items_expected_max() == 0;
    CompletionOption entry = is_flag ? CompletionOption{} : source_of(option->get_type_name());
    entry.name = "--" + option->get_lnames().front();
    entry.description = brief(option->get_description());
    command.options.push_back(std::move(entry));
  }
  return command;
}

std::string bash_source(const CompletionOption& option) {
  switch (option.source) {
    case CompletionSource::kWords: return fmt::format("compgen -W '{}' -- \"$current\"", fmt::join(option.words, " "));
    case CompletionSource::kFiles: return "compgen -f -- \"$current\"";
    case CompletionSource::kFolders: return "compgen -d -- \"$current\"";
    case CompletionSource::kRuns:
    case CompletionSource::kJobs:
    case CompletionSource::kSubscriptions:
      return fmt::format("compgen -W \"$({})\" -- \"$current\"", lookup_of(option.source));
    case CompletionSource::kNone:
    case CompletionSource::kAny: break;
  }
  return ":";
}

// The names of its sub-commands, and what its argument looks up beside them: "drop deliver $(...)".
std::string words_beside_commands(const CompletionCommand& command) {
  const char* const lookup = lookup_of(command.argument.source);
  return fmt::format("{}{}", fmt::join(names_of(command.commands), " "),
                     lookup == nullptr ? "" : fmt::format(" $({})", lookup));
}

// What is offered once it is known which command it is.
std::string bash_body(const CompletionCommand& command) {
  std::vector<std::string> names;
  std::string values;
  for (const CompletionOption& option : command.options) {
    names.push_back(option.name);
    if (option.source == CompletionSource::kNone) continue;
    values += fmt::format("        {}) COMPREPLY=($({})); return ;;\n", option.name, bash_source(option));
  }
  const std::string argument = command.commands.empty()
                                   ? bash_source(command.argument)
                                   : fmt::format("compgen -W \"{}\" -- \"$current\"", words_beside_commands(command));
  return fmt::format(
      "      case \"$previous\" in\n{0}"
      "      esac\n"
      "      case \"$current\" in\n"
      "        -*) COMPREPLY=($(compgen -W '{1}' -- \"$current\")) ;;\n"
      "        *) COMPREPLY=($({2})) ;;\n"
      "      esac\n",
      values, fmt::join(names, " "), argument);
}

// Its sub-commands are named by this word of the line.
std::string bash_case(const CompletionCommand& command, int word) {
  std::string text = fmt::format("    {})\n", command.name);
  if (!command.commands.empty()) {
    text += fmt::format("      [ \"$COMP_CWORD\" -gt {0} ] && case \"${{COMP_WORDS[{0}]}}\" in\n", word);
    for (const CompletionCommand& own : command.commands) text += bash_case(own, word + 1);
    text += "      esac\n";
  }
  return text + bash_body(command) + "      return ;;\n";
}

std::string zsh_source(const CompletionOption& option) {
  switch (option.source) {
    case CompletionSource::kWords: return fmt::format("({})", fmt::join(option.words, " "));
    case CompletionSource::kFiles: return "_files";
    case CompletionSource::kFolders: return "_files -/";
    case CompletionSource::kRuns:
    case CompletionSource::kJobs:
    case CompletionSource::kSubscriptions: return fmt::format("{{compadd -- $({})}}", lookup_of(option.source));
    case CompletionSource::kNone:
    case CompletionSource::kAny: break;
  }
  return " ";
}

std::string zsh_arguments(const CompletionCommand& command) {
  std::string text = "      _arguments \\\n";
  for (const CompletionOption& option : command.options) {
    text += fmt::format("        '*{}[{}]", option.name, option.description);
    if (option.source != CompletionSource::kNone) text += fmt::format(":value:{}", zsh_source(option));
    text += "' \\\n";
  }
  const std::string argument = command.commands.empty()
                                   ? zsh_source(command.argument)
                                   : fmt::format("{{compadd -- {}}}", words_beside_commands(command));
  return text + fmt::format("        '*:argument:{}'\n      return ;;\n", argument);
}

// `begin` makes the command the first of the words.
std::string zsh_case(const CompletionCommand& command, const std::string& begin = "") {
  std::string text = fmt::format("    {})\n{}", command.name, begin);
  if (!command.commands.empty()) {
    text += "      (( CURRENT > 2 )) && case $words[2] in\n";
    for (const CompletionCommand& own : command.commands) {
      text += zsh_case(own, "      shift words\n      (( CURRENT-- ))\n");
    }
    text += "      esac\n";
  }
  return text + zsh_arguments(command);
}

std::string fish_source(const CompletionOption& option) {
  switch (option.source) {
    case CompletionSource::kWords: return fmt::format(" -a '{}'", fmt::join(option.words, " "));
    case CompletionSource::kFiles: return " -F";
    case CompletionSource::kFolders: return " -a '(__fish_complete_directories)'";
    case CompletionSource::kRuns:
    case CompletionSource::kJobs:
    case CompletionSource::kSubscriptions: return fmt::format(" -a '({})'", lookup_of(option.source));
    case CompletionSource::kNone:
    case CompletionSource::kAny: break;
  }
  return "";
}

std::string fish_options(const CompletionCommand& command, const std::string& when) {
  std::string text;
  for (const CompletionOption& option : command.options) {
    const bool takes_value = option.source != CompletionSource::kNone;
    text += fmt::format("{} -l {} -d '{}'{}{}\n", when, option.name.substr(2), option.description,
                        takes_value ? " -r" : "", fish_source(option));
  }
  const std::string argument = fish_source(command.argument);
  return argument.empty() ? text : text + when + argument + '\n';
}

// What follows it; `seen` is true when it was typed.
std::string fish_lines(const CompletionCommand& command, const std::string& seen) {
  const auto condition = [](const std::string& is_so) { return fmt::format("complete -c trainwarden -n '{}'", is_so); };
  if (command.commands.empty()) return fish_options(command, condition(seen));
  const std::string none =
      fmt::format("{}; and not __fish_seen_subcommand_from {}", seen, fmt::join(names_of(command.commands), " "));
  std::string text;
  for (const CompletionCommand& own : command.commands) {
    text += fmt::format("{} -a {} -d '{}'\n", condition(none), own.name, own.description);
    text += fish_lines(own, fmt::format("{}; and __fish_seen_subcommand_from {}", seen, own.name));
  }
  return text + fish_options(command, condition(none));
}

}  // namespace

std::vector<CompletionCommand> describe_commands(const CLI::App& app) {
  std::vector<CompletionCommand> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); })) {
    commands.push_back(describe(*command));
  }
  return commands;
}

std::string bash_completion(const std::vector<CompletionCommand>& commands) {
  std::string text = fmt::format(
      "# bash completion for trainwarden; made by `trainwarden completion bash`\n"
      "_trainwarden() {{\n"
      "  local current=\"${{COMP_WORDS[COMP_CWORD]}}\"\n"
      "  local previous=\"${{COMP_WORDS[COMP_CWORD - 1]}}\"\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W '{} --help --version' -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  case \"${{COMP_WORDS[1]}}\" in\n",
      fmt::join(names_of(commands), " "));
  for (const CompletionCommand& command : commands) text += bash_case(command, 2);
  return text + "  esac\n}\ncomplete -o default -F _trainwarden trainwarden\n";
}

std::string zsh_completion(const std::vector<CompletionCommand>& commands) {
  std::string text =
      "#compdef trainwarden\n"
      "# zsh completion for trainwarden; made by `trainwarden completion zsh`\n"
      "_trainwarden() {\n"
      "  local -a commands\n"
      "  commands=(\n";
  for (const CompletionCommand& command : commands) {
    text += fmt::format("    '{}:{}'\n", command.name, command.description);
  }
  text +=
      "  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  local command=$words[2]\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $command in\n";
  for (const CompletionCommand& command : commands) text += zsh_case(command);
  return text + "  esac\n}\ncompdef _trainwarden trainwarden\n";
}

std::string fish_completion(const std::vector<CompletionCommand>& commands) {
  std::string text =
      "# fish completion for trainwarden; made by `trainwarden completion fish`\n"
      "complete -c trainwarden -f\n";
  for (const CompletionCommand& command : commands) {
    text += fmt::format("complete -c trainwarden -n __fish_use_subcommand -a {} -d '{}'\n", command.name,
                        command.description);
    text += fish_lines(command, fmt::format("__fish_seen_subcommand_from {}", command.name));
  }
  return text;
}

}  // namespace trainwarden::cli
