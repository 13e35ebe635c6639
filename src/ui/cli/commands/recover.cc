// `trainwarden recover`: a clean copy of a damaged run.
#include <fmt/format.h>

#include "core/base/text.h"
#include "read/upkeep/recover.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/upkeep_commands.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/status_line.h"
#include "ui/cli/terminal/table.h"

namespace trainwarden::cli {
namespace {

struct RecoverOptions {
  std::string run;
  std::string to;
  std::string runs;
  bool json = false;
};

// A damaged run.json is what the command is for: then RUN is a folder that is no run for others.
Result<std::filesystem::path> damaged_run(const RecoverOptions& options) {
  auto located = locate_run(options.run, runs_folder(options.runs));
  if (located.ok()) return located;
  for (const std::filesystem::path& path :
       {std::filesystem::path(options.run), runs_folder(options.runs) / options.run}) {
    const storage::Location location(path);
    if (location.storage().exists("journal")) return path;
  }
  return located;
}

void print_recovered_as_json(const std::filesystem::path& to, const upkeep::RecoverReport& report) {
  OrderedJson journals = OrderedJson::array();
  for (const upkeep::RecoveredJournal& journal : report.journals) {
    journals.push_back({{"journal", journal.name},
                        {"segments", journal.tally.segments},
                        {"steps", journal.tally.steps},
                        {"records", journal.tally.records},
                        {"frames", journal.tally.frames},
                        {"bytes", journal.tally.bytes}});
  }
  print_json({{"run", run_name(to)},
              {"path", to.string()},
              {"id", report.info.id},
              {"from_id", report.from_id},
              {"journals", journals},
              {"files", report.files},
              {"lost", json_of_copy_notes(report.lost)},
              {"mended", json_of_copy_notes(report.mended)}});
}

void print_recovered(const std::filesystem::path& to, const upkeep::RecoverReport& report) {
  emit("{}  a copy of {}, with the id {}\n", to.string(), report.from_id, report.info.id);
  Table table({{"JOURNAL"},
               {"SEGMENTS", Align::kRight},
               {"STEPS", Align::kRight},
               {"RECORDS", Align::kRight},
               {"FRAMES", Align::kRight},
               {"BYTES", Align::kRight}});
  for (const upkeep::RecoveredJournal& journal : report.journals) {
    const upkeep::CopyTally& tally = journal.tally;
    table.add_row({journal.name, std::to_string(tally.segments), std::to_string(tally.steps),
                   std::to_string(tally.records), std::to_string(tally.frames), format_bytes(tally.bytes)});
  }
  emit("{}", Lines{table.to_string()});
  if (report.files > 0) emit("and {} other file{}\n", report.files, report.files == 1 ? "" : "s");
  if (!report.mended.empty()) {
    emit("\nmade again, nothing lost:\n");
    print_copy_notes(report.mended);
  }
  if (report.lost.empty()) {
    emit("nothing was lost; the original is as it was\n");
    return;
  }
  emit("\nlost:\n");
  print_copy_notes(report.lost);
  emit("the original is as it was\n");
}

int act_recover(const RecoverOptions& options) {
  const auto run = damaged_run(options);
  if (!run.ok()) return report_error(run.status());
  StatusLine line(stderr, terminal_of(stderr));
  upkeep::RecoverPlan plan{storage::Location(*run), new_run_path(options.to, options.runs)};
  if (line.interactive()) plan.progress = [&](const std::string& path) { line.show(fmt::format("copying {}", path)); };
  const auto report = upkeep::recover_run(plan);
  line.clear();
  if (!report.ok()) return report_error(report.status());
  if (options.json) {
    print_recovered_as_json(plan.to, *report);
  } else {
    print_recovered(plan.to, *report);
  }
  return report->lost.empty() ? kExitFine : kExitDataLost;
}

}  // namespace

void add_recover(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<RecoverOptions>();
  RecoverOptions& o = *options;
  CLI::App& command = add_command(app, "recover", "Save what can be read of a damaged run, as a clean copy", options,
                                  action, act_recover);
  command.group(kUpkeepGroup);
  command.add_option("RUN", o.run, "Name of a run, or its path; it is only read")->required()->type_name("");
  command.add_option("TO", o.to, "The copy: a name in the folder of runs, or a path; it must not be there")
      ->required()
      ->type_name("");
  add_runs_option(command, o.runs);
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden recover first first-saved", "trainwarden recover s3://bucket/runs/first ./saved",
                         "trainwarden recover first first-saved --json | jq .lost"});
}

}  // namespace trainwarden::cli
