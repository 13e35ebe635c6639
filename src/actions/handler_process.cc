#include "actions/handler_process.h"

#include <cerrno>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "actions/handler_child.h"
#include "storage/file_descriptor.h"

namespace trainwarden::actions {
namespace {

using std::chrono::milliseconds;
using storage::FileDescriptor;
using Instant = std::chrono::steady_clock::time_point;

constexpr milliseconds kWaitInterval{10};

// A file in memory with the text, read from its start: a pipe would need somebody to fill it, and who does is killed
// (SIGPIPE) when the reader goes.
Result<FileDescriptor> file_with(std::string_view text) {
  FileDescriptor file = above_standard(::memfd_create("trainwarden-event", MFD_CLOEXEC));
  if (!file.is_open()) return no_room("no file in memory");
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return no_room("no room in memory");
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::lseek(file.get(), 0, SEEK_SET) != 0) return no_room("no file in memory");
  return file;
}

// The parts of this are in the order in which they happen.
class Handler {
 public:
  explicit Handler(const HandlerOptions& options) : options_(options) {}

  Status start() {
    TRAINWARDEN_ASSIGN_OR_RETURN(const FileDescriptor input, file_with(options_.input));
    TRAINWARDEN_ASSIGN_OR_RETURN(Pipe output, open_pipe());
    const int written = output.writing.get();
    TRAINWARDEN_RETURN_IF_ERROR(child_.start(options_, {input.get(), written, written}));
    output_ = HandlerOutput(std::move(output.reading));
    return {};
  }

  HandlerEnd wait(const std::stop_token& stop) {
    const Instant deadline = std::chrono::steady_clock::now() + options_.timeout;
    bool timed_out = false;
    while (!child_.has_ended()) {
      timed_out = std::chrono::steady_clock::now() >= deadline;
      if (timed_out || stop.stop_requested()) break;
      output_.wait(kWaitInterval);
    }
    HandlerEnd end;
    if (!child_.has_ended()) {
      end.how = timed_out ? HandlerEnd::How::kTimedOut : HandlerEnd::How::kCancelled;
      child_.end(options_.kill_after, [this](milliseconds most) { output_.wait(most); });
    } else {
      child_.reap(end);
    }
    output_.read();
    end.output = output_.last_lines();
    return end;
  }

 private:
  const HandlerOptions& options_;
  HandlerOutput output_;
  HandlerChild child_;
};

}  // namespace

Result<HandlerEnd> run_handler(const HandlerOptions& options, const std::stop_token& stop) {
  Handler handler(options);
  TRAINWARDEN_RETURN_IF_ERROR(handler.start());
  return handler.wait(stop);
}

}  // namespace trainwarden::actions
