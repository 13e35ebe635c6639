// What becomes of a run's copy in a bucket, for people.
#pragma once

#include <string>

#include "core/process/signal_relay.h"
#include "ui/cli/running/run_mirror.h"

namespace trainwarden::cli {

// Shows how far it is until it has ended, on a terminal. False: a signal has ended it before. The relay was there
// before the mirror's thread.
bool wait_for_mirror(RunMirror& mirror, process::SignalRelay& relay);

// The program has ended: sends what is left, and says what is not there. What happens to the copy does not change the
// program's exit code.
void finish_mirror(RunMirror& mirror, const std::string& address);

}  // namespace trainwarden::cli
