#include "work/slurm/slurm_commands.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "core/base/text.h"
#include "core/process/captured_output.h"

namespace trainwarden::slurm {
namespace {

constexpr std::array<std::string_view, 5> kTools = {"sbatch", "squeue", "scontrol", "scancel", "sacct"};
// More than squeue prints of ten thousand jobs.
constexpr std::size_t kMaxAnswerBytes = std::size_t{64} << 20;
constexpr std::size_t kMaxWords = 2000;

// What Slurm's programs say when they have not reached the controller, or not heard of it again.
constexpr std::array<std::string_view, 11> kPassing = {"contact slurm controller",
                                                       "timed out",
                                                       "zero bytes were transmitted",
                                                       "connection refused",
                                                       "connection reset",
                                                       "transport endpoint",
                                                       "missing socket error",
                                                       "resource temporarily unavailable",
                                                       "in standby mode",
                                                       "munge encode failed",
                                                       "protocol authentication error"};

std::string find_tool(std::string_view tool, const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    const std::filesystem::path path = std::filesystem::path(folder) / tool;
    std::error_code ignored;
    if (path.is_absolute() && std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0) {
      return path.string();
    }
  }
  return "";
}

// Its last line, without "sbatch: error: " in front.
std::string said(SlurmTool tool, std::string_view errors) {
  const std::vector<std::string> lines = split_list(errors.substr(0, kMaxWords), '\n');
  if (lines.empty()) return fmt::format("{}: it has failed and does not say why", name(tool));
  std::string_view line = lines.back();
  for (const std::string& head : {fmt::format("{}: ", name(tool)), std::string("error: ")}) {
    if (line.starts_with(head)) line.remove_prefix(head.size());
  }
  return fmt::format("{}: {}", name(tool), printable(line));
}

}  // namespace

std::string_view name(SlurmTool tool) {
  return kTools[static_cast<std::size_t>(tool)];
}

Status refusal(SlurmTool tool, std::string_view errors) {
  const std::string words = lower(errors);
  const auto contains = [&words](std::string_view part) { return words.find(part) != std::string::npos; };
  if (std::any_of(kPassing.begin(), kPassing.end(), contains)) {
    return {Code::kUnavailable, said(tool, errors) + "; it may answer later"};
  }
  // Of a job that ended just before it was signalled scancel has nothing to say, and yet it fails.
  const bool is_of_ended_job = tool == SlurmTool::kScancel && trim(errors).empty();
  if (is_of_ended_job || contains("invalid job id")) return {Code::kNotFound, said(tool, errors)};
  return {Code::kInvalidArgument, said(tool, errors)};
}

Result<SlurmCommands> SlurmCommands::find(std::string_view path) {
  const std::vector<std::string> folders = split_list(path, ':');
  SlurmCommands commands;
  for (std::size_t i = 0; i < kTools.size(); ++i) {
    commands.paths_[i] = find_tool(kTools[i], folders);
    if (commands.paths_[i].empty() && static_cast<SlurmTool>(i) != SlurmTool::kSacct) {
      return Status(Code::kNotFound,
                    fmt::format("{} is not in PATH; run this where jobs are submitted to Slurm", kTools[i]));
    }
  }
  return commands;
}

Result<SlurmCommands> SlurmCommands::find() {
  const char* path = std::getenv("PATH");
  return find(path != nullptr ? path : "");
}

Result<std::string> SlurmCommands::run(SlurmTool tool, const std::vector<std::string>& arguments,
                                       std::chrono::milliseconds timeout) const {
  process::Program program;
  program.command = {paths_[static_cast<std::size_t>(tool)]};
  if (program.command.front().empty()) {
    return Status(Code::kUnimplemented, fmt::format("there is no {} on this machine", name(tool)));
  }
  program.command.insert(program.command.end(), arguments.begin(), arguments.end());
  program.environment.set["LC_ALL"] = "C";  // its words are compared
  program.signals = process::SignalStart::all_default();
  program.ends_with_us = true;
  Result<process::CapturedOutput> answer = process::capture_output(program, kMaxAnswerBytes, timeout);
  if (!answer.ok()) {
    return Status(Code::kUnavailable,
                  fmt::format("nobody knows what {} has done: {}", name(tool), answer.status().message()));
  }
  if (answer->exit.how != process::ExitRecord::How::kExited) {
    return Status(Code::kUnavailable,
                  fmt::format("nobody knows what {} has done: it did not end by itself", name(tool)));
  }
  if (answer->exit.number != 0) return refusal(tool, answer->errors);
  if (answer->text.size() >= kMaxAnswerBytes) {
    return Status(Code::kResourceExhausted, fmt::format("{} has printed more than 64 MiB", name(tool)));
  }
  return std::move(answer->text);
}

Result<std::string> config_value(const SlurmCommands& commands, std::string_view field) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string config, commands.run(SlurmTool::kScontrol, {"show", "config"}));
  // "JobCompLoc              = /var/log/slurm/jobcomp.log"
  for (const std::string& line : split_list(config, '\n')) {
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos && trim(std::string_view(line).substr(0, equals)) == field) {
      return std::string(trim(std::string_view(line).substr(equals + 1)));
    }
  }
  return std::string();
}

}  // namespace trainwarden::slurm
