#include "rules/hosting/host_process.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/pause.h"
#include "base/text.h"

namespace trainwarden::rules {
namespace {

constexpr std::chrono::milliseconds kLookInterval{20};
constexpr std::chrono::milliseconds kEndInterval{1};
constexpr std::chrono::milliseconds kGrace{1'000};
constexpr std::size_t kWordsBytes = 4096;
constexpr std::size_t kWordsLines = 6;
constexpr int kChildSocket = 3;
constexpr int kChildLife = 4;
constexpr int kFirstFree = 16;  // descriptors are moved here before they are put in their places

// Both ends are closed unless they are taken.
struct Ends {
  int ours = -1;
  int theirs = -1;
  Ends() = default;
  ~Ends() {
    if (ours >= 0) close(ours);
    if (theirs >= 0) close(theirs);
  }
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;
  int take() { return std::exchange(ours, -1); }
};

Status system_error(std::string_view what) {
  return Status(Code::kResourceExhausted, fmt::format("{}: {}", what, std::strerror(errno)));
}

Status open_ends(Ends& socket, Ends& life, Ends& output) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return system_error("no socket for a rule");
  socket.ours = pair[0];
  socket.theirs = pair[1];
  if (pipe2(pair, O_CLOEXEC) != 0) return system_error("no pipe for a rule");
  life.theirs = pair[0];
  life.ours = pair[1];
  if (pipe2(pair, O_CLOEXEC) != 0) return system_error("no pipe for a rule");
  output.theirs = pair[1];
  output.ours = pair[0];
  fcntl(socket.ours, F_SETFL, O_NONBLOCK);
  fcntl(output.ours, F_SETFL, O_NONBLOCK);
  return {};
}

// What the child does between fork and exec: nothing but calls that are safe in a copy of a process with threads.
[[noreturn]] void become_host(char* const* arguments, char* const* environment, int socket, int life, int output) {
  setpgid(0, 0);  // with what it starts, it is killed as one; Ctrl-C on the terminal is for us to handle
  const int socket_high = fcntl(socket, F_DUPFD, kFirstFree);
  const int life_high = fcntl(life, F_DUPFD, kFirstFree);
  const int output_high = fcntl(output, F_DUPFD, kFirstFree);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(output_high, STDOUT_FILENO);
  dup2(output_high, STDERR_FILENO);
  dup2(socket_high, kChildSocket);
  dup2(life_high, kChildLife);
  close_range(kChildLife + 1, ~0U, 0);
  // SIGIO, which ends a process, when the other end is closed. PR_SET_PDEATHSIG would watch our thread, not us.
  fcntl(kChildLife, F_SETOWN, getpid());
  fcntl(kChildLife, F_SETFL, O_ASYNC | O_NONBLOCK);
  char byte = 0;
  if (read(kChildLife, &byte, 1) == 0) _exit(0);  // closed before the signal was asked for
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execvpe(arguments[0], arguments, environment);
  dprintf(STDERR_FILENO, "cannot start %s: %s\n", arguments[0], std::strerror(errno));
  _exit(127);
}

// Ours, but a rule is no training that is to be watched.
std::vector<std::string> host_environment() {
  std::vector<std::string> entries = {"TRAINWARDEN_ATTACH=0"};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!text.starts_with("TRAINWARDEN_ATTACH=") && !text.starts_with("LD_PRELOAD=")) entries.emplace_back(text);
  }
  return entries;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::string seconds_text(std::chrono::milliseconds time) {
  return fmt::format("{:g} s", static_cast<double>(time.count()) / 1000);
}

}  // namespace

