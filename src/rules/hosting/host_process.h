// HostProcess: the process that a rule of the user's runs in, so that it can do no harm but to itself.
//
// It gets one question a line and gives one answer a line, both JSON, over a socket (its file descriptor 3). What it
// writes to its standard output and error is kept: the last of it goes into the message when it fails. It is killed
// when it takes too long, when it holds too much memory, and when we end, however we end.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

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
  ~HostProcess();  // tells it to end by closing the socket, and kills it when it has not in a second
  HostProcess(const HostProcess&) = delete;
  HostProcess& operator=(const HostProcess&) = delete;

  // Asks, and waits for the answer. After an error the process is gone, and so is every further answer.
  // kDeadlineExceeded: took too long. kResourceExhausted: too much memory. kAborted: it ended. kDataLoss: what it wrote
  // is no line, or too long a one.
  Result<std::string> ask(std::string_view question, const HostLimits& limits);

 private:
  using Instant = std::chrono::steady_clock::time_point;

  HostProcess(pid_t id, int socket, int life, int output) : id_(id), socket_(socket), life_(life), output_(output) {}
  Status send(std::string_view& rest);
  Status receive();
  void read_output();
  bool too_large(std::uint64_t memory_bytes);
  Status give_up(Code code, std::string what);
  Status ended();
  bool wait_for_end(std::chrono::milliseconds most);
  void kill_all();
  std::string end_text() const;
  std::string last_words();

  const pid_t id_;
  const int socket_;
  const int life_;    // its other end signals the process when this one is closed, by whatever ends us
  const int output_;  // reads what it writes
  std::string received_;
  std::string words_;  // the last of its output
  bool output_open_ = true;
  Instant memory_seen_{};
  int wait_status_ = 0;
  bool reaped_ = false;
  Status failed_;
};

}  // namespace trainwarden::rules
