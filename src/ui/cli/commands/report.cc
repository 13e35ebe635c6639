// `trainwarden report`: where the time of a run went and what to do about it, as one file for people and one for
// programs.
#include <filesystem>

#include <fmt/format.h>

#include "core/base/text.h"
#include "ui/answers/profile_document.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/running/report_files.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {
namespace {

struct ReportOptions {
  RunChoice run;
  std::string out;
  std::string against;
  bool json = false;
};

Result<std::optional<storage::Location>> other_run(const ReportOptions& options) {
  if (options.against.empty()) return std::optional<storage::Location>();
  const RunChoice choice{options.against, options.run.runs};
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto located, choice.locate());
  return std::optional<storage::Location>(located);
}

int print_document(const std::filesystem::path& run, const std::optional<storage::Location>& against) {
  const auto document = answers::profile_document(run, against);
  if (!document.ok()) return report_error(document.status());
  print_json_text(*document);
  return kExitFine;
}

int act(const ReportOptions& options) {
  const auto run = options.run.locate();
  if (!run.ok()) return report_error(run.status());
  const auto against = other_run(options);
  if (!against.ok()) return report_error(against.status());
  if (options.json && options.out.empty()) return print_document(*run, *against);
  const std::string out = options.out.empty() ? run_name(*run) + "-report.html" : options.out;
  const auto written = write_report_files(*run, out, *against);
  if (!written.ok()) return report_error(written.status());
  if (options.json) {
    print_json({{"out", written->page.string()},
                {"bytes", written->page_bytes},
                {"json", written->document.string()},
                {"json_bytes", written->document_bytes},
                {"verdict", written->verdict}});
    return kExitFine;
  }
  emit("{}\n{}: {}, opens in any browser without a network; {} has the same for programs\n", written->verdict,
       written->page.string(), format_bytes(written->page_bytes), written->document.string());
  return kExitFine;
}

}  // namespace

void add_report(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<ReportOptions>();
  ReportOptions& o = *options;
  CLI::App& command =
      add_command(app, "report", "Say where the time of a run went, in one file to look at", options, action, act);
  command.group(kLookGroup);
  add_run_choice(command, o.run);
  command
      .add_option("-o,--out", o.out,
                  "The file (default: RUN-report.html in the working folder); beside it the same ends in .json")
      ->type_name("FILE");
  command.add_option("--against", o.against, "Compare with this run")->type_name("RUN");
  command.add_flag("--json", o.json,
                   "Print the document alone and write no file; with -o say what was written as JSON");
  set_examples(command, {"trainwarden report first", "trainwarden report second --against first -o second.html",
                         "trainwarden report first --json | jq .verdict"});
}

}  // namespace trainwarden::cli
