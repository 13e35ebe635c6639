#include "react/actions/handler_process.h"

#include <unistd.h>

#include <array>
#include <utility>

#include <poll.h>

#include "core/process/descriptors.h"
#include "react/actions/handler_child.h"

namespace trainwarden::actions {
namespace {

using std::chrono::milliseconds;
using Instant = std::chrono::steady_clock::time_point;

constexpr milliseconds kLookInterval{10};

// The parts of this are in the order in which they happen.
class Handler {
 public:
  static Result<Handler> start(const HandlerOptions& options) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const FileDescriptor input, process::open_memory_file(options.input));
    TRAINWARDEN_ASSIGN_OR_RETURN(process::Pipe output, process::open_pipe());
    const int written = output.writing.get();
    TRAINWARDEN_ASSIGN_OR_RETURN(HandlerChild child, HandlerChild::start(options, {{STDIN_FILENO, input.get()},
                                                                                   {STDOUT_FILENO, written},
                                                                                   {STDERR_FILENO, written}}));
    return Handler(options, std::move(child), std::move(output.reading));
  }

  HandlerEnd wait(const std::stop_token& stop) {
    const Instant deadline = std::chrono::steady_clock::now() + options_.timeout;
    bool timed_out = false;
    while (!child_.has_ended()) {
      timed_out = std::chrono::steady_clock::now() >= deadline;
      if (timed_out || stop.stop_requested()) break;
      wait_for_output(kLookInterval);
    }
    HandlerEnd end;
    if (child_.has_ended()) {
      end = child_.reap();
    } else {
      end.how = timed_out ? HandlerEnd::How::kTimedOut : HandlerEnd::How::kCancelled;
      child_.end(options_.kill_after, [this](milliseconds max) { wait_for_output(max); });
    }
    output_.read();
    end.output = output_.last_lines();
    return end;
  }

 private:
  Handler(const HandlerOptions& options, HandlerChild child, FileDescriptor output)
      : options_(options), output_(std::move(output), kOutputBytes), child_(std::move(child)) {}

  void wait_for_output(milliseconds max) {
    const FileDescriptor end = child_.open_end();
    std::array<pollfd, 2> events{pollfd{output_.number(), POLLIN, 0}, pollfd{end.get(), POLLIN, 0}};
    ::poll(events.data(), events.size(), static_cast<int>(max.count()));
    output_.read();
  }

  const HandlerOptions& options_;
  process::OutputTail output_;
  HandlerChild child_;
};

}  // namespace

Result<HandlerEnd> run_handler(const HandlerOptions& options, const std::stop_token& stop) {
  TRAINWARDEN_ASSIGN_OR_RETURN(Handler handler, Handler::start(options));
  return handler.wait(stop);
}

}  // namespace trainwarden::actions
