// Changing what is captured: a request laid over the options in force.
#pragma once

#include <string>

#include "data/format/control_record.h"
#include "trainwarden/hook.h"
#include "trainwarden/status.h"

namespace trainwarden::capture {

// What is captured, as far as it can be changed while the training goes on.
struct CaptureState {
  HookOptions options;
  bool declared_saved = true;  // so are the collections that the program declares itself
};

// `now` as the request wants it; with `reset` it starts from `opened`. Collections and patterns that it names are added
// to those that there are (with `only`: take their place), other keys take the place of what was there. A collection
// that is added by name alone is as `now` or `opened` defines it. kInvalidArgument with everything that may be wrong,
// but for what CapturePlan::resolve() finds: keys that cannot be changed, collections that cannot be excluded.
Result<CaptureState> change_capture(const CaptureState& now, const HookOptions& opened,
                                    const format::CaptureRequest& request);

// kInvalidArgument when the two differ in what cannot be changed while the training goes on, such as run_dir or rank.
Status check_unchangeable(const HookOptions& before, const HookOptions& after);

// What can be changed and differs between the two is taken over into `options`.
void take_changes(const HookOptions& before, const HookOptions& after, HookOptions& options);

}  // namespace trainwarden::capture
