#include "react/actions/kept_handler.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "core/base/handler_variables.h"
#include "core/base/text.h"
#include "core/process/descriptors.h"

namespace trainwarden::actions {
namespace {

using std::chrono::milliseconds;
using Instant = std::chrono::steady_clock::time_point;
using Json = nlohmann::json;

constexpr milliseconds kAnswerInterval{50};
constexpr std::size_t kMaxLineBytes = 1 << 20;  // of an answer

std::string line_of(std::string_view event, const std::map<std::string, std::string>& environment) {
  std::string line = "{\"event\":" + std::string(event) + ",\"environment\":" + Json(environment).dump() + "}";
  std::replace(line.begin(), line.end(), '\n', ' ');  // in JSON that is outside of texts
  return line + "\n";
}

// The answer in a line; none when the line is the program's own.
std::optional<HandlerEnd> answer_in(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto code = json.find("exit_code");
  if (code == json.end() || !code->is_number_integer()) return std::nullopt;
  HandlerEnd end;
  end.number = code->get<int>();
  const auto words = json.find("output");
  if (words != json.end() && words->is_string()) end.output = words->get<std::string>();
  return end;
}

}  // namespace

struct KeptHandler::Running {
  HandlerChild child;
  OwnedDescriptor input;      // we write
  OwnedDescriptor output;     // we read
  process::OutputTail words;  // its standard error, and what it wrote beside answers
  std::string unread;         // of output: a line that has no end yet
  bool speaks = true;         // its standard output is open

  // Waits until something can be read or, with something to write, be written.
  void wait(bool writes, milliseconds most) {
    const FileDescriptor end = child.open_end();
    std::array<pollfd, 4> files{pollfd{speaks ? output.get() : -1, POLLIN, 0}, pollfd{words.number(), POLLIN, 0},
                                pollfd{writes ? input.get() : -1, POLLOUT, 0}, pollfd{end.get(), POLLIN, 0}};
    ::poll(files.data(), files.size(), static_cast<int>(most.count()));
    words.read();
  }

  // False: the program reads no more.
  bool write(std::string_view& line) {
    while (!line.empty()) {
      const ssize_t written = ::send(input.get(), line.data(), line.size(), MSG_NOSIGNAL);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
      line.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
  }

  std::optional<HandlerEnd> read_answer() {
    std::array<char, 4096> part{};
    ssize_t bytes = 0;
    while ((bytes = ::read(output.get(), part.data(), part.size())) > 0) {
      unread.append(part.data(), static_cast<std::size_t>(bytes));
      if (unread.size() > kMaxLineBytes) unread.erase(0, unread.size() - kMaxLineBytes);
    }
    if (bytes == 0) speaks = false;
    for (std::size_t end = unread.find('\n'); end != std::string::npos; end = unread.find('\n')) {
      const std::string line = unread.substr(0, end);
      unread.erase(0, end + 1);
      if (auto answer = answer_in(line)) return answer;
      words.add(line + "\n");
    }
    return std::nullopt;
  }
};

KeptHandler::KeptHandler(HandlerOptions options)
    : options_([&] {
        options.environment[variable::kHandlerKept] = "1";
        return std::move(options);
      }()) {}

KeptHandler::~KeptHandler() {
  if (running_ == nullptr) return;
  running_->input.close();  // the end of its input: it leaves by itself
  const Instant deadline = std::chrono::steady_clock::now() + options_.kill_after;
  while (!running_->child.has_ended() && std::chrono::steady_clock::now() < deadline) {
    running_->wait(false, milliseconds(10));
    static_cast<void>(running_->read_answer());
  }
  running_->child.end(options_.kill_after);
}

Status KeptHandler::prepare() {
  if (running_ != nullptr && !running_->child.has_ended()) return {};
  running_.reset();
  // A socket, so that writing to a program that has gone is an error and no signal.
  TRAINWARDEN_ASSIGN_OR_RETURN(process::SocketPair input, process::open_socket_pair());
  TRAINWARDEN_ASSIGN_OR_RETURN(process::Pipe output, process::open_pipe());
  TRAINWARDEN_ASSIGN_OR_RETURN(process::Pipe error, process::open_pipe());
  TRAINWARDEN_ASSIGN_OR_RETURN(HandlerChild child,
                               HandlerChild::start(options_, {{STDIN_FILENO, input.theirs.get()},
                                                              {STDOUT_FILENO, output.writing.get()},
                                                              {STDERR_FILENO, error.writing.get()}}));
  running_.reset(new Running{std::move(child),
                             OwnedDescriptor(std::move(input.ours)),
                             OwnedDescriptor(std::move(output.reading)),
                             process::OutputTail(std::move(error.reading), kOutputBytes),
                             {}});
  return {};
}

Result<HandlerEnd> KeptHandler::send(std::string_view event, const std::map<std::string, std::string>& environment,
                                     const std::stop_token& stop) {
  TRAINWARDEN_RETURN_IF_ERROR(prepare());
  while (running_->read_answer()) {  // one answer too many is none to this event
  }
  running_->words.clear();
  const std::string line = line_of(event, environment);
  return answer(stop, line);
}

Result<HandlerEnd> KeptHandler::answer(const std::stop_token& stop, std::string_view line) {
  const Instant deadline = std::chrono::steady_clock::now() + options_.timeout;
  while (true) {
    const bool listens = running_->write(line);
    if (auto answer = running_->read_answer()) {
      running_->words.read();
      if (answer->output.empty()) answer->output = running_->words.last_lines();
      answer->output = printable(answer->output);
      return *std::move(answer);
    }
    if (running_->child.has_ended()) return gone();
    if (stop.stop_requested()) return end_it(HandlerEnd::How::kCancelled);
    if (std::chrono::steady_clock::now() >= deadline) return end_it(HandlerEnd::How::kTimedOut);
    running_->wait(listens && !line.empty(), kAnswerInterval);
  }
}

// It ended in place of an answer; what it wrote last may still be one.
Result<HandlerEnd> KeptHandler::gone() {
  if (auto answer = running_->read_answer()) return *std::move(answer);
  HandlerEnd end = running_->child.reap();
  running_->words.read();
  end.output = running_->words.last_lines();
  running_.reset();
  if (end.how != HandlerEnd::How::kExited || end.number != 0) return end;
  return Status(Code::kUnavailable,
                "the program ended without an answer; one that is kept reads a line for each event and answers with "
                "{\"exit_code\": 0}");
}

HandlerEnd KeptHandler::end_it(HandlerEnd::How how) {
  running_->child.end(options_.kill_after, [this](milliseconds most) { running_->wait(false, most); });
  HandlerEnd end;
  end.how = how;
  end.output = running_->words.last_lines();
  running_.reset();
  return end;
}

}  // namespace trainwarden::actions
