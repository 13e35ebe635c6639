// `trainwarden submit`: a training job begins, and goes on without us.
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/clock.h"
#include "core/base/hook_variables.h"
#include "core/base/text.h"
#include "read/trial/run_listing.h"
#include "store/s3/s3_storage.h"
#include "store/storage/location.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/job_commands.h"
#include "ui/cli/commands/submit_request.h"
#include "ui/cli/options/job_choice.h"
#include "ui/cli/options/output_choice.h"
#include "ui/cli/options/rule_choice.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/options/words_option.h"
#include "ui/cli/reports/job_view.h"
#include "ui/cli/running/job_backend.h"
#include "ui/cli/running/job_experiment.h"
#include "ui/cli/running/job_keeper.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "work/jobs/job_naming.h"
#include "work/jobs/owner_seal.h"
#include "work/ranks/rank_place.h"
#include "work/workspace/bucket_transfer.h"
#include "work/workspace/code_copy.h"
#include "work/workspace/layout.h"

namespace trainwarden::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRequestFormat = "sagemaker";

struct SubmitOptions : SubmitPlan {
  std::string format;  // empty: a job's own
  bool dry_run = false;
  std::string backend;            // empty: the file's
  std::vector<std::string> axes;  // of an array; empty: the file's
  bool wait = false;
  bool json = false;
};

std::string resolved(const CheckedJob& job, const std::string& path) {
  return (job.folder / path).lexically_normal().string();
}

// `trainwarden run` with the job's rules and actions.
Result<std::vector<std::string>> launcher_words(const CheckedJob& job, const fs::path& folder, const fs::path& run) {
  const jobs::JobSpec& spec = job.spec;
  std::vector<std::string> words = {this_program().string(), "run", "--tied"};
  const auto add = [&words](const char* option, const std::string& value) {
    words.emplace_back(option);
    words.push_back(value);
  };
  add("--runs", run.parent_path().string());
  add("--name", run.filename().string());
  for (const std::string& rule : spec.rules) add(is_rule_set(rule) ? "--rules" : "--rule", rule);
  if (!spec.actions.empty()) add("--actions", resolved(job, spec.actions));
  if (!spec.hook_config.empty()) add("--config", resolved(job, spec.hook_config));
  for (const auto& [key, value] : spec.tags) add("--label", key + "=" + value);
  if (const std::string mirror = workspace::mirror_of(spec, run.filename().string()); !mirror.empty()) {
    add("--mirror", mirror);
  }
  if (!spec.tensorboard.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const fs::path board, workspace::local_board(spec, job.folder, folder));
    add("--tensorboard", board.string());
  }
  const std::vector<std::string> metrics = words_of_job_metrics(spec.metrics);
  words.insert(words.end(), metrics.begin(), metrics.end());
  return words;
}

jobs::Needs needs_of(const jobs::Resources& resources) {
  jobs::Needs needs{resources.cpus, resources.gpus, resources.memory_bytes.value_or(0), false};
  if (needs.cpus) *needs.cpus *= resources.tasks_per_node;
  needs.whole_cores = resources.binding != jobs::Binding::kNone;
  return needs;
}

Result<jobs::JobOrder> make_order(const CheckedJob& job, const SubmitPlan& options) {
  const jobs::JobSpec& spec = job.spec;
  jobs::JobOrder order;
  order.submitted_unix_ns = system_clock().unix_ns();
  order.name = options.name;
  if (order.name.empty()) order.name = spec.name;
  if (order.name.empty()) order.name = jobs::make_job_name(spec, order.submitted_unix_ns);
  order.backend = spec.backend;
  const fs::path run = fs::absolute(runs_folder(options.runs)) / order.name;
  order.run = run.string();
  const fs::path folder = fs::absolute(jobs_folder(options.jobs)) / order.name;
  TRAINWARDEN_ASSIGN_OR_RETURN(order.launcher, launcher_words(job, folder, run));
  order.program = program_words(spec);
  if (!spec.image.empty()) order.program = words_in_container(order.program);
  order.environment = spec.environment;
  order.ranks = ranks::rank_count(spec.resources);
  order.binding = spec.resources.binding;
  if (!spec.hook) order.environment[variable::kSwitch] = "0";
  order.folder = job.folder.lexically_normal().string();
  order.needs = needs_of(spec.resources);
  order.priority = spec.priority;
  order.max_run_seconds = spec.limits.max_run_seconds;
  order.max_wait_seconds = spec.limits.max_wait_seconds;
  order.max_pending_seconds = spec.limits.max_pending_seconds;
  order.retries = spec.limits.retries;
  order.preemptible = spec.resources.preemptible;
  order.environment_file = options.environment_file;
  order.array = options.array;
  order.repeats = options.repeats;
  order.spec = job.text;
  order.spec_file = fs::absolute(options.spec).string();
  return order;
}

