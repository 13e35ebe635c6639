#include "core/process/foreground_child.h"

#include <utility>

namespace trainwarden::process {
namespace {

// SIGCHLD wakes us; this is for the case that somebody else took it.
constexpr std::chrono::seconds kChildLookInterval{1};

}  // namespace

Result<Child> start_in_foreground(Program program, const SignalRelay& relay) {
  program.signals.blocked = relay.original_mask();
  program.signals.reset = relay.to_reset();
  program.closes_others = false;  // who started us may have opened some for it
  return Child::start(program);
}

ExitRecord wait_and_relay(Child& child, SignalRelay& relay) {
  while (!child.has_ended()) {
    const auto received = relay.wait(kChildLookInterval);
    // What the terminal sent has reached the child already; at a second one many programs give up at once.
    const bool hand_on = received && received->number != SIGCHLD && !received->from_terminal;
    if (hand_on) child.send(received->number);
  }
  return child.reap();
}

}  // namespace trainwarden::process
