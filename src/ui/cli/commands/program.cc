#include "ui/cli/commands/program.h"

#include <cstdio>
#include <exception>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "store/s3/s3_storage.h"
#include "trainwarden/version.h"
#include "ui/cli/commands/all_commands.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/help_format.h"
#include "ui/cli/commands/usage_error.h"
#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {
namespace {

constexpr const char* kExitCodes =
    "Exit codes:\n"
    "  0  fine\n"
    "  1  failed\n"
    "  2  wrong usage\n"
    "  3  a rule fired\n"
    "  4  data lost or damaged\n"
    "  5  a study has not met its target\n"
    "  6  two runs differ\n"
    "`trainwarden COMMAND --help` has examples. NO_COLOR=1 turns colours off.";

void describe_program(CLI::App& app) {
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("trainwarden {}", version()));
  app.footer(kExitCodes);
}

int report_usage(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty() || words.front().empty()) {
    emit(stderr, "{}", Painted{app.help()});
    return kExitUsage;
  }
  emit(stderr, "trainwarden: error: {}\nSee `{} --help`.\n", explain_usage(app, error, words), typed_command(app));
  return kExitUsage;
}

// What could not be written (a full disk behind a redirection) must not look like success.
int finish(int exit_code) {
  const Status written = flush_output();
  if (written.ok() || exit_code != kExitFine) return exit_code;
  return report_error(written);
}

int parse_and_run(int argc, char** argv) {
  CLI::App app("Sees inside training jobs while they run, judges what it sees, and acts on the verdict.",
               "trainwarden");
  CommandAction action;
  app.formatter(std::make_shared<HelpFormat>());  // before its commands are made, which take it over
  describe_program(app);
  add_all_commands(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    std::ostringstream text;
    const int code = app.exit(success, text, text);
    emit("{}", Painted{text.str()});
    return finish(code);
  } catch (const CLI::ParseError& error) {
    return report_usage(app, error, argc, argv);
  }
  return finish(action());
}

}  // namespace

int run_program(int argc, char** argv) {
  try {
    storage::use_s3();
    return parse_and_run(argc, argv);
  } catch (const std::exception& error) {
    emit(stderr, "trainwarden: error: {}\n", Message{error.what()});
    return kExitFailed;
  }
}

}  // namespace trainwarden::cli