// A copy of the sources has a name of its own: another submission under the same name may be at it.
fs::path code_folder(const fs::path& jobs, const jobs::JobOrder& order) {
  return jobs / order.name / fmt::format("code-{:x}-{}", order.submitted_unix_ns, ::getpid());
}

Status copy_code(const CheckedJob& job, const fs::path& target) {
  std::vector<fs::path> dependencies;
  for (const std::string& folder : job.spec.dependencies) dependencies.emplace_back(resolved(job, folder));
  return workspace::copy_code(resolved(job, job.spec.source_dir), dependencies, target);
}

// The files of a submission that has failed. Those of another one under the same name stay.
void remove_half_made(const fs::path& folder, const jobs::JobOrder& order, const fs::path& code) {
  const fs::path job = folder / order.name;
  std::error_code ignored;
  if (!code.empty()) fs::remove_all(code, ignored);
  if (fs::path(order.environment_file).parent_path() == job) fs::remove(order.environment_file, ignored);
  if (fs::exists(job / jobs::kOrderFile, ignored)) return;
  for (const fs::path& empty : {job / jobs::kStateFolder, job}) fs::remove(empty, ignored);
}

Result<jobs::JobRecord> create_with_code(const CheckedJob& job, const fs::path& jobs, jobs::JobOrder& order,
                                         const fs::path& code, JobBackend& backend) {
  if (!code.empty()) {
    TRAINWARDEN_RETURN_IF_ERROR(copy_code(job, code));
    order.folder = code.string();
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(order.seal, jobs::owner_seal(jobs::encode_order(order), jobs));
  const Status announced = backend.announce(jobs, order);
  Result<jobs::JobRecord> record = announced.ok() ? jobs::JobRecord::create(jobs, order) : announced;
  if (!record.ok()) backend.withdraw(jobs, order);
  return record;
}

// The job, handed to its backend.
Result<jobs::JobRecord> make_job(const CheckedJob& job, const fs::path& folder, jobs::JobOrder order,
                                 JobBackend& backend) {
  const bool copies = backend.copies_sources() && !job.spec.source_dir.empty();
  const fs::path code = copies ? code_folder(folder, order) : fs::path();
  const Status prepared = backend.prepare(job.spec, folder, order);
  Result<jobs::JobRecord> record = prepared.ok() ? create_with_code(job, folder, order, code, backend) : prepared;
  if (!record.ok()) {
    remove_half_made(folder, order, code);
    return record;
  }
  try_ensure_job_is_told_of(*record);
  TRAINWARDEN_RETURN_IF_ERROR(backend.submit(*record, job.spec));
  return record;
}

// What is wrong with the way to a bucket is told before the job waits for its turn. Another machine has its own.
void check_buckets(CheckedJob& job) {
  if (job.spec.backend == jobs::Backend::kSsh) return;
  std::vector<std::pair<std::string, std::string>> addresses;
  for (const std::string& address :
       {job.spec.output_dir, job.spec.checkpoints.path, job.spec.mirror, job.spec.tensorboard}) {
    addresses.emplace_back(job.spec.place, address);
  }
  for (const jobs::Channel& channel : job.spec.inputs) addresses.emplace_back(channel.place, channel.source);
  jobs::JobOrder order;
  order.environment = job.spec.environment;
  for (const auto& [place, address] : addresses) {
    if (!workspace::is_in_bucket(address)) continue;
    const auto bucket = storage::reach_bucket(address, workspace::environment_of_job(order), {});
    const Status status = bucket.ok() ? bucket->client->check_credentials() : bucket.status();
    if (status.ok()) continue;
    job.mistakes.add(place, status.message());
    return;  // what is wrong with one is wrong with all
  }
}

}  // namespace

