// HandlerProcess: one run of a program that gets an event: started, fed, watched, and reaped.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "trainwarden/status.h"

namespace trainwarden::actions {

struct HandlerOptions {
  std::vector<std::string> command;                // the program, looked up in PATH, and its arguments
  std::string input;                               // what it finds on its standard input
  std::map<std::string, std::string> environment;  // beside ours, or in place of it
  std::string folder;                              // it works here; empty: where we do
  std::chrono::milliseconds timeout{60'000};
  std::chrono::milliseconds kill_after{5'000};  // between SIGTERM and SIGKILL
  std::uint64_t memory_bytes = 0;               // of address space, for each of its processes; 0: no limit
  int nice = 0;                                 // added to ours
};

struct HandlerEnd {
  enum class How : std::uint8_t {
    kExited,
    kSignalled,
    kTimedOut,   // and was ended, with what it had started
    kCancelled,  // the same, as the caller wants to leave
    kUnknown,    // somebody else took the exit code: this process ignores SIGCHLD, or waits for any child
  };
  How how = How::kExited;
  int number = 0;      // the exit code, or the signal
  std::string output;  // the last of what it wrote to its standard output and error, in one printable line
};

// Waits until it has ended. The program has a process group of its own, no signal blocked, SIGPIPE as programs expect
// it, and of our files nothing but its standard input (a file in memory, so that it may be read or not) and output (a
// pipe that is read until the program ends). What it leaves running in the background is left alone, but finds the pipe
// closed. From any thread. Errors: kNotFound, kPermissionDenied and kInvalidArgument when the program cannot be
// started, kUnavailable when the system has no room for it now.
Result<HandlerEnd> run_handler(const HandlerOptions& options, const std::stop_token& stop = {});

}  // namespace trainwarden::actions
