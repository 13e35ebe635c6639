// `trainwarden save`: asks a training for a checkpoint and for what its black box holds.

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

SaveRequestOptions request_of(const ControlOptions& options, const std::string& run) {
  SaveRequestOptions request;
  if (!options.reason.empty()) request.reason = options.reason;
  request.requested_by = requested_by();
  request.key = options.key;
  request.wait = options.wait;
  request.timeout = options.timeout;
  request.idle = waiting_line(run + " to save");
  return request;
}

OrderedJson place_json(bool there, const std::string& place) {
  return there ? OrderedJson(place) : OrderedJson(nullptr);
}

void print_as_json(const std::filesystem::path& run, const SaveAnswer& answer) {
  print_json({{"run", run_name(run)},
              {"path", run.string()},
              {"key", answer.key},
              {"saved", answer.saved},
              {"checkpoint", place_json(answer.saved, answer.checkpoint)},
              {"black_box", place_json(answer.dumped, answer.black_box)},
              {"message", answer.story}});
}

int act(const ControlOptions& options) {
  const auto run = options.run.locate();
  if (!run.ok()) return report_error(run.status());
  const auto answer = request_save(*run, request_of(options, run_name(*run)));
  if (!answer.ok()) return report_error(answer.status().with_context(printable(run_name(*run))));
  if (options.json) {
    print_as_json(*run, *answer);
  } else {
    emit("{}: {}\n", run_name(*run), answer->story);
  }
  return kExitFine;
}

}  // namespace

void add_save(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<ControlOptions>();
  options->timeout = SaveRequestOptions().timeout;
  ControlOptions& o = *options;
  CLI::App& command =
      add_command(app, "save", "Ask a training for a checkpoint and what its black box holds", options, action, act);
  command.group(kTrainGroup);
  add_control_options(command, o, "both to be written");
  set_examples(command,
               {"trainwarden save first", "trainwarden save first --reason 'before the maintenance' --timeout 10m",
                "trainwarden save first --json | jq -r .checkpoint"});
}

}  // namespace trainwarden::cli