Status check_for_submission(CheckedJob& job, JobBackends& backends) {
  const JobBackend& backend = backends.of(job.spec.backend);
  if (const std::vector<std::string> keys = backend.not_done_yet(job.spec); !keys.empty()) {
    job.mistakes.add(job.spec.place, fmt::format("`submit` cannot do this yet {}: {}; leave it out", backend.where(),
                                                 fmt::join(keys, ", ")));
  }
  for (const jobs::Warning& warning : job.warnings) {
    if (warning.code == "BUCKET") job.mistakes.add(warning.place, warning.what);
  }
  check_buckets(job);
  TRAINWARDEN_RETURN_IF_ERROR(job.mistakes.status());
  for (const jobs::Warning& warning : job.warnings) {
    emit(stderr, "trainwarden: warning: {}: {}: {}\n", warning.place, warning.code, warning.what);
  }
  return {};
}

Result<jobs::JobRecord> submit_job(const CheckedJob& job, const SubmitPlan& options, JobBackends& backends) {
  TRAINWARDEN_ASSIGN_OR_RETURN(jobs::JobOrder order, make_order(job, options));
  const fs::path folder = fs::absolute(jobs_folder(options.jobs));
  if (trial::is_run(order.run)) {
    return Status(Code::kAlreadyExists,
                  fmt::format("there is a run \"{}\" already; name the job with --name", printable(order.name)));
  }
  if (!jobs::is_job_name(order.name)) return jobs::JobRecord::create(folder, order).status();
  TRAINWARDEN_RETURN_IF_ERROR(enter_experiment(job.spec, folder, order));
  const Status announced = announce_job_outputs(order, options.outputs);
  Result<jobs::JobRecord> record =
      announced.ok() ? make_job(job, folder, order, backends.of(order.backend)) : announced;
  if (!record.ok()) leave_experiment(order, record.status());
  if (record.ok()) start_recording_inputs(*record, folder, job.folder);
  return record;
}

