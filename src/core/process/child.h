// Child: a program that this process has started.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <utility>

#include <sys/types.h>

#include "core/base/file_descriptor.h"
#include "core/base/owned_descriptor.h"
#include "core/process/exit_record.h"
#include "core/process/program.h"
#include "trainwarden/status.h"

namespace trainwarden::process {

// One thread at a time; not bound to the thread that started it. Whoever starts it also reaps it: the destructor
// neither waits nor kills, but a program that `ends_with_us` loses its end of that promise and is ended.
class Child {
 public:
  using Clock = std::chrono::steady_clock;
  using Meanwhile = std::function<void(std::chrono::milliseconds max)>;  // may wait for something so long

  // Returns when the program runs or could not be started, from any thread of a process with many. Errors: kNotFound
  // (the program, its interpreter, or the folder to work in), kPermissionDenied, kInvalidArgument (no program),
  // kUnavailable when the system has no room for it now.
  static Result<Child> start(const Program& program);

  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child() = default;

  pid_t id() const { return id_; }
  // Readable once the program has ended, for poll(); not open where the system has no such thing. A new one each time,
  // not to be kept: nothing tells a pidfd whose number has become another file's (core/base/owned_descriptor.h).
  FileDescriptor open_end() const;

  // It stays a zombie until reap(), so that no other process can get its number, nor its group's, meanwhile.
  bool has_ended();
  // True when it has ended by then. `meanwhile` is called again and again and may wait for something else.
  bool wait_for(std::chrono::milliseconds time, const Meanwhile& meanwhile = {});
  // How it ended; after has_ended(). A second call gives the same.
  const ExitRecord& reap();
  bool reaped() const { return record_.has_value(); }

  // No signal is sent to a program that was reaped or that somebody else has waited for.
  void send(int signal_number);
  void send_to_group(int signal_number);  // with all that it has started; with `own_group` alone
  // SIGTERM to the group, SIGKILL when that was not enough; then what it left behind is killed, and it is reaped.
  // False: it is still there ten seconds after SIGKILL, in a system call that nothing ends.
  bool end_group(std::chrono::milliseconds kill_after, const Meanwhile& meanwhile = {});
  bool kill_group(const Meanwhile& meanwhile = {});  // the same with SIGKILL at once

 private:
  Child(pid_t id, FileDescriptor life, bool own_group);
  bool signal_and_reap(int signal_number, std::chrono::milliseconds time, const Meanwhile& meanwhile);

  pid_t id_ = -1;
  OwnedDescriptor life_;  // the program is ended when this is closed, by whatever ends us
  bool own_group_ = false;
  bool lost_ = false;  // somebody else has reaped it, and its number may be another's by now
  Clock::time_point started_;
  std::optional<ExitRecord> record_;
};

}  // namespace trainwarden::process
