// exec: starts a program of the user's and gives it the event.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "react/actions/action_kind.h"

namespace trainwarden::actions {

struct ExecOptions {
  std::vector<std::string> command;
  std::string folder;  // it works here; empty: where we do
  std::chrono::milliseconds timeout{60'000};
  std::chrono::milliseconds kill_after{5'000};  // between SIGTERM and SIGKILL
  std::uint64_t memory_bytes = 0;
  int nice = 0;
  bool keep = false;  // one process for all events (KeptHandler)
};

std::unique_ptr<Action> make_exec_action(ExecOptions options, const RunContext& run);

// The kind "exec".
const ActionKind& exec_kind();

}  // namespace trainwarden::actions
