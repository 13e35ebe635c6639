// `trainwarden submit`: a training job begins, and goes on without us.
#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/clock.h"
#include "core/base/environment_names.h"
#include "core/base/text.h"
#include "core/process/program.h"
#include "read/trial/run_listing.h"
#include "store/storage/location.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/job_commands.h"
#include "ui/cli/options/job_choice.h"
#include "ui/cli/options/output_choice.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/reports/job_view.h"
#include "ui/cli/running/job_backend.h"
#include "ui/cli/running/job_experiment.h"
#include "ui/cli/running/job_keeper.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "work/jobs/job_naming.h"
#include "work/jobs/submitter_environment.h"
#include "work/ranks/rank_place.h"
#include "work/workspace/code_copy.h"

namespace trainwarden::cli {
namespace {

namespace fs = std::filesystem;

struct SubmitOptions {
  std::string spec;
  std::string backend;  // empty: the file's
  std::string name;
  std::string jobs;
  std::string runs;
  bool wait = false;
  bool json = false;
};

// With what was read of it. kInvalidArgument tells every mistake.
Result<CheckedJob> check_for_submission(const SubmitOptions& options, JobBackends& backends) {
  std::optional<jobs::Backend> wanted;
  if (!options.backend.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(wanted, jobs::backend_named(options.backend, "--backend"));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(CheckedJob job, check_job(options.spec, wanted));
  const JobBackend& backend = backends.of(job.spec.backend);
  if (const std::vector<std::string> keys = backend.not_done_yet(job.spec); !keys.empty()) {
    job.mistakes.add(job.spec.place, fmt::format("`submit` cannot do this yet {}: {}; leave it out", backend.where(),
                                                 fmt::join(keys, ", ")));
  }
  for (const jobs::Warning& warning : job.warnings) {
    if (warning.code == "BUCKET") job.mistakes.add(warning.place, warning.what);
  }
  TRAINWARDEN_RETURN_IF_ERROR(job.mistakes.status());
  for (const jobs::Warning& warning : job.warnings) {
    emit(stderr, "trainwarden: warning: {}: {}: {}\n", warning.place, warning.code, warning.what);
  }
  return job;
}

std::string resolved(const CheckedJob& job, const std::string& path) {
  return (job.folder / path).lexically_normal().string();
}

// `trainwarden run` with the job's rules and actions.
std::vector<std::string> launcher_words(const CheckedJob& job, const fs::path& run) {
  const jobs::JobSpec& spec = job.spec;
  std::vector<std::string> words = {this_program().string(), "run", "--tied"};
  const auto add = [&words](const char* option, const std::string& value) {
    words.emplace_back(option);
    words.push_back(value);
  };
  add("--runs", run.parent_path().string());
  add("--name", run.filename().string());
  for (const std::string& rule : spec.rules) add(rule == "default" || rule == "all" ? "--rules" : "--rule", rule);
  if (!spec.actions.empty()) add("--actions", resolved(job, spec.actions));
  if (!spec.hook_config.empty()) add("--config", resolved(job, spec.hook_config));
  for (const auto& [key, value] : spec.tags) add("--label", key + "=" + value);
  const std::vector<std::string> metrics = words_of_job_metrics(spec.metrics);
  words.insert(words.end(), metrics.begin(), metrics.end());
  return words;
}

jobs::Needs needs_of(const jobs::Resources& resources) {
  jobs::Needs needs{resources.cpus, resources.gpus, resources.memory_bytes.value_or(0)};
  if (needs.cpus) *needs.cpus *= resources.tasks_per_node;
  return needs;
}

jobs::JobOrder make_order(const CheckedJob& job, const SubmitOptions& options) {
  const jobs::JobSpec& spec = job.spec;
  jobs::JobOrder order;
  order.submitted_unix_ns = system_clock().unix_ns();
  order.name = options.name;
  if (order.name.empty()) order.name = spec.name;
  if (order.name.empty()) order.name = jobs::make_job_name(spec, order.submitted_unix_ns);
  order.backend = spec.backend;
  const fs::path run = fs::absolute(runs_folder(options.runs)) / order.name;
  order.run = run.string();
  order.launcher = launcher_words(job, run);
  order.program = program_words(spec);
  order.environment = spec.environment;
  order.ranks = ranks::rank_count(spec.resources);
  if (!spec.hook) order.environment[variable::kSwitch] = "0";
  order.folder = job.folder.lexically_normal().string();
  order.needs = needs_of(spec.resources);
  order.priority = spec.priority;
  order.max_run_seconds = spec.limits.max_run_seconds;
  order.max_wait_seconds = spec.limits.max_wait_seconds;
  order.max_pending_seconds = spec.limits.max_pending_seconds;
  order.retries = spec.limits.retries;
  order.preemptible = spec.resources.preemptible;
  order.spec = job.text;
  order.spec_file = fs::absolute(options.spec).string();
  return order;
}

// A copy of the sources has a name of its own: another submission under the same name may be at it. Empty: the program
// runs where it lies.
fs::path code_folder(const CheckedJob& job, const fs::path& jobs, const jobs::JobOrder& order) {
  if (job.spec.source_dir.empty()) return {};
  return jobs / order.name / fmt::format("code-{:x}-{}", order.submitted_unix_ns, ::getpid());
}

Status copy_code(const CheckedJob& job, const fs::path& target) {
  std::vector<fs::path> dependencies;
  for (const std::string& folder : job.spec.dependencies) dependencies.emplace_back(resolved(job, folder));
  return workspace::copy_code(resolved(job, job.spec.source_dir), dependencies, target);
}

// Ours, for the agent, which the keeper of the queue starts; other backends carry it by themselves.
Result<std::string> keep_environment(const fs::path& jobs, const jobs::JobOrder& order) {
  const fs::path folder = jobs / order.name;
  const storage::Location place(folder);
  TRAINWARDEN_RETURN_IF_ERROR(place.storage().create_folder(""));
  const fs::path file = folder / fmt::format("environment-{:x}-{}", order.submitted_unix_ns, ::getpid());
  TRAINWARDEN_RETURN_IF_ERROR(jobs::write_submitter_environment(file, process::environment_with({})));
  return file.string();
}

Result<jobs::JobRecord> create_with_code(const CheckedJob& job, const fs::path& jobs, jobs::JobOrder order) {
  const fs::path code = code_folder(job, jobs, order);
  if (!code.empty()) {
    TRAINWARDEN_RETURN_IF_ERROR(copy_code(job, code));
    order.folder = code.string();
  }
  if (!order.host.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(order.environment_file, keep_environment(jobs, order));
  }
  Result<jobs::JobRecord> record = jobs::JobRecord::create(jobs, order);
  std::error_code ignored;
  if (!record.ok() && !code.empty()) fs::remove_all(code, ignored);
  if (!record.ok() && !order.environment_file.empty()) fs::remove(order.environment_file, ignored);
  return record;
}

// The job, handed to its backend.
Result<jobs::JobRecord> make_job(const CheckedJob& job, const fs::path& folder, jobs::JobOrder order,
                                 JobBackend& backend) {
  TRAINWARDEN_RETURN_IF_ERROR(backend.prepare(job.spec, folder, order));
  TRAINWARDEN_ASSIGN_OR_RETURN(jobs::JobRecord record, create_with_code(job, folder, std::move(order)));
  try_ensure_job_is_told_of(record);
  TRAINWARDEN_RETURN_IF_ERROR(backend.submit(record, job.spec));
  return record;
}

Result<jobs::JobRecord> submit(const SubmitOptions& options) {
  JobBackends backends;
  TRAINWARDEN_ASSIGN_OR_RETURN(const CheckedJob job, check_for_submission(options, backends));
  jobs::JobOrder order = make_order(job, options);
  const fs::path folder = fs::absolute(jobs_folder(options.jobs));
  if (trial::is_run(order.run)) {
    return Status(Code::kAlreadyExists,
                  fmt::format("there is a run \"{}\" already; name the job with --name", printable(order.name)));
  }
  if (!jobs::is_job_name(order.name)) return jobs::JobRecord::create(folder, order).status();
  TRAINWARDEN_RETURN_IF_ERROR(enter_experiment(job.spec, folder, order));
  Result<jobs::JobRecord> record = make_job(job, folder, order, backends.of(order.backend));
  if (!record.ok()) leave_experiment(order, record.status());
  if (record.ok()) start_recording_inputs(*record, folder, job.folder);
  return record;
}

int act(const SubmitOptions& options) {
  Result<jobs::JobRecord> job = submit(options);
  if (!job.ok()) return report_error(job.status());
  const std::string& name = job->order().name;
  if (options.json) {
    print_json({{"job", name}, {"folder", job->place().address()}, {"run", job->order().run}});
  } else {
    emit("{}\n", name);
  }
  if (options.wait) return wait_for_job(*job, !options.json);
  emit(stderr, "trainwarden: next: {} job logs -f {}\n", typed_program(), name);
  return kExitFine;
}

}  // namespace

void add_submit(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<SubmitOptions>();
  SubmitOptions& o = *options;
  CLI::App& command = add_command(app, "submit", "Start a training job, which goes on by itself", options, action, act);
  command.group(kTrainGroup);
  command.add_option("SPEC", o.spec, "The job: a file in TOML or JSON; - reads standard input")
      ->required()
      ->type_name("");
  command.add_option("--name", o.name, "Name of the job and of its run (default: the file's, or made from the time)")
      ->type_name("NAME");
  command.add_option("--backend", o.backend, "Where it runs (default: the file's, else local)")
      ->check(CLI::IsMember(std::vector<std::string>(jobs::kBackendNames.begin(), jobs::kBackendNames.end())));
  add_jobs_option(command, o.jobs);
  add_runs_option(command, o.runs);
  command.add_flag("--wait", o.wait, "Print what it prints until it has ended; exit code 0 when it is Completed");
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden submit job.toml", "trainwarden submit job.toml --name bert-7 --wait",
                         "job=$(trainwarden submit job.toml) && trainwarden job wait \"$job\""});
}

}  // namespace trainwarden::cli
