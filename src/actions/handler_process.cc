#include "actions/handler_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "storage/file_descriptor.h"

namespace trainwarden::actions {
namespace {

using std::chrono::milliseconds;
using storage::FileDescriptor;
using Instant = std::chrono::steady_clock::time_point;

constexpr milliseconds kLookInterval{10};
constexpr milliseconds kReapTime{10'000};  // after SIGKILL; longer only in a system call that cannot be ended
constexpr std::size_t kOutputBytes = 2048;
constexpr std::size_t kOutputLines = 6;
constexpr int kPartsAtOnce = 64;
constexpr int kFirstFree = 3;  // ours may have been started without the standard ones

Status no_room(std::string_view what) {
  return Status(Code::kUnavailable, fmt::format("{} for a program: {}", what, std::strerror(errno)));
}

FileDescriptor above_standard(int number) {
  FileDescriptor given(number);
  if (number < 0 || number >= kFirstFree) return given;
  return FileDescriptor(::fcntl(number, F_DUPFD_CLOEXEC, kFirstFree));
}

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

struct Pipe {
  FileDescriptor reading;
  FileDescriptor writing;
};

Result<Pipe> open_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return no_room("no pipe");
  Pipe made{above_standard(ends[0]), above_standard(ends[1])};
  if (!made.reading.is_open() || !made.writing.is_open()) return no_room("no pipe");
  ::fcntl(made.reading.get(), F_SETFL, O_NONBLOCK);  // the writing end stays as programs expect it
  return made;
}

// The two attribute objects of posix_spawn, freed at the end.
struct SpawnSettings {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;

  SpawnSettings() {
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&attributes);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
};

// Our threads have signals blocked that a program expects, and we, or Python, ignore some for ourselves. The others
// stay as they are: who started us with nohup meant what we start as well.
void reset_signals(SpawnSettings& settings) {
  sigset_t none;
  sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&settings.attributes, &none);
  sigset_t to_reset;
  sigemptyset(&to_reset);
  for (const int number : {SIGPIPE, SIGXFSZ, SIGCHLD}) sigaddset(&to_reset, number);
  ::posix_spawnattr_setsigdefault(&settings.attributes, &to_reset);
  ::posix_spawnattr_setpgroup(&settings.attributes, 0);
  ::posix_spawnattr_setflags(&settings.attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

void set_files(SpawnSettings& settings, int input, int output, const std::string& folder) {
  ::posix_spawn_file_actions_adddup2(&settings.files, input, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&settings.files, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&settings.files, output, STDERR_FILENO);
#if __GLIBC_PREREQ(2, 34)
  // Ours close by themselves; libraries that we live beside have files too.
  ::posix_spawn_file_actions_addclosefrom_np(&settings.files, kFirstFree);
#endif
  if (!folder.empty()) ::posix_spawn_file_actions_addchdir_np(&settings.files, folder.c_str());
}

// Ours, but a handler is no training that is to be watched.
std::vector<std::string> merged_environment(std::map<std::string, std::string> added) {
  added.emplace("TRAINWARDEN_ATTACH", "0");
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const bool preloads_us = text.starts_with("LD_PRELOAD=") && text.find("trainwarden") != std::string_view::npos;
    if (!preloads_us && !added.contains(std::string(text.substr(0, text.find('='))))) entries.emplace_back(text);
  }
  for (const auto& [name, value] : added) entries.push_back(fmt::format("{}={}", name, value));
  return entries;
}

// Borrowed, with the null at the end that the system wants.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

Status start_error(const std::string& program, int error) {
  const std::string what = fmt::format("cannot start {}: {}", printable(program), std::strerror(error));
  if (error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE) {
    return Status(Code::kUnavailable, what + "; is there room for a process more?");
  }
  if (error == ENOENT) {
    return Status(Code::kNotFound, what +
                                       "; is it the path of a program, or in PATH, and is the interpreter there that "
                                       "its first line names?");
  }
  if (error == ENOEXEC) return Status(Code::kInvalidArgument, what + "; a script begins with a line such as #!/bin/sh");
  const Code code = error == EACCES || error == EPERM ? Code::kPermissionDenied : Code::kInvalidArgument;
  return Status(code, what + "; may it be executed (chmod +x)?");
}

Status check_folder(const std::string& folder) {
  struct stat info {};
  if (folder.empty() || (::stat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode))) return {};
  return Status(Code::kNotFound, fmt::format("cannot work in {}: it is no folder", printable(folder)));
}

// The parts of this are in the order in which they happen.
class Handler {
 public:
  explicit Handler(const HandlerOptions& options) : options_(options) {}
  ~Handler() {
    if (!reaped_) end_group(SIGKILL, kReapTime);
  }
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;

