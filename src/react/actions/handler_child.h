// HandlerChild: a program that gets events, as a process: it is no training that is to be watched, it has a group
// of its own, and nothing of it is left when this object goes.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>

#include "core/process/child.h"
#include "core/process/output_tail.h"
#include "react/actions/handler_process.h"
#include "trainwarden/status.h"

namespace trainwarden::actions {

inline constexpr std::size_t kOutputBytes = 2048;  // of what a handler writes, that are kept

// One thread at a time.
class HandlerChild {
 public:
  using Meanwhile = process::Child::Meanwhile;

  // `descriptors`: as process::Program. Errors as run_handler().
  static Result<HandlerChild> start(const HandlerOptions& options, std::map<int, int> descriptors);
  HandlerChild(HandlerChild&&) = default;
  HandlerChild& operator=(HandlerChild&&) = delete;
  ~HandlerChild();  // kills it, and what it has started, when it was not reaped

  bool has_ended() { return child_.has_ended(); }
  FileDescriptor open_end() const { return child_.open_end(); }  // as process::Child
  HandlerEnd reap();                                             // after has_ended(): how, and with which number
  // SIGTERM to the group, and SIGKILL when that was not enough; reaped then.
  void end(std::chrono::milliseconds kill_after, const Meanwhile& meanwhile = {}) {
    child_.end_group(kill_after, meanwhile);
  }

 private:
  explicit HandlerChild(process::Child child) : child_(std::move(child)) {}

  process::Child child_;
};

}  // namespace trainwarden::actions
