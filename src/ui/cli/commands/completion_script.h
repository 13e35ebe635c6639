// Completion scripts for shells, made from the tree of sub-commands and options.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace trainwarden::cli {

// What may follow an option, or stand as an argument.
enum class CompletionSource {
  kNone,   // nothing follows: a flag
  kAny,    // something that cannot be guessed
  kWords,  // one of `words`
  kFiles,
  kFolders,
  kRuns,           // asks `trainwarden ls --names`
  kJobs,           // asks `trainwarden job ls --names`
  kSubscriptions,  // asks `trainwarden events rule ls --names`
};

struct CompletionOption {
  std::string name;  // "--step"
  std::string description;
  CompletionSource source = CompletionSource::kNone;
  std::vector<std::string> words;
};

struct CompletionCommand {
  std::string name;
  std::string description;
  std::vector<CompletionOption> options;
  CompletionOption argument;                // its first one; the name is not used
  std::vector<CompletionCommand> commands;  // sub-commands of its own, which stand before the argument
};

// Without what is not for people.
std::vector<CompletionCommand> describe_commands(const CLI::App& app);

std::string bash_completion(const std::vector<CompletionCommand>& commands);
std::string zsh_completion(const std::vector<CompletionCommand>& commands);
std::string fish_completion(const std::vector<CompletionCommand>& commands);

}  // namespace trainwarden::cli
