#include "cli/child_process.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace trainwarden::cli {
namespace {

// SIGCHLD wakes us; this is for the case that somebody else took it.
constexpr std::chrono::seconds kChildLookInterval{1};

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& added) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    if (!added.contains(text.substr(0, text.find('=')))) entries.push_back(text);
  }
  for (const auto& [name, value] : added) entries.push_back(name + "=" + value);
  return entries;
}

// Borrowed, with the null at the end that the system wants.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The two attribute objects of posix_spawn, freed at the end.
struct SpawnSettings {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;

  SpawnSettings() {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
};

Status start_error(const std::string& program, int error) {
  const Code code = error == ENOENT ? Code::kNotFound : Code::kPermissionDenied;
  return Status(code, fmt::format("cannot start {}: {}; is it the path of a program, or in PATH?", program,
                                  std::strerror(error)));
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const ChildOptions& options, const SignalRelay& relay) {
  SpawnSettings settings;
  posix_spawnattr_setflags(&settings.attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setsigmask(&settings.attributes, &relay.original_mask());
  posix_spawnattr_setsigdefault(&settings.attributes, &relay.to_reset());
  if (!options.output.empty()) {
    posix_spawn_file_actions_addopen(&settings.files, STDOUT_FILENO, options.output.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0666);
    posix_spawn_file_actions_adddup2(&settings.files, STDOUT_FILENO, STDERR_FILENO);
  }
  std::vector<std::string> arguments = options.command;
  std::vector<std::string> environment = merged_environment(options.environment);
  pid_t id = 0;
  const int error = posix_spawnp(&id, arguments[0].c_str(), &settings.files, &settings.attributes,
                                 pointers_to(arguments).data(), pointers_to(environment).data());
  if (error != 0) return start_error(options.command[0], error);
  return ChildProcess(id);
}

std::optional<int> ChildProcess::try_wait() const {
  int status = 0;
  const pid_t ended = waitpid(id_, &status, WNOHANG);
  if (ended != id_) return std::nullopt;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void ChildProcess::send(int signal_number) const {
  kill(id_, signal_number);
}

int ChildProcess::wait(SignalRelay& relay) {
  while (true) {
    if (const auto exit_code = try_wait()) return *exit_code;
    const auto received = relay.wait(kChildLookInterval);
    // What the terminal sent has reached the child already; a second one would tell many programs to give up at once.
    const bool hand_on = received && received->number != SIGCHLD && !received->from_terminal;
    if (hand_on) send(received->number);
  }
}

}  // namespace trainwarden::cli
