// Finds the library to preload, and words for why nothing was captured.
#include "ui/cli/commands/attach.h"

#include <algorithm>
#include <array>
#include <chrono>

#include <fmt/format.h>

#include "core/base/hook_variables.h"
#include "core/base/program_variables.h"
#include "core/base/text.h"
#include "core/process/captured_output.h"
#include "ui/cli/options/run_locator.h"

namespace trainwarden::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPreloadLibrary = "libtrainwarden_preload.so";

// What TRAINWARDEN_PRELOAD_LIBRARY names, else the library where it lies in a build folder, an installation or a Python
// package, as seen from this program.
std::optional<fs::path> find_preload_library(const Environment& environment) {
  std::error_code ignored;
  if (const char* named = environment(variable::kPreloadLibrary); named != nullptr && *named != '\0') {
    return fs::exists(named, ignored) ? std::optional(fs::absolute(named, ignored)) : std::nullopt;
  }
  const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  const std::array<fs::path, 3> places = {folder / ".." / "lib", folder / ".." / TW_INSTALL_LIBDIR, folder};
  for (const fs::path& place : places) {
    const fs::path library = place / kPreloadLibrary;
    if (fs::exists(library, ignored)) return library.lexically_normal();
  }
  return std::nullopt;
}

std::string preload_value(const fs::path& library, const Environment& environment) {
  const char* others = environment("LD_PRELOAD");
  return others != nullptr && *others != '\0' ? library.string() + ":" + others : library.string();
}

// The loader takes spaces and colons for the end of a path.
bool can_be_preloaded(const fs::path& library) {
  return library.string().find_first_of(" :") == std::string::npos;
}

void preload(AttachPlan& plan, const std::vector<std::string>& program, const Environment& environment) {
  const auto library = find_preload_library(environment);
  if (!library) {
    plan.warning = fmt::format(
        "{} is not beside this program (the Python package has none, as it must fit the program's LibTorch), so a "
        "LibTorch program is not watched. In a clone of Trainwarden this watches it: "
        "TRAINWARDEN_PRELOAD_LIBRARY=$(./dev preload) {} run -- {}",
        kPreloadLibrary, typed_program(), program.empty() ? "PROGRAM" : printable(program.front()));
  } else if (!can_be_preloaded(*library)) {
    plan.warning =
        fmt::format("{} cannot be preloaded: its path has a space or a colon; install it elsewhere", library->string());
  } else {
    plan.environment["LD_PRELOAD"] = preload_value(*library, environment);
  }
}

constexpr const char* kSanitizedHelp =
    "was built with a sanitizer, which no library may precede; build it without, or open a hook in it "
    "(docs/guide/cpp.md)";

// Has the interpreter the package? None when it cannot be asked.
std::optional<bool> has_package(const fs::path& python) {
  constexpr std::chrono::seconds kTime{60};
  constexpr const char* kQuestion =
      "import importlib.util; print('yes' if importlib.util.find_spec('trainwarden') else 'no')";
  const auto answer = process::capture_output({.command = {python.string(), "-c", kQuestion}}, 16, kTime);
  if (!answer.ok() || answer->exit.shell_code() != 0) return std::nullopt;
  if (answer->text == "no\n") return false;
  return answer->text == "yes\n" ? std::optional(true) : std::nullopt;
}

// For a Python program from which nothing came.
std::string explain_python(const fs::path& file) {
  const std::string name = printable(file.string());
  if (has_package(file) == std::optional(false)) {
    return fmt::format("{0} does not have the package trainwarden; in a clone of Trainwarden: {0} -m pip install .",
                       name);
  }
  return fmt::format(
      "{} is Python: did the program train, with PyTorch, Keras, JAX, XGBoost, LightGBM or MXNet? Else it must "
      "open a hook itself",
      name);
}

}  // namespace

std::optional<WatchedWord> find_watched_word(const std::vector<std::string>& command, const Environment& environment) {
  std::optional<WatchedWord> found;
  for (const std::string& word : command) {
    const auto file = find_program(word, environment);
    const ProgramKind kind = file ? kind_of_program(*file) : ProgramKind::kNone;
    if (kind == ProgramKind::kTorch) return WatchedWord{*file, kind};
    const bool says_something = kind != ProgramKind::kNone && kind != ProgramKind::kOther;
    if (says_something && !found) found = WatchedWord{*file, kind};
  }
  return found;
}

AttachPlan plan_attach(const std::vector<std::string>& command, const std::string& mode,
                       const Environment& environment) {
  AttachPlan plan;
  plan.environment[variable::kAttach] = mode == "off" ? "0" : "1";
  if (mode == "preload") preload(plan, command, environment);
  if (mode != "auto") return plan;
  const auto word = find_watched_word(command, environment);
  if (word && word->kind == ProgramKind::kTorch) preload(plan, command, environment);
  if (word && word->kind == ProgramKind::kSanitizedTorch) {
    plan.warning = fmt::format("{} {}", printable(word->file.string()), kSanitizedHelp);
  }
  return plan;
}

std::string explain_missing_run(const std::vector<std::string>& command, const std::string& mode,
                                const Environment& environment) {
  if (mode == "off") return "with --attach off it must open its own hook with hook_options_from_environment()";
  const auto word = find_watched_word(command, environment);
  switch (word ? word->kind : ProgramKind::kOther) {
    case ProgramKind::kPython: return explain_python(word->file);
    case ProgramKind::kTorch:
      return "it uses LibTorch: did it train, with an optimizer of torch::optim (docs/guide/cpp_untouched.md says what "
             "is seen)?";
    case ProgramKind::kSanitizedTorch: return fmt::format("{} {}", printable(word->file.string()), kSanitizedHelp);
    case ProgramKind::kStatic:
      return fmt::format(
          "{} is linked statically, so nothing can be attached to it; it must open a hook itself "
          "(docs/guide/cpp.md)",
          printable(word->file.string()));
    default:
      return "no word of the command is a Python or a LibTorch program; if it starts a LibTorch program by a script, "
             "say --attach preload; else it must open a hook itself (docs/guide/cpp.md)";
  }
}

}  // namespace trainwarden::cli