  Status start() {
    TRAINWARDEN_RETURN_IF_ERROR(check_folder(options_.folder));
    TRAINWARDEN_ASSIGN_OR_RETURN(const FileDescriptor input, file_with(options_.input));
    TRAINWARDEN_ASSIGN_OR_RETURN(Pipe output, open_pipe());
    SpawnSettings settings;
    reset_signals(settings);
    set_files(settings, input.get(), output.writing.get(), options_.folder);
    std::vector<std::string> arguments = options_.command;
    std::vector<std::string> environment = merged_environment(options_.environment);
    const int error = ::posix_spawnp(&id_, arguments[0].c_str(), &settings.files, &settings.attributes,
                                     pointers_to(arguments).data(), pointers_to(environment).data());
    if (error != 0) return start_error(options_.command[0], error);
    reaped_ = false;
    set_limits();
    output_ = std::move(output.reading);
    return {};
  }

  HandlerEnd wait(const std::stop_token& stop) {
    const Instant deadline = std::chrono::steady_clock::now() + options_.timeout;
    bool timed_out = false;
    while (!has_ended()) {
      timed_out = std::chrono::steady_clock::now() >= deadline;
      if (timed_out || stop.stop_requested()) break;
      wait_for_output(kLookInterval);
    }
    HandlerEnd end;
    if (!has_ended()) {
      end.how = timed_out ? HandlerEnd::How::kTimedOut : HandlerEnd::How::kCancelled;
      if (!end_group(SIGTERM, options_.kill_after)) end_group(SIGKILL, kReapTime);
    } else {
      reap(end);
    }
    read_output();
    end.output = last_lines();
    return end;
  }

 private:
  // Right after the start, when it has hardly begun: posix_spawn has no words for them.
  void set_limits() const {
    if (options_.memory_bytes != 0) {
      const rlimit memory{options_.memory_bytes, options_.memory_bytes};
      ::prlimit(id_, RLIMIT_AS, &memory, nullptr);
    }
    if (options_.nice != 0) {
      ::setpriority(PRIO_PROCESS, static_cast<id_t>(id_), ::getpriority(PRIO_PROCESS, 0) + options_.nice);
    }
  }

  // It stays a zombie until reap(), so that no other process can get its number, nor its group's, meanwhile.
  bool has_ended() {
    siginfo_t info{};
    const int answer = ::waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOHANG | WNOWAIT);
    lost_ = answer != 0 && errno == ECHILD;
    return lost_ || (answer == 0 && info.si_pid == id_);
  }

  void reap(HandlerEnd& end) {
    int status = 0;
    const bool known = ::waitpid(id_, &status, WNOHANG) == id_;
    reaped_ = true;
    if (!known) {
      end.how = HandlerEnd::How::kUnknown;
    } else if (WIFSIGNALED(status)) {
      end.how = HandlerEnd::How::kSignalled;
      end.number = WTERMSIG(status);
    } else {
      end.number = WEXITSTATUS(status);
    }
  }

  // True when the program has ended within `time`; then what it had started is ended as well.
  bool end_group(int signal_number, milliseconds time) {
    ::kill(-id_, signal_number);
    const Instant deadline = std::chrono::steady_clock::now() + time;
    while (!has_ended() && std::chrono::steady_clock::now() < deadline) wait_for_output(kLookInterval);
    if (!has_ended()) return false;
    if (!lost_) ::kill(-id_, SIGKILL);
    HandlerEnd unused;
    reap(unused);
    return true;
  }

  void wait_for_output(milliseconds most) {
    pollfd event{output_open_ ? output_.get() : -1, POLLIN, 0};
    if (::poll(&event, 1, static_cast<int>(most.count())) > 0) read_output();
  }

  // At most a bounded part of it at a time: it may never cease.
  void read_output() {
    std::array<char, 4096> part{};
    for (int i = 0; output_open_ && i < kPartsAtOnce; ++i) {
      const ssize_t bytes = ::read(output_.get(), part.data(), part.size());
      if (bytes == 0) output_open_ = false;
      if (bytes <= 0) break;
      words_.append(part.data(), static_cast<std::size_t>(bytes));
      if (words_.size() > kOutputBytes) words_.erase(0, words_.size() - kOutputBytes);
    }
  }

  // "a / b"
  std::string last_lines() const {
    std::string text = words_;
    std::replace(text.begin(), text.end(), '\t', ' ');
    std::vector<std::string> lines = split_list(text, '\n');
    if (lines.size() > kOutputLines) lines.erase(lines.begin(), lines.end() - kOutputLines);
    return printable(fmt::format("{}", fmt::join(lines, " / ")));
  }

  const HandlerOptions& options_;
  pid_t id_ = -1;
  bool reaped_ = true;
  bool lost_ = false;  // somebody else has reaped it, and its number may be another's by now
  FileDescriptor output_;
  bool output_open_ = true;
  std::string words_;  // the last of its output
};

}  // namespace

Result<HandlerEnd> run_handler(const HandlerOptions& options, const std::stop_token& stop) {
  Handler handler(options);
  TRAINWARDEN_RETURN_IF_ERROR(handler.start());
  return handler.wait(stop);
}

}  // namespace trainwarden::actions
