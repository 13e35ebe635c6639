#include "react/actions/exec_action.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/handler_variables.h"
#include "core/base/text.h"
#include "react/actions/command_words.h"
#include "react/actions/handler_process.h"
#include "react/actions/kept_handler.h"
#include "react/actions/prepared.h"

namespace trainwarden::actions {
namespace {

constexpr int kTryAgainCode = 75;  // EX_TEMPFAIL of sysexits.h
constexpr std::int64_t kMostMib = 1 << 20;

std::string file_name(const std::string& path) {
  return printable(std::filesystem::path(path).filename().string());
}

// Of "python3 -u handler.py --token x" the part that nobody hides anything in: "python3"; of "python3 handler.py" the
// script, which says more.
std::string place_of(const std::vector<std::string>& command) {
  constexpr std::array<std::string_view, 6> kInterpreters{"python", "bash", "sh", "perl", "ruby", "node"};
  const std::string program = file_name(command[0]);
  for (const std::string_view interpreter : kInterpreters) {
    if (!program.starts_with(interpreter) || command.size() < 2) continue;
    std::error_code none;
    if (std::filesystem::is_regular_file(command[1], none)) return file_name(command[1]);
  }
  return program;
}

std::map<std::string, std::string> environment_of(const std::string& run_name, const std::string& run) {
  return {{"JOB_NAME", run_name}, {variable::kRun, run_name}, {variable::kRunPath, run}};
}

std::map<std::string, std::string> environment_of(const EventNotice& notice) {
  std::map<std::string, std::string> environment = environment_of(notice.run_name, notice.run.string());
  environment.merge(std::map<std::string, std::string>{
      {variable::kEventId, notice.event_id},
      {variable::kEventKey, notice.key},
      {variable::kEventType, notice.type},
      {variable::kRule, notice.rule},
      {variable::kStep, notice.global_step < 0 ? "" : std::to_string(notice.global_step)},
      {variable::kAttempt, std::to_string(notice.attempt)},
  });
  return environment;
}

// Sent from outside, by a machine that goes down or runs out of memory; the others are the program's own crashes.
bool is_passing(int signal_number) {
  return signal_number == SIGTERM || signal_number == SIGKILL || signal_number == SIGINT || signal_number == SIGHUP;
}

// Written to be kept: it answers line by line when the environment asks for it.
bool answers_lines(const std::vector<std::string>& command) {
  return std::find(command.begin(), command.end(), "trainwarden.lambda_handler") != command.end();
}

class ExecAction final : public Action, public Prepared {
 public:
  ExecAction(ExecOptions options, const RunContext& run)
      : options_(std::move(options)), place_(place_of(options_.command)) {
    if (!options_.keep) return;
    HandlerOptions handler = handler_options();
    handler.environment = environment_of(run.name, run.path.string());
    kept_ = std::make_unique<KeptHandler>(std::move(handler));
  }

  std::string_view name() const override { return "exec"; }
  std::string place() const override { return place_; }

  ActionOutcome run(const EventNotice& notice, std::stop_token stop) override {
    const auto end = hand_over(notice, stop);
    if (end.ok()) return outcome_of(*end);
    const bool passing = end.status().code() == Code::kUnavailable;
    return passing ? ActionOutcome::try_again(end.status()) : ActionOutcome::give_up(end.status());
  }

  // A program that cannot be started says so at the first event.
  void prepare() override {
    if (kept_ != nullptr) static_cast<void>(kept_->prepare());
  }

 private:
  HandlerOptions handler_options() const {
    return {.command = options_.command,
            .input = {},
            .environment = {},
            .folder = options_.folder,
            .timeout = options_.timeout,
            .kill_after = options_.kill_after,
            .memory_bytes = options_.memory_bytes,
            .nice = options_.nice};
  }

  Result<HandlerEnd> hand_over(const EventNotice& notice, const std::stop_token& stop) {
    if (kept_ != nullptr) return kept_->send(notice.document, environment_of(notice), stop);
    HandlerOptions handler = handler_options();
    handler.input = notice.document;
    handler.environment = environment_of(notice);
    return run_handler(handler, stop);
  }

