// `trainwarden study importance`: how much each parameter mattered.
#include "ui/views/study_importance.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/study_commands.h"
#include "ui/cli/options/study_choice.h"
#include "ui/cli/reports/importance_text.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {
namespace {

struct StudyImportanceOptions {
  StudyChoice study;
  std::string metric;
  bool json = false;
};

int act(const StudyImportanceOptions& options) {
  const auto study = options.study.open();
  if (!study.ok()) return report_error(study.status());
  if (options.json) {
    const auto json = views::importance_json(*study, options.metric);
    if (!json.ok()) return report_error(json.status());
    print_json(*json);
    return kExitFine;
  }
  const auto metric = views::importance_metric(*study, options.metric);
  if (!metric.ok()) return report_error(metric.status());
  const tune::StudyImportance found = tune::importance_of(study->state().history(), *metric);
  emit("{}", Lines{importance_text(*study, *metric, found, terminal_of(stdout))});
  return kExitFine;
}

}  // namespace

void add_study_importance(CLI::App& study, CommandAction& action) {
  auto options = std::make_shared<StudyImportanceOptions>();
  StudyImportanceOptions& o = *options;
  CLI::App& command = add_command(study, "importance", "Show how much each parameter mattered, and how sure that is",
                                  options, action, act);
  add_study_choice(command, o.study);
  command.add_option("--metric", o.metric, "For this metric (default: the first that is optimized)")->type_name("NAME");
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden study importance squad", "trainwarden study importance squad --metric f1",
                         "trainwarden study importance squad --json | jq .fanova.r2"});
}

}  // namespace trainwarden::cli
