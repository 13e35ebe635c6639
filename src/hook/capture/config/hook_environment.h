// The environment variables that steer the hook. docs/reference/config.md has them all. One that is set to nothing
// counts as not set.
#pragma once

#include "core/base/environment.h"
#include "trainwarden/hook.h"
#include "trainwarden/status.h"

namespace trainwarden::capture {

// TRAINWARDEN=0: the training runs without a hook.
bool switched_off(const Environment& environment);

// TRAINWARDEN_BLACK_BOX_SAMPLED=1: a box that nobody has asked for by name holds as many steps as the budget leaves.
bool is_box_sampled(const Environment& environment);

// The single variables. Messages name the variable.
Status overlay_variables(const Environment& environment, HookOptions& options);
// The file that TRAINWARDEN_CONFIG names, then the single variables.
Status overlay_environment(const Environment& environment, HookOptions& options);

// As hook_options_for_attach().
Result<HookOptions> options_for_attach(const Environment& environment);

}  // namespace trainwarden::capture