Result<std::unique_ptr<HostProcess>> HostProcess::start(std::vector<std::string> arguments) {
  Ends socket;
  Ends life;
  Ends output;
  TRAINWARDEN_RETURN_IF_ERROR(open_ends(socket, life, output));
  std::vector<std::string> environment = host_environment();
  const std::vector<char*> argument_pointers = pointers_to(arguments);
  const std::vector<char*> environment_pointers = pointers_to(environment);
  // No signal of ours may run our handlers in the child before it has become the host.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t id = fork();
  if (id == 0) {
    // The writing end of the pipe of life must not be open in the child itself.
    close(life.ours);
    become_host(argument_pointers.data(), environment_pointers.data(), socket.theirs, life.theirs, output.theirs);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (id < 0) return system_error("no process for a rule");
  setpgid(id, id);  // as the child does: whoever is first
  return std::unique_ptr<HostProcess>(new HostProcess(id, socket.take(), life.take(), output.take()));
}

HostProcess::~HostProcess() {
  shutdown(socket_, SHUT_RDWR);
  if (!reaped_ && !wait_for_end(kGrace)) kill_all();
  if (!reaped_) wait_for_end(kGrace);
  close(socket_);
  close(life_);
  close(output_);
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
    pollfd events[] = {{socket_, static_cast<short>(rest.empty() ? POLLIN : POLLIN | POLLOUT), 0},
                       {output_, POLLIN, 0}};
    if (!output_open_) events[1].fd = -1;  // it would wake us for ever
    poll(events, 2, static_cast<int>(std::clamp(left, std::chrono::milliseconds(0), kLookInterval).count()));
    read_output();
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
    const ssize_t sent = ::send(socket_, rest.data(), rest.size(), MSG_NOSIGNAL);
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
    const ssize_t count = recv(socket_, buffer, sizeof buffer, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return {};
    if (count <= 0 && received_.find('\n') != std::string::npos) return {};  // the last answer of one that has ended
    if (count <= 0) return ended();
    received_.append(buffer, static_cast<std::size_t>(count));
  }
  return {};
}

// At most a bounded part of it at a time: it may never cease.
void HostProcess::read_output() {
  char buffer[4096];
  for (int part = 0; part < 64; ++part) {
    const ssize_t count = read(output_, buffer, sizeof buffer);
    if (count == 0) output_open_ = false;
    if (count <= 0) break;
    words_.append(buffer, static_cast<std::size_t>(count));
    if (words_.size() > kWordsBytes) words_.erase(0, words_.size() - kWordsBytes);
  }
}

bool HostProcess::too_large(std::uint64_t memory_bytes) {
  const Instant now = std::chrono::steady_clock::now();
  if (now - memory_seen_ < kLookInterval) return false;
  memory_seen_ = now;
  std::ifstream file(fmt::format("/proc/{}/statm", id_));
  std::uint64_t total_pages = 0;
  std::uint64_t resident_pages = 0;
  if (!(file >> total_pages >> resident_pages)) return false;  // it has just ended; receive() sees that
  return resident_pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) > memory_bytes;
}

Status HostProcess::give_up(Code code, std::string what) {
  kill_all();
  wait_for_end(kGrace);
  failed_ = Status(code, fmt::format("its process {} and was killed{}", what, last_words()));
  return failed_;
}

Status HostProcess::ended() {
  if (!wait_for_end(kGrace)) return give_up(Code::kAborted, "closed its connection");
  kill(-id_, SIGKILL);  // what it started and left behind
  failed_ = Status(Code::kAborted, fmt::format("its process {}{}", end_text(), last_words()));
  return failed_;
}

bool HostProcess::wait_for_end(std::chrono::milliseconds most) {
  const Instant deadline = std::chrono::steady_clock::now() + most;
  while (!reaped_) {
    reaped_ = waitpid(id_, &wait_status_, WNOHANG) != 0;  // an error, too: somebody else took it
    if (reaped_ || std::chrono::steady_clock::now() >= deadline) break;
    read_output();  // so that it does not wait for us
    pause_for(kEndInterval, {});
  }
  return reaped_;
}

void HostProcess::kill_all() {
  if (reaped_) return;
  kill(-id_, SIGKILL);
  kill(id_, SIGKILL);  // when it has left its group
}

std::string HostProcess::end_text() const {
  if (WIFSIGNALED(wait_status_)) {
    const int number = WTERMSIG(wait_status_);
    return fmt::format("was ended by signal {} ({})", number, strsignal(number));
  }
  return fmt::format("ended with exit code {}", WEXITSTATUS(wait_status_));
}

// "; the last that it wrote: a / b"
std::string HostProcess::last_words() {
  read_output();
  std::vector<std::string> lines = split_list(words_, '\n');
  if (lines.empty()) return "";
  if (lines.size() > kWordsLines) lines.erase(lines.begin(), lines.end() - kWordsLines);
  return fmt::format("; the last that it wrote: {}", printable(fmt::format("{}", fmt::join(lines, " / "))));
}

}  // namespace trainwarden::rules
