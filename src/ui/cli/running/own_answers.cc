#include "ui/cli/running/own_answers.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/base/text.h"
#include "core/process/captured_output.h"
#include "core/process/descriptors.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/running/job_keeper.h"

namespace trainwarden::cli {
namespace {

constexpr std::size_t kMaxAnswerBytes = std::size_t{64} << 20;
constexpr std::chrono::seconds kAnswerTime{60};

std::string without_label(std::string text) {
  constexpr std::string_view kLabel = "trainwarden: error: ";
  if (const std::size_t label = text.rfind(kLabel); label != std::string::npos) text.erase(0, label + kLabel.size());
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

// Who asks over a network gets an answer, and no warnings beside it.
void log_warnings(const std::string& command, const std::string& errors) {
  constexpr std::string_view kLabel = "trainwarden: warning: ";
  for (const std::string& line : split_list(errors, '\n')) {
    if (line.starts_with(kLabel)) log(LogLevel::kWarning, "{}: {}", command, line.substr(kLabel.size()));
  }
}

// Exit codes are fewer than codes; its words are the same in all its commands.
Code code_of(int exit_code, std::string_view message) {
  if (exit_code == kExitUsage) return Code::kInvalidArgument;
  if (message.starts_with("there is no")) return Code::kNotFound;
  return message.find(" already") != std::string_view::npos ? Code::kAlreadyExists : Code::kFailedPrecondition;
}

}  // namespace

Result<format::Json> ask_own_program(const std::vector<std::string>& words,
                                     const process::EnvironmentChanges& environment, const std::string& input) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const FileDescriptor reads, process::open_memory_file(input));
  process::Program program;
  program.descriptors[STDIN_FILENO] = reads.get();
  program.command = {this_program().string()};
  const auto end = std::find(words.begin(), words.end(), "--");
  program.command.insert(program.command.end(), words.begin(), end);
  program.command.emplace_back("--json");
  program.command.insert(program.command.end(), end, words.end());
  program.environment = environment;
  program.signals = process::SignalStart::all_default();
  TRAINWARDEN_ASSIGN_OR_RETURN(const process::CapturedOutput output,
                               process::capture_output(std::move(program), kMaxAnswerBytes, kAnswerTime));
  log_warnings(words.front(), output.errors);
  const int code = output.exit.shell_code();
  if (code == kExitFine) return format::parse_json_object(output.text, fmt::format("the answer to {}", words.front()));
  const std::string message = without_label(output.errors);
  return Status(code_of(code, message), message);
}

}  // namespace trainwarden::cli
