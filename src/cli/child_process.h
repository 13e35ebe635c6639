// ChildProcess: the training program that `run` and `demo` start.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "cli/signal_relay.h"
#include "trainwarden/status.h"

namespace trainwarden::cli {

struct ChildOptions {
  std::vector<std::string> command;                // the program, looked up in PATH, and its arguments
  std::map<std::string, std::string> environment;  // beside ours, or in place of it
  std::filesystem::path output;                    // file for its standard output and error; empty: ours
};

inline constexpr int kExitNotExecutable = 126;  // as shells have it
inline constexpr int kExitNotFound = 127;

// In our process group and session, so that the terminal's Ctrl-C and Ctrl-Z reach it by themselves.
class ChildProcess {
 public:
  // kNotFound or kPermissionDenied when the program cannot be started.
  static Result<ChildProcess> start(const ChildOptions& options, const SignalRelay& relay);

  // Waits until it has ended and hands on the signals that we get meanwhile. Returns its exit code, 128 + N when signal
  // N ended it.
  int wait(SignalRelay& relay);

  void send(int signal_number) const;

 private:
  explicit ChildProcess(pid_t id) : id_(id) {}
  std::optional<int> try_wait() const;

  pid_t id_;
};

}  // namespace trainwarden::cli
