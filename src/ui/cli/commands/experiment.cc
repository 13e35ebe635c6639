// `trainwarden experiment`: what was tried, with what, and what came of it.
#include "ui/cli/commands/experiment_commands.h"

namespace trainwarden::cli {

void add_experiment(CLI::App& app, CommandAction& action) {
  CLI::App& command = add_subcommand(app, "experiment", "Keep, search and compare experiments", [] {});
  command.group(kLookGroup);
  command.require_subcommand(1);
  add_experiment_create(command, action);
  add_experiment_log(command, action);
  add_experiment_associate(command, action);
  add_experiment_rm(command, action);
  add_experiment_ls(command, action);
  add_experiment_show(command, action);
  add_experiment_search(command, action);
  add_experiment_analytics(command, action);
  set_examples(command, {"trainwarden experiment create digits", "trainwarden experiment ls",
                         "trainwarden experiment show digits",
                         "trainwarden experiment search --filter 'Metrics.loss.Last < 0.1'"});
}

}  // namespace trainwarden::cli
