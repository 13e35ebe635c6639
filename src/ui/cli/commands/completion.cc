// `trainwarden completion`: a completion script for the user's shell.

#include "ui/cli/commands/command.h"
#include "ui/cli/commands/completion_script.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {
namespace {

struct CompletionOptions {
  const CLI::App* app = nullptr;
  std::string shell;
};

int act(const CompletionOptions& options) {
  const std::vector<CompletionCommand> commands = describe_commands(*options.app);
  if (options.shell == "zsh") {
    emit("{}", Painted{zsh_completion(commands)});
  } else if (options.shell == "fish") {
    emit("{}", Painted{fish_completion(commands)});
  } else {
    emit("{}", Painted{bash_completion(commands)});
  }
  return kExitFine;
}

}  // namespace

void add_completion(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<CompletionOptions>();
  options->app = &app;
  CompletionOptions& o = *options;
  CLI::App& command = add_command(app, "completion", "Print a completion script for a shell", options, action, act);
  command.group(kHelpGroup);
  command.add_option("SHELL", o.shell, "Which shell")
      ->required()
      ->type_name("NAME")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  set_examples(command, {"trainwarden completion bash > ~/.local/share/bash-completion/completions/trainwarden",
                         "trainwarden completion zsh > \"${fpath[1]}/_trainwarden\"",
                         "trainwarden completion fish > ~/.config/fish/completions/trainwarden.fish"});
}

}  // namespace trainwarden::cli
