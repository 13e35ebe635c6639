// `trainwarden catalogue`: what makes lists quick.
#include "work/catalogue/catalogue.h"

#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/catalogue_choice.h"
#include "ui/cli/options/experiment_choice.h"
#include "ui/cli/options/job_choice.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/reports/run_list.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {
namespace {

struct CatalogueRebuildOptions {
  std::string runs;
  std::string jobs;
  std::string experiments;
  bool json = false;
};

// None when there is no such folder.
Result<std::size_t> rebuild_runs(catalogue::Catalogue& catalogue, const storage::Location& folder) {
  const auto runs = catalogue.runs(folder, read_listed_run);
  if (runs.status().code() == Code::kNotFound) return std::size_t{0};
  if (!runs.ok()) return runs.status();
  return runs->size();
}

int act(const CatalogueRebuildOptions& options) {
  const storage::Location jobs(jobs_folder(options.jobs));
  const std::filesystem::path folder = catalogue_folder(jobs.path());
  auto catalogue = catalogue::Catalogue::make_anew(folder);
  if (!catalogue.ok()) return report_error(catalogue.status());
  report_notes(*catalogue);
  const auto all = catalogue->jobs(jobs, settle_now());
  if (!all.ok()) return report_error(all.status());
  const experiments::ExperimentStore store(experiments_folder(options.experiments));
  const auto found = catalogue->experiments(store);
  if (!found.ok()) return report_error(found.status());
  const auto runs = rebuild_runs(*catalogue, runs_folder(options.runs));
  if (!runs.ok()) return report_error(runs.status());
  if (options.json) {
    print_json(
        {{"catalogue", folder.string()}, {"jobs", all->size()}, {"experiments", found->size()}, {"runs", *runs}});
  } else {
    emit("made {} anew: {} jobs, {} experiments, {} runs\n", folder.string(), all->size(), found->size(), *runs);
  }
  return kExitFine;
}

void add_rebuild(CLI::App& catalogue, CommandAction& action) {
  auto options = std::make_shared<CatalogueRebuildOptions>();
  CatalogueRebuildOptions& o = *options;
  CLI::App& command =
      add_command(catalogue, "rebuild", "Throw the catalogue away and read the folders anew", options, action, act);
  add_runs_option(command, o.runs);
  add_jobs_option(command, o.jobs);
  add_experiments_option(command, o.experiments);
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden catalogue rebuild"});
}

}  // namespace

void add_catalogue(CLI::App& app, CommandAction& action) {
  CLI::App& command = add_subcommand(app, "catalogue", "Make the tables anew that lists are read from", [] {});
  command.group(kHelpGroup);
  command.require_subcommand(1);
  add_rebuild(command, action);
}

}  // namespace trainwarden::cli