  ActionOutcome outcome_of(const HandlerEnd& end) const {
    switch (end.how) {
      case HandlerEnd::How::kExited: return outcome_of_exit(end);
      case HandlerEnd::How::kSignalled: {
        const std::string answer = fmt::format("signal {} ({})", end.number, ::strsignal(end.number));
        Status status = failed(Code::kAborted, "was ended by " + answer, end);
        return is_passing(end.number) ? ActionOutcome::try_again(std::move(status), answer)
                                      : ActionOutcome::give_up(std::move(status), answer);
      }
      case HandlerEnd::How::kTimedOut: {
        const auto limit = format_duration_ns(std::chrono::nanoseconds(options_.timeout).count());
        return ActionOutcome::try_again(
            failed(Code::kDeadlineExceeded, fmt::format("took longer than {} and was ended", limit), end), "too slow");
      }
      case HandlerEnd::How::kCancelled:
        return ActionOutcome::try_again(failed(Code::kCancelled, "was ended, as who delivers is to leave", end));
      case HandlerEnd::How::kUnknown: break;
    }
    return ActionOutcome::give_up(
        failed(Code::kUnknown,
               "has ended, but its exit code is lost: this process ignores SIGCHLD, or reaps children of others", end));
  }

  ActionOutcome outcome_of_exit(const HandlerEnd& end) const {
    std::string answer = fmt::format("exit code {}", end.number);
    if (end.number == 0) return ActionOutcome::done(end.output.empty() ? answer : answer + ": " + end.output);
    Status status = failed(Code::kAborted, "ended with " + answer, end);
    return end.number == kTryAgainCode ? ActionOutcome::try_again(std::move(status), std::move(answer))
                                       : ActionOutcome::give_up(std::move(status), std::move(answer));
  }

  Status failed(Code code, const std::string& what, const HandlerEnd& end) const {
    const std::string words = end.output.empty() ? "" : "; the last that it wrote: " + end.output;
    return Status(code, fmt::format("{} {}{}", place_, what, words));
  }

  const ExecOptions options_;
  const std::string place_;
  std::unique_ptr<KeptHandler> kept_;  // null: each event has a process of its own
};

Result<std::unique_ptr<Action>> create_exec(ActionParameters& parameters, const RunContext& run) {
  ExecOptions options;
  options.command = parameters.list("command");
  options.folder = parameters.text("folder");
  options.timeout = parameters.duration("timeout", options.timeout);
  options.kill_after = parameters.duration("kill_after", options.kill_after);
  options.memory_bytes = static_cast<std::uint64_t>(parameters.integer("memory_mib", 0, 0, kMostMib)) << 20;
  options.nice = static_cast<int>(parameters.integer("nice", 0, 0, 19));
  const std::string keep = parameters.choice("keep", "auto", {"auto", "true", "false"});
  TRAINWARDEN_RETURN_IF_ERROR(parameters.status());
  if (options.command.size() <= 1) {
    TRAINWARDEN_ASSIGN_OR_RETURN(options.command,
                                 split_command(options.command.empty() ? "" : options.command.front()));
  }
  if (options.command.front().empty()) {
    return Status(Code::kInvalidArgument, "command: expected a program as its first word, found an empty one");
  }
  options.keep = keep == "true" || (keep == "auto" && answers_lines(options.command));
  return make_exec_action(std::move(options), run);
}

}  // namespace

std::unique_ptr<Action> make_exec_action(ExecOptions options, const RunContext& run) {
  return std::make_unique<ExecAction>(std::move(options), run);
}

const ActionKind& exec_kind() {
  static const ActionKind kind{
      .name = "exec",
      .summary = "Starts a program of yours and gives it the event on its standard input.",
      .parameters =
          {{.name = "command",
            .default_value = "",
            .description =
                "The program and its arguments: a list, or one text that is taken apart as a shell would. No shell "
                "runs it: no pipes, variables or patterns. The program is looked up in PATH.",
            .required = true},
           {"keep", "auto",
            "true: one process gets all events, a line of JSON each (docs/reference/actions.md), so that none "
            "waits "
            "for its start; false: each event starts one; auto: true for trainwarden.lambda_handler."},
           {"folder", "", "The folder it works in. Without it, the one that trainwarden was started in."},
           {"timeout", "60s", "It is ended, with what it has started, when it takes longer, and is tried again."},
           {"kill_after", "5s", "How long it has between SIGTERM and SIGKILL then."},
           {"memory_mib", "0", "Address space that each of its processes may have, in MiB; 0: no limit."},
           {"nice", "0", "From 1 to 19: how much less than trainwarden it is to get of busy processors."}},
      .create = create_exec};
  return kind;
}

}  // namespace trainwarden::actions
