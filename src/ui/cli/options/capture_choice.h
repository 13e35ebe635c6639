// CaptureChoice: the options of `run` that say what is captured. They are short for the environment variables that the
// hook reads (docs/reference/config.md), and go before those that are set already.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "ui/cli/commands/command.h"

namespace trainwarden::cli {

// Where a run is shown to TensorBoard. Runs that are shown in the same folder have a folder of their own beneath it.
struct Board {
  std::filesystem::path folder;  // what the run's files lie in; empty: it is not shown
  std::filesystem::path logdir;  // what to start TensorBoard with
};

struct CaptureChoice {
  std::string config;
  std::string budget;
  std::vector<std::string> include_collections;
  std::vector<std::string> include;
  std::string save_interval;
  std::string keep;
  std::string max_run_bytes;
  std::string min_free_bytes;
  std::string tensorboard;
  std::string black_box;  // a number of steps, or "on"

  // kInvalidArgument for what the hook would refuse: wrong here is better than wrong in the program, which would go on
  // without a hook.
  // `others`: variables that are set for the program besides.
  Result<std::map<std::string, std::string>> environment(std::map<std::string, std::string> others = {}) const;
  // The share of the training's time that an untouched program's hook will keep to, as these options, `others` and the
  // environment say; 0: no limit.
  Result<double> budget_share(std::map<std::string, std::string> others) const;
  // Where the run in `run` is to be shown to TensorBoard, as these options, the configuration and the environment say.
  Result<Board> board(const std::filesystem::path& run) const;
};

void add_capture_options(CLI::App& command, CaptureChoice& choice);

}  // namespace trainwarden::cli
