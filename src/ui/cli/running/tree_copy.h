// What `trainwarden cp` and `trainwarden sync` share: a copy with its options, run to its end or to a signal.
#pragma once

#include <chrono>
#include <string>

#include "store/copy/copy_place.h"
#include "store/copy/copy_tree.h"
#include "ui/cli/commands/command.h"

namespace trainwarden::cli {

struct TreeCopyOptions {
  copy::CopyOrder order;
  copy::CopyOptions copy;
  std::string bandwidth;
  int connections = 8;
  bool json = false;
};

// FROM, TO and the options of both commands.
void add_tree_copy_options(CLI::App& command, TreeCopyOptions& options);

// All of it, or an error; then what was begun at its target is removed there. Shows how far it is, and ends with
// kCancelled at Ctrl-C.
Status copy_whole(const copy::CopyOrder& order);

// The exit code. Ctrl-C leaves what was begun for the same command to go on with.
int run_tree_copy(TreeCopyOptions options);

}  // namespace trainwarden::cli
