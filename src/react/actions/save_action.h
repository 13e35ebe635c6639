// save: asks the training for a checkpoint and for what its black box holds. black-box: for the latter alone.
#pragma once

#include <chrono>
#include <memory>

#include "react/actions/action_kind.h"

namespace trainwarden::actions {

struct SaveOptions {
  std::chrono::milliseconds wait{300'000};  // for the training to have it written
  bool checkpoint = true;                   // else the black box alone
  bool needed = true;                       // of it alone: that there is none is a failure
};

std::unique_ptr<Action> make_save_action(SaveOptions options, RunContext run);

// The kinds "save" and "black-box".
const ActionKind& save_kind();
const ActionKind& black_box_kind();

}  // namespace trainwarden::actions
