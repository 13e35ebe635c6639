// `trainwarden job ls`.
#include <algorithm>

#include "core/base/clock.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/job_commands.h"
#include "ui/cli/options/catalogue_choice.h"
#include "ui/cli/options/job_choice.h"
#include "ui/cli/options/list_choice.h"
#include "ui/cli/reports/job_view.h"
#include "ui/cli/running/job_keeper.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "work/queue/job_queue.h"

namespace trainwarden::cli {
namespace {

struct JobLsOptions {
  std::string jobs;
  std::string array;
  ListChoice choice;
  bool json = false;
};

ListItem item_of(const catalogue::CataloguedJob& job) {
  ListItem item;
  item.name = job.name;
  item.experiment = job.experiment;
  item.unix_ns = job.submitted_unix_ns;
  if (!job.unreadable.ok()) {
    item.statuses = {"unreadable"};
  } else {
    item.statuses = {std::string(name(job.now.status)), std::string(name(jobs::status_of(job.now.status)))};
  }
  item.values = list_values(job.hyperparameters);
  return item;
}

bool has_job(const std::vector<jobs::JobRecord>& jobs, const std::string& name) {
  return std::any_of(jobs.begin(), jobs.end(), [&](const jobs::JobRecord& job) { return job.order().name == name; });
}

int act(const JobLsOptions& options) {
  const storage::Location jobs(jobs_folder(options.jobs));
  try_ensure_job_keeper(jobs.path());
  auto catalogue = catalogue::Catalogue::open(catalogue_folder(jobs.path()));
  if (!catalogue.ok()) return report_error(catalogue.status());
  auto all = catalogue->jobs(jobs, settle_now());
  report_notes(*catalogue);
  if (!all.ok()) return report_error(all.status());
  if (!options.array.empty()) {
    const auto members = jobs_of_array(jobs, options.array);
    if (!members.ok()) return report_error(members.status());
    std::erase_if(*all, [&](const catalogue::CataloguedJob& job) { return !has_job(*members, job.name); });
  }
  const auto reasons = queue::JobQueue(jobs.path(), queue::this_host()).reasons();
  for (catalogue::CataloguedJob& job : *all) add_reason(job.now, reasons, job.name);
  std::vector<ListItem> items;
  for (const catalogue::CataloguedJob& job : *all) items.push_back(item_of(job));
  const auto places = choose(items, options.choice, system_clock().unix_ns());
  if (!places.ok()) return report_error(places.status());
  if (options.json) {
    OrderedJson list = OrderedJson::array();
    for (const std::size_t place : *places) list.push_back(row_json((*all)[place], items[place]));
    print_json({{"jobs", list}});
  } else if (all->empty()) {
    emit("no jobs in {}\n", jobs.address());
  } else {
    JobTable table(options.choice.columns);
    for (const std::size_t place : *places) table.add((*all)[place], items[place]);
    emit("{}", Lines{table.to_string()});
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
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden job ls", "trainwarden job ls --status Failed --since 2d",
                         "trainwarden job ls --columns lr,epochs --sort lr", "trainwarden job ls --array sweep",
                         "trainwarden job ls --json | jq -r '.jobs[].name'"});
}

}  // namespace trainwarden::cli
