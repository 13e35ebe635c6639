// SignalRelay: takes the signals that end a program, one at a time, in place of dying of them.
#pragma once

#include <chrono>
#include <optional>

#include <signal.h>

namespace trainwarden::process {

struct ReceivedSignal {
  int number = 0;
  // Typed at the terminal (Ctrl-C, Ctrl-\): the system has sent it to every process in the foreground by itself.
  bool from_terminal = false;
};

// SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2 and SIGCHLD are blocked as long as the object lives, in this
// thread and in those started later; SIGPIPE is ignored. A signal that was ignored before (nohup) stays ignored. Make
// it before any thread; one at a time.
class SignalRelay {
 public:
  SignalRelay();
  ~SignalRelay();
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;

  // The next signal, nothing after `timeout`.
  std::optional<ReceivedSignal> wait(std::chrono::milliseconds timeout);

  // The next signal that asks this program to end: children that end, such as programs that actions start, are passed
  // over.
  std::optional<ReceivedSignal> wait_for_end(std::chrono::milliseconds timeout);

  // What a child process gets: the mask as it was, and the signals whose default a child must have back.
  const sigset_t& original_mask() const { return original_mask_; }
  const sigset_t& to_reset() const { return to_reset_; }

 private:
  sigset_t taken_;
  sigset_t original_mask_;
  sigset_t to_reset_;
  struct sigaction original_pipe_;
};

}  // namespace trainwarden::process
