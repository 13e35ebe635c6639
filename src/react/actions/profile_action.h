// profile: asks the training to record which operators run in its next steps.
#pragma once

#include <cstdint>
#include <memory>

#include "react/actions/action_kind.h"

namespace trainwarden::actions {

struct ProfileActionOptions {
  std::int64_t steps = 10;
};

std::unique_ptr<Action> make_profile_action(ProfileActionOptions options, RunContext run);

const ActionKind& profile_kind();

}  // namespace trainwarden::actions
