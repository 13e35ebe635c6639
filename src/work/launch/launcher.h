// launch: a training program and the rules that judge it, from its start to its end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/process/exit_record.h"
#include "core/process/signal_relay.h"
#include "trainwarden/status.h"
#include "work/launch/judging.h"
#include "work/launch/observer.h"

namespace trainwarden::launch {

struct LaunchPlan {
  std::vector<std::string> command;
  std::filesystem::path run;                       // its TRAINWARDEN_RUN_DIR
  std::map<std::string, std::string> environment;  // beside that: what to capture, and how
  std::filesystem::path output;   // file behind whose end it prints; empty: our own standard output and error
  std::vector<std::string> mute;  // keys of verdicts that nobody is to be alarmed about
  watch::Subscribe subscribe;     // what follows what happens; null: nothing
  bool tied = false;              // the program is ended (SIGIO) when this process has gone, in whatever way
  double budget = 0;              // what capture and all beside it may take of the training's time; 0: no limit
};

struct LaunchResult {
  process::ExitRecord exit;   // of the program
  bool run_appeared = false;  // it wrote one
  JudgingResult judging;
};

// Starts the program, judges its run by these rules, records what became of it, delivers what follows,
// and waits for its end; signals that `relay` takes are handed on to it. The errors are those of starting it
// (process::Child::start()).
Result<LaunchResult> launch(const LaunchPlan& plan, std::vector<rules::EngineRule> rules, Observer& observer,
                            process::SignalRelay& relay);

}  // namespace trainwarden::launch
