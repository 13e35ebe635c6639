// WatchedProgram: a training program and the rules that judge it, from its start to its end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/capture_choice.h"
#include "cli/child_process.h"
#include "cli/live_export.h"
#include "cli/watch_session.h"
#include "trainwarden/status.h"

namespace trainwarden::cli {

struct ProgramPlan {
  std::vector<std::string> command;
  std::filesystem::path run;                       // its TRAINWARDEN_RUN_DIR
  std::map<std::string, std::string> environment;  // beside that: what to capture, and how
  std::filesystem::path output;                    // file for what it prints; empty: our own standard output and error
  std::optional<int> page_port;                    // of the page beside it, 0: one that is free; nothing: no page
  Board board;                                     // where the run is shown while it trains
  watch::Subscribe subscribe;                      // what follows what happens; null: nothing
  std::vector<std::string> mute;                   // keys of verdicts that nobody is to be alarmed about
  Chatter chatter = Chatter::kVerdicts;
  double budget = 0;  // what capture and all beside it may take of the training's time; 0: no limit
};

struct ProgramResult {
  int exit_code = 0;  // its own, 128 + N when signal N ended it
  std::int64_t duration_ns = 0;
  bool run_appeared = false;
  WatchResult watch;
  std::optional<Result<ExportReport>> board;  // when it was to be shown to TensorBoard

  // 3 when a rule fired and the program succeeded or was asked to stop, else the program's own.
  int combined_exit_code() const;
};

// Starts it, judges its run beside it when there are rules, sees to what follows, shows it to TensorBoard when asked
// to, and waits for its end; signals are handed on. What became of the run is recorded in any case. The errors are
// those of starting it: kNotFound, kPermissionDenied.
Result<ProgramResult> run_watched(const ProgramPlan& plan, std::vector<rules::EngineRule> rules);

}  // namespace trainwarden::cli