namespace {

Result<CheckedJob> check(const SubmitOptions& options, JobBackends& backends) {
  std::optional<jobs::Backend> wanted;
  if (!options.backend.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(wanted, jobs::backend_named(options.backend, "--backend"));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(CheckedJob job, check_job(options.spec, wanted));
  TRAINWARDEN_RETURN_IF_ERROR(check_for_submission(job, backends));
  return job;
}

// None: it is no array.
Result<std::vector<jobs::ArrayAxis>> axes_of(const SubmitOptions& options, const jobs::JobSpec& spec) {
  if (options.axes.empty()) return spec.array;
  std::vector<jobs::ArrayAxis> axes;
  for (const std::string& text : options.axes) {
    TRAINWARDEN_ASSIGN_OR_RETURN(jobs::ArrayAxis axis, jobs::parse_axis(text));
    axes.push_back(std::move(axis));
  }
  return axes;
}

OrderedJson submitted_json(const jobs::JobRecord& job) {
  return {{"job", job.order().name}, {"folder", job.place().address()}, {"run", job.order().run}};
}

int wait_for_all(std::vector<jobs::JobRecord>& all) {
  int code = kExitFine;
  for (jobs::JobRecord& job : all) code = std::max(code, wait_for_job(job, false));
  return code;
}

int act_on_array(const CheckedJob& job, const std::vector<jobs::ArrayAxis>& axes, const SubmitOptions& options,
                 JobBackends& backends) {
  const auto points = jobs::points_of(axes);
  if (!points.ok()) return report_error(points.status());
  auto all = submit_array(job, *points, options, backends);
  if (!all.ok()) return report_error(all.status());
  const std::string array = all->front().order().array;
  if (options.json) {
    OrderedJson list = OrderedJson::array();
    for (const jobs::JobRecord& one : *all) list.push_back(submitted_json(one));
    print_json({{"array", array}, {"jobs", list}});
  } else {
    for (const jobs::JobRecord& one : *all) emit("{}\n", one.order().name);
  }
  if (options.wait) return wait_for_all(*all);
  emit(stderr, "trainwarden: next: {} job ls --array {}\n", typed_program(), array);
  return kExitFine;
}

int report_one(jobs::JobRecord& job, const SubmitOptions& options) {
  const std::string& name = job.order().name;
  if (options.json) {
    print_json(submitted_json(job));
  } else {
    emit("{}\n", name);
  }
  if (options.wait) return wait_for_job(job, !options.json);
  emit(stderr, "trainwarden: next: {} job logs -f {}\n", typed_program(), name);
  return kExitFine;
}

RequestChoice request_choice(const SubmitOptions& options) {
  return {options.spec, options.name, fs::absolute(jobs_folder(options.jobs)), fs::absolute(runs_folder(options.runs))};
}

Result<jobs::JobRecord> submit_request(SubmitOptions options, JobBackends& backends) {
  TRAINWARDEN_ASSIGN_OR_RETURN(RequestedJob request, RequestedJob::make(request_choice(options)));
  options.spec = request.spec();
  options.name = request.name();
  options.outputs = request.outputs();
  TRAINWARDEN_ASSIGN_OR_RETURN(const CheckedJob job, check(options, backends));
  Result<jobs::JobRecord> record = submit_job(job, options, backends);
  if (record.ok()) request.was_submitted();
  return record;
}

int show_files(const SubmitOptions& options) {
  const auto files = read_job_request(request_choice(options));
  if (!files.ok()) return report_error(files.status());
  if (options.json) {
    print_json(request_json(*files));
    return kExitFine;
  }
  for (const auto& [name, text] : files->texts) emit("{}:\n{}\n", name, Lines{text});
  for (const std::string& notice : files->notices) emit(stderr, "trainwarden: warning: {}\n", notice);
  return kExitFine;
}

int act_on_request(const SubmitOptions& options) {
  if (options.dry_run) return show_files(options);
  if (!options.axes.empty()) {
    return report_error(Status(Code::kInvalidArgument, "--array: goes with a job's own file, and not with a request"));
  }
  JobBackends backends;
  Result<jobs::JobRecord> job = submit_request(options, backends);
  return job.ok() ? report_one(*job, options) : report_error(job.status());
}

int act(const SubmitOptions& options) {
  if (options.format == kRequestFormat) return act_on_request(options);
  if (options.dry_run) {
    return report_error(Status(Code::kInvalidArgument,
                               "--dry-run: goes with --format sagemaker; `trainwarden job lint` checks a job's file"));
  }
  JobBackends backends;
  const Result<CheckedJob> checked = check(options, backends);
  if (!checked.ok()) return report_error(checked.status());
  const auto axes = axes_of(options, checked->spec);
  if (!axes.ok()) return report_error(axes.status());
  if (!axes->empty()) return act_on_array(*checked, *axes, options, backends);
  Result<jobs::JobRecord> job = submit_job(*checked, options, backends);
  return job.ok() ? report_one(*job, options) : report_error(job.status());
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
  add_name_option(command, o.name, "Name of the job and of its run (default: the file's, or made from the time)");
  command.add_option("--format", o.format, "sagemaker: SPEC is a request of SageMaker's API, a CreateTrainingJob")
      ->check(CLI::IsMember({kRequestFormat}));
  command.add_flag("--dry-run", o.dry_run, "Of a request: print the files that it becomes, and start nothing");
  command.add_option("--backend", o.backend, "Where it runs (default: the file's, else local)")
      ->check(CLI::IsMember(std::vector<std::string>(jobs::kBackendNames.begin(), jobs::kBackendNames.end())));
  add_words(command, "--array", o.axes,
            "One job for each of these values of a hyper-parameter, NAME-0, NAME-1, ...; "
            "again: for each combination")
      ->type_name("NAME=A,B|NAME=1..5");
  add_jobs_option(command, o.jobs);
  add_runs_option(command, o.runs);
  command.add_flag("--wait", o.wait, "Print what it prints until it has ended; exit code 0 when it is Completed");
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden submit job.toml", "trainwarden submit job.toml --name bert-7 --wait",
                         "trainwarden submit job.toml --name sweep --array lr=0.1,0.01 --array seed=1..5",
                         "trainwarden submit request.json --format sagemaker --dry-run",
                         "job=$(trainwarden submit job.toml) && trainwarden job wait \"$job\""});
}

}  // namespace trainwarden::cli
