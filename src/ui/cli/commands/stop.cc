// `trainwarden stop`: asks a training to stop at the end of its step.
#include <map>

#include "core/base/text.h"
#include "trainwarden/control.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/control_options.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {
namespace {

using Then = StopRequestOptions::Then;

struct StopCommandOptions : ControlOptions {
  Then then = Then::kNothing;
  std::chrono::milliseconds term_grace = StopRequestOptions().term_grace;
  std::string if_status;
};

StopRequestOptions request_of(const StopCommandOptions& options, const std::string& run) {
  StopRequestOptions request;
  if (!options.reason.empty()) request.reason = options.reason;
  request.requested_by = requested_by();
  request.key = options.key;
  request.if_status = options.if_status;
  request.wait = options.wait;
  request.timeout = options.timeout;
  request.then = options.then;
  request.term_grace = options.term_grace;
  request.idle = waiting_line(run + " to stop");
  return request;
}

void print_as_json(const std::filesystem::path& run, const StopAnswer& answer) {
  print_json({{"run", run_name(run)},
              {"path", run.string()},
              {"key", answer.key},
              {"status_before", answer.status_before},
              {"already", answer.already},
              {"accepted", answer.accepted},
              {"ended", answer.ended},
              {"message", answer.story}});
}

// "first: the training has answered and stops; it has ended"
void print_for_people(const std::filesystem::path& run, const StopAnswer& answer, bool waited) {
  std::string text = answer.story;
  if (answer.ended && !answer.already && text.find("it has ended") == std::string::npos) text += "; it has ended";
  if (!answer.ended && waited) text += "; it has not ended yet";
  emit("{}: {}\n", run_name(run), text);
}

int act(const StopCommandOptions& options) {
  const auto run = options.run.locate();
  if (!run.ok()) return report_error(run.status());
  const auto answer = request_stop(*run, request_of(options, run_name(*run)));
  if (!answer.ok()) return report_error(answer.status().with_context(printable(run_name(*run))));
  if (options.json) {
    print_as_json(*run, *answer);
  } else {
    print_for_people(*run, *answer, options.wait);
  }
  return kExitFine;
}

}  // namespace

void add_stop(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<StopCommandOptions>();
  options->timeout = StopRequestOptions().timeout;
  StopCommandOptions& o = *options;
  CLI::App& command = add_command(app, "stop", "Ask a training to stop at the end of its step", options, action, act);
  command.group(kTrainGroup);
  add_control_options(command, o, "its answer, and for its end while there is time");
  const std::map<std::string, Then> then{{"nothing", Then::kNothing}, {"term", Then::kTerm}, {"kill", Then::kKill}};
  command
      .add_option("--then", o.then,
                  "When it has not answered in time: nothing (the default; the request stays), term (SIGTERM to its "
                  "processes on this machine), kill (SIGKILL after that)")
      ->type_name("WHAT")
      ->transform(CLI::CheckedTransformer(then).description(""));
  add_duration_option(command, "--term-grace", o.term_grace,
                      "With --then: how long it has after its answer until SIGTERM, and from there until SIGKILL");
  command
      .add_option("--if-status", o.if_status,
                  "Only when the run has this status; else one that is stopping or has ended is fine")
      ->type_name("STATUS")
      ->check(CLI::IsMember({"InProgress", "Stopping", "Stopped", "Completed", "Failed"}));
  set_examples(command, {"trainwarden stop first --reason 'the loss is flat'",
                         "trainwarden stop first --then kill --timeout 30s --term-grace 2m",
                         "trainwarden stop first --if-status InProgress --json | jq .ended"});
}

}  // namespace trainwarden::cli
