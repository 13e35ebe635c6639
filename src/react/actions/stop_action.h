// stop: asks the training to stop, waits for its answer, and may become forceful with time.
#pragma once

#include <chrono>
#include <memory>

#include "react/actions/action_kind.h"

namespace trainwarden::actions {

struct StopOptions {
  // For the training's answer, which comes at the end of a step.
  std::chrono::milliseconds grace{30'000};
  enum class Then : std::uint8_t {
    kNothing,  // the request stays, and it is asked again later
    kTerm,     // SIGTERM to its processes on this machine
    kKill,     // that, and SIGKILL later
  };
  Then then = Then::kNothing;
  // For the end of a training that has answered, and again after SIGTERM.
  std::chrono::milliseconds term_grace{120'000};
  bool save_first = false;  // a checkpoint is asked for before
};

// The request has the key of the notice. A training that has ended or is stopping already is done, and the answer says
// so. Only processes that hold the writer lock of a worker's journal at that moment are ever signalled.
std::unique_ptr<Action> make_stop_action(StopOptions options, RunContext run);

// The kind "stop".
const ActionKind& stop_kind();

}  // namespace trainwarden::actions
