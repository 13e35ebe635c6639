// `trainwarden cp`: copies files and folders between disks and buckets.
#include "ui/cli/commands/command.h"
#include "ui/cli/running/tree_copy.h"

namespace trainwarden::cli {
namespace {

int act_on_cp(const TreeCopyOptions& options) {
  return run_tree_copy(options);
}

}  // namespace

void add_cp(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<TreeCopyOptions>();
  CLI::App& command =
      add_command(app, "cp", "Copy a file, a folder, a run, or a folder of runs, between disks and buckets", options,
                  action, act_on_cp);
  command.group(kTransferGroup);
  add_tree_copy_options(command, *options);
  set_examples(command, {"trainwarden cp data/ s3://bucket/data", "trainwarden cp s3://bucket/runs/first runs/",
                         "trainwarden cp s3://bucket/model.tar.gz .",
                         "trainwarden cp --bandwidth 10MB/s first s3://bucket/runs/"});
}

}  // namespace trainwarden::cli
