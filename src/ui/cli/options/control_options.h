// What the sub-commands `stop` and `save` share.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "ui/cli/commands/command.h"

namespace trainwarden::cli {

struct ControlOptions {
  RunChoice run;
  std::string reason;
  std::string key;
  std::chrono::milliseconds timeout{0};
  bool wait = true;
  bool json = false;
};

// RUN, --reason, --key, --wait, --timeout and --json. `options` has the default of the timeout.
void add_control_options(CLI::App& command, ControlOptions& options, const char* what_is_waited_for);

// A time such as 30s, 10m or 1.5h.
CLI::Option* add_duration_option(CLI::App& command, const char* name, std::chrono::milliseconds& time,
                                 const std::string& description);

// Who asks, for the run's record: the user's name on this machine.
std::string requested_by();

// To be called while a training is waited for: says so at the foot of a terminal, from half a second on.
std::function<void()> waiting_line(const std::string& what);

}  // namespace trainwarden::cli
