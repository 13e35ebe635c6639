// HostProcess: the process that a rule of the user's runs in, so that it can do no harm but to itself.
//
// It gets one question a line and gives one answer a line, both JSON, over a socket (its file descriptor 3). What it
// writes to its standard output and error is kept: the last of it goes into the message when it fails. It is killed
// when it takes too long, when it holds too much memory, and when we end, however we end.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/owned_descriptor.h"
#include "core/process/child.h"
#include "core/process/output_tail.h"
#include "trainwarden/status.h"

namespace trainwarden::rules {

struct HostLimits {
  std::chrono::milliseconds time{10'000};      // for one answer
  std::uint64_t memory_bytes = 2ULL << 30ULL;  // resident (RSS) of the process itself; looked at every 20 ms
};

inline constexpr std::size_t kMostAnswerBytes = 1 << 20;

// One thread at a time; not bound to the thread that made it.
class HostProcess {
 public:
  // `arguments`: the program, looked up in PATH, and what it is called with. That it cannot be started is known with
  // the first answer. kResourceExhausted when the system gives no process or no descriptor.
  static Result<std::unique_ptr<HostProcess>> start(std::vector<std::string> arguments);
  ~HostProcess();  // asks it to end by closing the socket, and kills it when it has not in a second
  HostProcess(const HostProcess&) = delete;
  HostProcess& operator=(const HostProcess&) = delete;

  // Asks, and waits for the answer. After an error the process is gone, and so is every further answer.
  // kDeadlineExceeded: took too long. kResourceExhausted: too much memory. kAborted: it ended. kDataLoss: what it wrote
  // is no line, or too long a one.
  Result<std::string> ask(std::string_view question, const HostLimits& limits);

 private:
  using Instant = std::chrono::steady_clock::time_point;

  explicit HostProcess(Status failed) : failed_(std::move(failed)) {}
  HostProcess(process::Child child, FileDescriptor socket, FileDescriptor output);
  Status send(std::string_view& rest);
  Status receive();
  bool too_large(std::uint64_t memory_bytes);
  Status give_up(Code code, std::string what);
  Status ended();
  bool wait_for_end();
  void wait_for_output(std::chrono::milliseconds max);
  std::string last_words();

  std::optional<process::Child> child_;  // none: it could not be started
  OwnedDescriptor socket_;
  process::OutputTail output_;
  std::string received_;
  Instant memory_seen_{};
  Status failed_;
};

}  // namespace trainwarden::rules
