// `trainwarden catalogue`: what makes lists quick.
#include "work/catalogue/catalogue.h"

#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/catalogue_choice.h"
#include "ui/cli/options/experiment_choice.h"
#include "ui/cli/options/job_choice.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {
namespace {

struct CatalogueRebuildOptions {
  std::string jobs;
  std::string experiments;
  bool json = false;
};

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
  if (options.json) {
    print_json({{"catalogue", folder.string()}, {"jobs", all->size()}, {"experiments", found->size()}});
  } else {
    emit("made {} anew: {} jobs, {} experiments\n", folder.string(), all->size(), found->size());
  }
  return kExitFine;
}

void add_rebuild(CLI::App& catalogue, CommandAction& action) {
  auto options = std::make_shared<CatalogueRebuildOptions>();
  CatalogueRebuildOptions& o = *options;
  CLI::App& command =
      add_command(catalogue, "rebuild", "Throw the catalogue away and read the folders anew", options, action, act);
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
