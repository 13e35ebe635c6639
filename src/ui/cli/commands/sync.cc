// `trainwarden sync`: makes a folder the copy of another one, on disks and in buckets.
#include "ui/cli/commands/command.h"
#include "ui/cli/running/tree_copy.h"

namespace trainwarden::cli {
namespace {

int act_on_sync(const TreeCopyOptions& options) {
  TreeCopyOptions sync = options;
  sync.order.is_sync = true;
  return run_tree_copy(sync);
}

}  // namespace

void add_sync(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<TreeCopyOptions>();
  CLI::App& command = add_command(app, "sync", "Make a folder the copy of another one, between disks and buckets",
                                  options, action, act_on_sync);
  command.group(kTransferGroup);
  add_tree_copy_options(command, *options);
  command.add_flag("--delete", options->copy.removes,
                   "Remove what is in TO and not in FROM, once everything else is there");
  set_examples(command,
               {"trainwarden sync data s3://bucket/data", "trainwarden sync --delete --dry-run data s3://bucket/data",
                "trainwarden sync s3://bucket/runs runs"});
}

}  // namespace trainwarden::cli
