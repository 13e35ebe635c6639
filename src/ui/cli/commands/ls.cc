// `trainwarden ls`: the runs there are.
#include "core/base/clock.h"
#include "read/trial/run_listing.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/catalogue_choice.h"
#include "ui/cli/options/list_options.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/reports/run_list.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "work/experiments/run_metrics.h"

namespace trainwarden::cli {
namespace {

struct LsOptions {
  std::string runs;
  ListChoice choice;
  bool names_only = false;
  bool json = false;
};

struct ListedRuns {
  std::vector<catalogue::CataloguedRun> runs;
  std::vector<ListItem> items;
};

Result<ListedRuns> read_listed_runs(const storage::Location& folder, const ListChoice& choice) {
  TRAINWARDEN_RETURN_IF_ERROR(trial::list_folders(folder).status());  // else there is nothing to lay a catalogue beside
  TRAINWARDEN_ASSIGN_OR_RETURN(auto catalogue, catalogue::Catalogue::open(catalogue_folder(folder.path())));
  ListedRuns listed;
  auto runs = catalogue.runs(folder, read_listed_run);
  report_notes(catalogue);
  if (!runs.ok()) return runs.status();
  listed.runs = *std::move(runs);
  for (const catalogue::CataloguedRun& run : listed.runs) listed.items.push_back(list_item_of(run));
  if (!catalogue::needs_metrics(listed.items, choice)) return listed;
  TRAINWARDEN_ASSIGN_OR_RETURN(auto metrics,
                               catalogue.metrics_of_runs(folder, listed.runs, experiments::metrics_of_run));
  for (ListItem& item : listed.items) item.metrics = std::move(metrics.of[item.name]);
  return listed;
}

OrderedJson list_json(const ListedRuns& listed, const std::vector<std::size_t>& places, const storage::Location& folder,
                      const std::vector<std::string>& columns) {
  OrderedJson list = OrderedJson::array();
  for (const std::size_t place : places) {
    list.push_back(row_json(listed.runs[place], folder));
    if (!columns.empty()) list.back()["columns"] = column_json(listed.items[place], columns);
  }
  return {{"folder", folder.address()}, {"runs", list}};
}

ListChoice with_run_statuses(ListChoice choice) {
  choice.known_statuses = run_status_words();
  return choice;
}

int list_names(const storage::Location& folder) {
  const auto names = trial::list_runs(folder);
  if (!names.ok()) return report_error(names.status());
  for (const std::string& name : *names) emit("{}\n", name);
  return kExitFine;
}

int act(const LsOptions& options) {
  const storage::Location folder(runs_folder(options.runs));
  if (options.names_only) return list_names(folder);
  const auto listed = read_listed_runs(folder, options.choice);
  if (!listed.ok()) return report_error(listed.status());
  const auto places = choose(listed->items, with_run_statuses(options.choice), system_clock().unix_ns());
  if (!places.ok()) return report_error(places.status());
  if (options.json) {
    print_json(list_json(*listed, *places, folder, options.choice.columns));
  } else if (listed->runs.empty()) {
    emit("no runs in {} yet; start one with `trainwarden run -- PROGRAM`\n", folder.address());
  } else {
    RunListTable table(options.choice.columns);
    for (const std::size_t place : *places) table.add(listed->runs[place], listed->items[place]);
    emit("{}", Lines{table.to_string()});
  }
  return kExitFine;
}

}  // namespace

void add_ls(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<LsOptions>();
  LsOptions& o = *options;
  CLI::App& command = add_command(app, "ls", "List the runs, the newest first", options, action, act);
  command.group(kLookGroup);
  add_runs_option(command, o.runs);
  add_list_options(command, o.choice);
  command.add_flag("--names", o.names_only, "Names only, one a line");
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden ls", "trainwarden ls --runs /data/runs",
                         "trainwarden ls --since 2d --columns lr,acc.max --sort loss",
                         "trainwarden ls --filter 'lr > 0.01' --filter 'fired = 0'",
                         "trainwarden ls --json | jq -r '.runs[] | select(.rules_fired > 0) | .name'"});
}

}  // namespace trainwarden::cli
