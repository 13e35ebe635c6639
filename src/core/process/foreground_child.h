// A program in the foreground: started as the terminal's own, and waited for while signals are handed on to it.
#pragma once

#include "core/process/child.h"
#include "core/process/signal_relay.h"

namespace trainwarden::process {

// In our process group and session, so that the terminal's Ctrl-C and Ctrl-Z reach it by themselves; its signals are as
// ours were before the relay. Errors as Child::start().
Result<Child> start_in_foreground(Program program, const SignalRelay& relay);

// Waits until it has ended and hands on the signals that we get meanwhile.
ExitRecord wait_and_relay(Child& child, SignalRelay& relay);

}  // namespace trainwarden::process
