// The training program that `run` and `demo` start: started as the terminal's own, and waited for while signals are
// handed on to it.
#pragma once

#include "cli/signal_relay.h"
#include "process/child.h"

namespace trainwarden::cli {

// In our process group and session, so that the terminal's Ctrl-C and Ctrl-Z reach it by themselves; its signals are as
// ours were before the relay. Errors as process::Child::start().
Result<process::Child> start_beside(process::Program program, const SignalRelay& relay);

// Waits until it has ended and hands on the signals that we get meanwhile.
process::ExitRecord wait_and_relay(process::Child& child, SignalRelay& relay);

}  // namespace trainwarden::cli
