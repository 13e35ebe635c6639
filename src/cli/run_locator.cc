#include "cli/run_locator.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <system_error>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/environment_names.h"
#include "base/text.h"
#include "store/run_folder.h"
#include "views/run_listing.h"

namespace trainwarden::cli {
namespace {

namespace fs = std::filesystem;
using views::is_run;
using views::list_runs;

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

}  // namespace

fs::path runs_folder(const std::string& option, const Environment& environment) {
  if (!option.empty()) return option;
  const char* variable = environment(variable::kRuns);
  return variable && *variable ? variable : "runs";
}

Result<fs::path> locate_run(const std::string& text, const fs::path& folder) {
  if (is_run(text)) return fs::path(text);
  if (text.find('/') != std::string::npos) {
    return Status(Code::kNotFound,
                  fmt::format("no run at {}: there is no {} in it, and neither collections nor index of smdebug's",
                              printable(text), store::kRunFile));
  }
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

std::string left_out_note(const LocatedRuns& located) {
  constexpr std::size_t kMostNames = 5;
  const std::size_t count = located.plain_files.size();
  if (count == 0) return {};
  std::string names;
  for (std::size_t i = 0; i < std::min(count, kMostNames); ++i) {
    names += (i == 0 ? "" : ", ") + printable(located.plain_files[i]);
  }
  return fmt::format("{} no run{} and {} left out: {}{}",
                     count == 1 ? "a plain file is" : fmt::format("{} plain files are", count), count == 1 ? "" : "s",
                     count == 1 ? "was" : "were", names, count > kMostNames ? ", ..." : "");
}

std::string run_name(const fs::path& run) {
  std::error_code ignored;
  fs::path absolute = fs::absolute(run, ignored).lexically_normal();
  if (!absolute.has_filename()) absolute = absolute.parent_path();
  return printable(absolute.filename().string());
}

std::string typed_run(const fs::path& run, const Environment& environment) {
  std::error_code ignored;
  const bool found_by_name = fs::equivalent(run.parent_path(), runs_folder("", environment), ignored);
  return found_by_name ? run_name(run) : printable(run.string());
}

std::string typed_program() {
  return printable(program_invocation_name);
}

std::string make_run_name(const fs::path& folder, const std::vector<std::string>& command, std::int64_t unix_seconds) {
  const std::string base =
      fmt::format("{:%Y%m%d-%H%M}-{}", fmt::localtime(static_cast<std::time_t>(unix_seconds)), short_name(command));
  std::string name = base;
  std::error_code ignored;
  for (int number = 2; fs::exists(folder / name, ignored); ++number) name = fmt::format("{}-{}", base, number);
  return name;
}

}  // namespace trainwarden::cli
