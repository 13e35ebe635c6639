#include "work/launch/run_naming.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <ctime>
#include <functional>
#include <system_error>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "core/base/file_descriptor.h"
#include "core/base/folder_variables.h"
#include "core/base/text.h"
#include "read/trial/run_listing.h"
#include "store/journal/run_folder.h"
#include "store/storage/location.h"
#include "trainwarden/trial.h"

namespace trainwarden::launch {
namespace {

namespace fs = std::filesystem;
using trial::is_run;
using trial::list_runs;

Status unknown_run(const std::string& text, const fs::path& folder) {
  const auto names = list_runs(folder);
  if (!names.ok()) return names.status();
  if (names->empty()) {
    return Status(Code::kNotFound,
                  fmt::format("no run \"{}\"; there are no runs in {} yet", printable(text), folder.string()));
  }
  return Status(Code::kNotFound,
                fmt::format("no run \"{}\" in {}{}; `trainwarden ls` lists the {} that are there", printable(text),
                            folder.string(), did_you_mean(text, *names), names->size()));
}

bool runs_scripts(std::string_view program) {
  for (const std::string_view interpreter : {"python", "bash", "sh", "env", "ruby", "perl", "node"}) {
    if (program.substr(0, interpreter.size()) == interpreter) return true;
  }
  return false;
}

// The program's name without folder and extension, as part of a file name.
std::string short_name(const std::vector<std::string>& command) {
  if (command.empty()) return "run";
  std::string name = fs::path(command[0]).stem().string();
  const bool has_script = command.size() > 1 && command[1].rfind('-', 0) != 0;
  if (has_script && runs_scripts(name)) name = fs::path(command[1]).stem().string();
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-') c = '_';
  }
  return name.empty() ? "run" : name;
}

// Gives false where another one of this machine has claimed the same; it is this process's until that ends. A socket
// without a file leaves nothing behind, and the program finds no folder before its run begins.
bool claim(const fs::path& run) {
  const std::string name =
      fmt::format("trainwarden-run-{:016x}", std::hash<std::string>()(fs::absolute(run).lexically_normal().string()));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  FileDescriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), bytes) != 0) return errno != EADDRINUSE;
  socket.release();
  return true;
}

}  // namespace

fs::path runs_folder(const std::string& option, const Environment& environment) {
  if (!option.empty()) return option;
  const char* variable = environment(variable::kRuns);
  return variable && *variable ? variable : "runs";
}

Result<fs::path> locate_run(const std::string& text, const fs::path& folder) {
  const Status status = trial::check_run(storage::Location(text));
  if (status.ok()) return fs::path(text);
  if (text.find('/') != std::string::npos) return status;
  if (is_run(folder / text)) return folder / text;
  return unknown_run(text, folder);
}

Result<LocatedRuns> locate_runs(const std::vector<std::string>& texts, const fs::path& folder) {
  LocatedRuns located;
  Status first_wrong;
  for (const std::string& text : texts) {
    auto run = locate_run(text, folder);
    std::error_code ignored;
    if (run.ok()) {
      located.runs.push_back(std::move(run).value());
    } else if (fs::is_regular_file(text, ignored)) {
      if (first_wrong.ok()) first_wrong = run.status();
      located.plain_files.push_back(text);
    } else {
      return run.status();
    }
  }
  if (located.runs.empty()) return first_wrong;
  return located;
}

std::string run_name(const fs::path& run) {
  return printable(storage::Location(run).name());
}

std::string make_run_name(const fs::path& folder, const std::vector<std::string>& command, std::int64_t unix_seconds) {
  const std::string base =
      fmt::format("{:%Y%m%d-%H%M}-{}", fmt::localtime(static_cast<std::time_t>(unix_seconds)), short_name(command));
  const auto is_taken = [&](const std::string& name) {
    const storage::Location run = storage::Location(folder).child(name);
    return run.storage().exists("") || !claim(folder / name);
  };
  std::string name = base;
  for (int number = 2; is_taken(name); ++number) name = fmt::format("{}-{}", base, number);
  return name;
}

Result<fs::path> choose_run(const RunWish& wish) {
  const std::string& name = wish.name;
  if (name.empty()) return wish.folder / make_run_name(wish.folder, wish.command, wish.unix_seconds);
  if (name.find('/') != std::string::npos || name[0] == '.') {
    return Status(Code::kInvalidArgument,
                  fmt::format("\"{}\" cannot be the name of a run: it may not have a slash or begin with a dot; --runs "
                              "names the folder",
                              printable(name)));
  }
  fs::path run = wish.folder / name;
  if (wish.resume || !is_run(run)) return run;
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto trial, Trial::open(run));
  const bool finished = trial->state() == RunState::kCompleted || trial->state() == RunState::kStopped;
  if (!finished) return run;
  return Status(Code::kAlreadyExists,
                fmt::format("{} holds a finished run; take another --name, remove the folder, or go "
                            "on with it (--resume)",
                            run.string()));
}

}  // namespace trainwarden::launch
