// Opening a hook on any storage and clock: what Hook::open does on a folder, and tests do in memory.
#pragma once

#include <memory>
#include <string>

#include "core/base/clock.h"
#include "data/device/accelerator.h"
#include "hook/capture/step_judge.h"
#include "store/storage/storage.h"
#include "trainwarden/hook.h"
#include "trainwarden/status.h"

namespace trainwarden::capture {

class HookOpener {
 public:
  // A hook that is switched off, its options and the reason on show.
  static std::unique_ptr<Hook> off(HookOptions options, std::string reason);
  // As Hook::open; options.run_dir is not looked at. A dry run needs no storage. `clock` must outlive the hook.
  static Result<std::unique_ptr<Hook>> open(HookOptions options, std::shared_ptr<storage::Storage> storage,
                                            const Clock& clock,
                                            device::AcceleratorFactory open_accelerator = device::open_accelerator);

  // From now on the hook shows each step to the judge that `make` makes; it fails as `make` does. To be called before
  // the first step ends. A hook that is switched off takes none: `make` is not called. kAlreadyExists: it has one.
  static Status install_judge(Hook& hook, const MakeJudge& make);

  static bool end_idle_step(Hook& hook);  // idle_steps.h
};

}  // namespace trainwarden::capture
