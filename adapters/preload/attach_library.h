// libtrainwarden_torch_attach.so, loaded when the program first uses LibTorch.
#pragma once

#include "attach_calls.h"

namespace trainwarden::preload {

// Null when this process is not to be watched (TRAINWARDEN_ATTACH is not 1, it is a Python interpreter, it uses
// Trainwarden by itself) or cannot be; the latter is said once on standard error. Decided at the first call.
const AttachCalls* attach_calls();

}  // namespace trainwarden::preload
