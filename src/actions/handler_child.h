// HandlerChild: a program that is told of events, as a process: started, looked at, ended, reaped; and what it writes.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <sys/types.h>

#include "actions/handler_process.h"
#include "storage/file_descriptor.h"
#include "trainwarden/status.h"

namespace trainwarden::actions {

// kUnavailable: the system has no room for `what` now; errno says why.
Status no_room(std::string_view what);
// The same file with a number that is none of the three standard ones.
storage::FileDescriptor above_standard(int number);

struct Pipe {
  storage::FileDescriptor reading;
  storage::FileDescriptor writing;
};

// Its reading end does not block.
Result<Pipe> open_pipe();

// What the program gets as its three standard files.
struct ChildFiles {
  int input = -1;
  int output = -1;
  int error = -1;
};

// One thread at a time.
class HandlerChild {
 public:
  using Meanwhile = std::function<void(std::chrono::milliseconds most)>;  // may wait for something so long

  HandlerChild() = default;
  ~HandlerChild();  // kills it, and what it has started, when it was not reaped
  HandlerChild(const HandlerChild&) = delete;
  HandlerChild& operator=(const HandlerChild&) = delete;

  // In a process group of its own. Once. Errors as run_handler().
  Status start(const HandlerOptions& options, const ChildFiles& files);
  bool has_ended();
  void reap(HandlerEnd& end);  // after has_ended(): how, and with which number
  // SIGTERM to the group, and SIGKILL when that was not enough; reaped then.
  void end(std::chrono::milliseconds kill_after, const Meanwhile& meanwhile = {});

 private:
  // True when the program has ended within `time`; then what it had started is ended as well.
  bool end_group(int signal_number, std::chrono::milliseconds time, const Meanwhile& meanwhile);
  void set_limits(const HandlerOptions& options) const;

  pid_t id_ = -1;
  bool reaped_ = true;
  bool lost_ = false;  // somebody else has reaped it, and its number may be another's by now
};

// The last of what a program writes into a pipe. One thread at a time.
class HandlerOutput {
 public:
  HandlerOutput() = default;
  explicit HandlerOutput(storage::FileDescriptor pipe) : pipe_(std::move(pipe)), open_(true) {}

  void wait(std::chrono::milliseconds most);  // for something to read, and reads it
  void read();                                // what is there
  void add(std::string_view text);            // as if it had come from the pipe
  void clear() { words_.clear(); }
  int number() const { return open_ ? pipe_.get() : -1; }
  std::string last_lines() const;  // in one printable line

 private:
  storage::FileDescriptor pipe_;
  bool open_ = false;
  std::string words_;
};

}  // namespace trainwarden::actions
