#include "judge/rules/hosting/host_process.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/hook_variables.h"
#include "core/base/text.h"
#include "core/process/descriptors.h"

namespace trainwarden::rules {
namespace {

constexpr std::chrono::milliseconds kLookInterval{20};
constexpr std::chrono::milliseconds kGrace{1'000};
constexpr std::size_t kOutputBytes = 4096;
constexpr int kChildSocket = 3;

// Ours, but a rule is no training that is to be watched.
process::EnvironmentChanges host_environment() {
  return {.set = {{variable::kAttach, "0"}}, .removed = {"LD_PRELOAD"}};
}

std::string seconds_text(std::chrono::milliseconds time) {
  return fmt::format("{:g} s", static_cast<double>(time.count()) / 1000);
}

std::string end_text(const process::ExitRecord& record) {
  using How = process::ExitRecord::How;
  if (record.how == How::kSignalled) {
    return fmt::format("was ended by signal {} ({})", record.number, strsignal(record.number));
  }
  return record.how == How::kExited ? fmt::format("ended with exit code {}", record.number) : "ended";
}

}  // namespace

Result<std::unique_ptr<HostProcess>> HostProcess::start(std::vector<std::string> arguments) {
  TRAINWARDEN_ASSIGN_OR_RETURN(process::SocketPair socket, process::open_socket_pair());
  TRAINWARDEN_ASSIGN_OR_RETURN(process::Pipe output, process::open_pipe());
  TRAINWARDEN_ASSIGN_OR_RETURN(const FileDescriptor nothing, process::open_null());
  process::Program program;
  program.command = std::move(arguments);
  program.environment = host_environment();
  program.descriptors = {{STDIN_FILENO, nothing.get()},
                         {STDOUT_FILENO, output.writing.get()},
                         {STDERR_FILENO, output.writing.get()},
                         {kChildSocket, socket.theirs.get()}};
  program.signals = process::SignalStart::all_default();
  program.own_group = true;  // with what it starts, it is killed as one; Ctrl-C on the terminal is for us to handle
  program.ends_with_us = true;
  program.core_file = false;
  auto child = process::Child::start(program);
  if (!child.ok() && child.status().code() == Code::kUnavailable) {
    return Status(Code::kResourceExhausted, child.status().message());
  }
  if (!child.ok())
    return std::unique_ptr<HostProcess>(new HostProcess(Status(Code::kAborted, child.status().message())));
  return std::unique_ptr<HostProcess>(
      new HostProcess(*std::move(child), std::move(socket.ours), std::move(output.reading)));
}

HostProcess::HostProcess(process::Child child, FileDescriptor socket, FileDescriptor output)
    : child_(std::move(child)), socket_(std::move(socket)), output_(std::move(output), kOutputBytes) {}

HostProcess::~HostProcess() {
  if (!child_ || child_->reaped()) return;
  shutdown(socket_.get(), SHUT_RDWR);
  if (wait_for_end()) {
    child_->reap();
  } else {
    child_->kill_group();
  }
}

Result<std::string> HostProcess::ask(std::string_view question, const HostLimits& limits) {
  if (!failed_.ok()) return failed_;
  const Instant deadline = std::chrono::steady_clock::now() + limits.time;
  std::string line(question);
  line += '\n';
  std::string_view rest = line;
  while (true) {
    TRAINWARDEN_RETURN_IF_ERROR(send(rest));
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd events[] = {{socket_.get(), static_cast<short>(rest.empty() ? POLLIN : POLLIN | POLLOUT), 0},
                       {output_.number(), POLLIN, 0}};
    poll(events, 2, static_cast<int>(std::clamp(left, std::chrono::milliseconds(0), kLookInterval).count()));
    output_.read();
    TRAINWARDEN_RETURN_IF_ERROR(receive());
    const std::size_t end = received_.find('\n');
    if (end != std::string::npos) {
      std::string answer = received_.substr(0, end);
      received_.erase(0, end + 1);
      return answer;
    }
    if (received_.size() > kMostAnswerBytes) return give_up(Code::kDataLoss, "answered more than 1 MiB");
    if (too_large(limits.memory_bytes)) {
      return give_up(Code::kResourceExhausted,
                     fmt::format("held more than {} of memory", format_bytes(limits.memory_bytes)));
    }
    if (left.count() <= 0) {
      return give_up(Code::kDeadlineExceeded, fmt::format("took longer than {}", seconds_text(limits.time)));
    }
  }
}

// As much as goes now.
Status HostProcess::send(std::string_view& rest) {
  while (!rest.empty()) {
    const ssize_t sent = ::send(socket_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return {};
    if (sent < 0) return ended();
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

Status HostProcess::receive() {
  char buffer[65536];
  while (received_.size() <= kMostAnswerBytes) {
    const ssize_t count = recv(socket_.get(), buffer, sizeof buffer, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return {};
    if (count <= 0 && received_.find('\n') != std::string::npos) return {};  // the last answer of one that has ended
    if (count <= 0) return ended();
    received_.append(buffer, static_cast<std::size_t>(count));
  }
  return {};
}

bool HostProcess::too_large(std::uint64_t memory_bytes) {
  const Instant now = std::chrono::steady_clock::now();
  if (now - memory_seen_ < kLookInterval) return false;
  memory_seen_ = now;
  std::ifstream file(fmt::format("/proc/{}/statm", child_->id()));
  std::uint64_t total_pages = 0;
  std::uint64_t resident_pages = 0;
  if (!(file >> total_pages >> resident_pages)) return false;  // it has just ended; receive() sees that
  return resident_pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) > memory_bytes;
}

Status HostProcess::give_up(Code code, std::string what) {
  child_->kill_group([this](std::chrono::milliseconds max) { wait_for_output(max); });
  failed_ = Status(code, fmt::format("its process {} and was killed{}", what, last_words()));
  return failed_;
}

Status HostProcess::ended() {
  if (!wait_for_end()) return give_up(Code::kAborted, "closed its connection");
  child_->send_to_group(SIGKILL);  // what it started and left behind
  failed_ = Status(Code::kAborted, fmt::format("its process {}{}", end_text(child_->reap()), last_words()));
  return failed_;
}

bool HostProcess::wait_for_end() {
  return child_->wait_for(kGrace, [this](std::chrono::milliseconds max) { wait_for_output(max); });
}

// So that it does not wait for us.
void HostProcess::wait_for_output(std::chrono::milliseconds max) {
  const FileDescriptor end = child_->open_end();
  pollfd events[] = {{output_.number(), POLLIN, 0}, {end.get(), POLLIN, 0}};
  poll(events, 2, static_cast<int>(max.count()));
  output_.read();
}

// "; the last that it wrote: a / b"
std::string HostProcess::last_words() {
  output_.read();
  const std::string lines = output_.last_lines();
  return lines.empty() ? "" : fmt::format("; the last that it wrote: {}", lines);
}

}  // namespace trainwarden::rules
