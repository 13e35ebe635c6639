// `trainwarden job ls`.
#include <algorithm>

#include "core/base/clock.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/job_commands.h"
#include "ui/cli/options/catalogue_choice.h"
#include "ui/cli/options/job_choice.h"
#include "ui/cli/options/list_options.h"
#include "ui/cli/reports/job_view.h"
#include "ui/cli/running/job_keeper.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "work/experiments/run_metrics.h"
#include "work/queue/job_queue.h"

namespace trainwarden::cli {
namespace {

struct JobLsOptions {
  std::string jobs;
  std::string array;
  ListChoice choice;
  bool names_only = false;
  bool json = false;
};

bool has_job(const std::vector<jobs::JobRecord>& jobs, const std::string& name) {
  return std::any_of(jobs.begin(), jobs.end(), [&](const jobs::JobRecord& job) { return job.order().name == name; });
}

// Those of the folder, or of the array alone.
Result<std::vector<catalogue::CataloguedJob>> read_jobs(catalogue::Catalogue& catalogue, const storage::Location& jobs,
                                                        const std::string& array) {
  auto all = catalogue.jobs(jobs, settle_now());
  report_notes(catalogue);
  if (!all.ok() || array.empty()) return all;
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto members, jobs_of_array(jobs, array));
  std::erase_if(*all, [&](const catalogue::CataloguedJob& job) { return !has_job(members, job.name); });
  return all;
}

Result<std::vector<ListItem>> items_of(catalogue::Catalogue& catalogue, const storage::Location& folder,
                                       const std::vector<catalogue::CataloguedJob>& jobs, const ListChoice& choice) {
  std::vector<ListItem> items;
  for (const catalogue::CataloguedJob& job : jobs) items.push_back(list_item_of(job));
  if (!catalogue::needs_metrics(items, choice)) return items;
  TRAINWARDEN_ASSIGN_OR_RETURN(auto metrics, catalogue.metrics_of_jobs(folder, jobs, experiments::metrics_of_run));
  for (ListItem& item : items) item.metrics = std::move(metrics.of[item.name]);
  return items;
}

void print_jobs(const std::vector<catalogue::CataloguedJob>& jobs, const std::vector<ListItem>& items,
                const std::vector<std::size_t>& places, const JobLsOptions& options) {
  const std::vector<std::string>& columns = options.choice.columns;
  if (options.json) {
    OrderedJson list = OrderedJson::array();
    for (const std::size_t place : places) {
      list.push_back(row_json(jobs[place], items[place]));
      if (!columns.empty()) list.back()["columns"] = column_json(items[place], columns);
    }
    print_json({{"jobs", list}});
    return;
  }
  JobTable table(columns);
  for (const std::size_t place : places) table.add(jobs[place], items[place]);
  emit("{}", Lines{table.to_string()});
}

ListChoice with_job_statuses(ListChoice choice) {
  choice.known_statuses = jobs::status_words();
  choice.known_statuses.emplace_back(kUnreadable);
  return choice;
}

int list_job_names(const storage::Location& jobs) {
  const auto names = jobs::JobRecord::list(jobs);
  if (!names.ok()) return report_error(names.status());
  for (const std::string& name : *names) emit("{}\n", name);
  return kExitFine;
}

int act(const JobLsOptions& options) {
  const storage::Location jobs(jobs_folder(options.jobs));
  if (options.names_only) return list_job_names(jobs);
  try_ensure_job_keeper(jobs.path());
  auto catalogue = catalogue::Catalogue::open(catalogue_folder(jobs.path()));
  if (!catalogue.ok()) return report_error(catalogue.status());
  auto all = read_jobs(*catalogue, jobs, options.array);
  if (!all.ok()) return report_error(all.status());
  const auto reasons = queue::JobQueue(jobs.path(), queue::this_host()).reasons();
  for (catalogue::CataloguedJob& job : *all) add_reason(job.now, reasons, job.name);
  const auto items = items_of(*catalogue, jobs, *all, options.choice);
  if (!items.ok()) return report_error(items.status());
  const auto places = choose(*items, with_job_statuses(options.choice), system_clock().unix_ns());
  if (!places.ok()) return report_error(places.status());
  if (all->empty() && !options.json) {
    emit("no jobs in {}\n", jobs.address());
  } else {
    print_jobs(*all, *items, *places, options);
  }
  return kExitFine;
}

}  // namespace

void add_job_ls(CLI::App& job, CommandAction& action) {
  auto options = std::make_shared<JobLsOptions>();
  JobLsOptions& o = *options;
  CLI::App& command = add_command(job, "ls", "List the jobs, the newest first", options, action, act);
  add_jobs_option(command, o.jobs);
  add_list_options(command, o.choice);
  command.add_option("--experiment", o.choice.experiment, "Only those of this experiment")->type_name("NAME");
  add_array_option(command, o.array);
  command.add_flag("--names", o.names_only, "Names only, one a line");
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden job ls", "trainwarden job ls --status Failed --since 2d",
                         "trainwarden job ls --columns lr,loss,acc.max --sort loss",
                         "trainwarden job ls --filter 'lr > 0.01' --filter 'loss < 2'",
                         "trainwarden job ls --array sweep", "trainwarden job ls --json | jq -r '.jobs[].name'"});
}

}  // namespace trainwarden::cli
