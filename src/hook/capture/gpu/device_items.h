// What the writer thread does with tensors that were read on a device: it waits for them, and makes them like others.
#pragma once

#include <vector>

#include "hook/capture/staging/staged_step.h"
#include "hook/capture/writing/loss_tally.h"

namespace trainwarden::capture {

// Afterwards the step has no device items: they are among its tensors and statistics, or counted as lost.
void settle_device_items(StagedStep& step, SharedLossTally& losses);
// The first half of that: until all of them are on the host, or never will be.
void await_device_items(std::vector<DeviceItem>& items);

}  // namespace trainwarden::capture
