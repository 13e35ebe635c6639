#include "actions/handler_child.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"

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

void set_files(SpawnSettings& settings, const ChildFiles& files, const std::string& folder) {
  ::posix_spawn_file_actions_adddup2(&settings.files, files.input, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&settings.files, files.output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&settings.files, files.error, STDERR_FILENO);
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

}  // namespace

Status no_room(std::string_view what) {
  return Status(Code::kUnavailable, fmt::format("{} for a program: {}", what, std::strerror(errno)));
}

FileDescriptor above_standard(int number) {
  FileDescriptor given(number);
  if (number < 0 || number >= kFirstFree) return given;
  return FileDescriptor(::fcntl(number, F_DUPFD_CLOEXEC, kFirstFree));
}

Result<Pipe> open_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return no_room("no pipe");
  Pipe made{above_standard(ends[0]), above_standard(ends[1])};
  if (!made.reading.is_open() || !made.writing.is_open()) return no_room("no pipe");
  ::fcntl(made.reading.get(), F_SETFL, O_NONBLOCK);  // the writing end stays as programs expect it
  return made;
}

HandlerChild::~HandlerChild() {
  if (!reaped_) end_group(SIGKILL, kReapTime, {});
}

Status HandlerChild::start(const HandlerOptions& options, const ChildFiles& files) {
  TRAINWARDEN_RETURN_IF_ERROR(check_folder(options.folder));
  SpawnSettings settings;
  reset_signals(settings);
  set_files(settings, files, options.folder);
  std::vector<std::string> arguments = options.command;
  std::vector<std::string> environment = merged_environment(options.environment);
  const int error = ::posix_spawnp(&id_, arguments[0].c_str(), &settings.files, &settings.attributes,
                                   pointers_to(arguments).data(), pointers_to(environment).data());
  if (error != 0) return start_error(options.command[0], error);
  reaped_ = false;
  set_limits(options);
  return {};
}

// Right after the start, when it has hardly begun: posix_spawn has no words for them.
void HandlerChild::set_limits(const HandlerOptions& options) const {
  if (options.memory_bytes != 0) {
    const rlimit memory{options.memory_bytes, options.memory_bytes};
    ::prlimit(id_, RLIMIT_AS, &memory, nullptr);
  }
  if (options.nice != 0) {
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(id_), ::getpriority(PRIO_PROCESS, 0) + options.nice);
  }
}

// It stays a zombie until reap(), so that no other process can get its number, nor its group's, meanwhile.
bool HandlerChild::has_ended() {
  siginfo_t info{};
  const int answer = ::waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOHANG | WNOWAIT);
  lost_ = answer != 0 && errno == ECHILD;
  return lost_ || (answer == 0 && info.si_pid == id_);
}

void HandlerChild::reap(HandlerEnd& end) {
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

bool HandlerChild::end_group(int signal_number, milliseconds time, const Meanwhile& meanwhile) {
  ::kill(-id_, signal_number);
  const Instant deadline = std::chrono::steady_clock::now() + time;
  while (!has_ended() && std::chrono::steady_clock::now() < deadline) {
    if (meanwhile) {
      meanwhile(kLookInterval);
    } else {
      ::poll(nullptr, 0, static_cast<int>(kLookInterval.count()));
    }
  }
  if (!has_ended()) return false;
  if (!lost_) ::kill(-id_, SIGKILL);
  HandlerEnd unused;
  reap(unused);
  return true;
}

void HandlerChild::end(milliseconds kill_after, const Meanwhile& meanwhile) {
  if (!end_group(SIGTERM, kill_after, meanwhile)) end_group(SIGKILL, kReapTime, meanwhile);
}

void HandlerOutput::wait(milliseconds most) {
  pollfd event{open_ ? pipe_.get() : -1, POLLIN, 0};
  if (::poll(&event, 1, static_cast<int>(most.count())) > 0) read();
}

// At most a bounded part of it at a time: it may never cease.
void HandlerOutput::read() {
  std::array<char, 4096> part{};
  for (int i = 0; open_ && i < kPartsAtOnce; ++i) {
    const ssize_t bytes = ::read(pipe_.get(), part.data(), part.size());
    if (bytes == 0) open_ = false;
    if (bytes <= 0) break;
    add(std::string_view(part.data(), static_cast<std::size_t>(bytes)));
  }
}

void HandlerOutput::add(std::string_view text) {
  words_.append(text);
  if (words_.size() > kOutputBytes) words_.erase(0, words_.size() - kOutputBytes);
}

// "a / b"
std::string HandlerOutput::last_lines() const {
  std::string text = words_;
  std::replace(text.begin(), text.end(), '\t', ' ');
  std::vector<std::string> lines = split_list(text, '\n');
  if (lines.size() > kOutputLines) lines.erase(lines.begin(), lines.end() - kOutputLines);
  return printable(fmt::format("{}", fmt::join(lines, " / ")));
}

}  // namespace trainwarden::actions
