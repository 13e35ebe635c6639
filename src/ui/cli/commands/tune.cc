// `trainwarden tune`: tries hyper-parameters, each as a job, until the study ends.
#include <filesystem>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/text_file.h"
#include "core/process/signal_relay.h"
#include "tune/conduct/conductor.h"
#include "tune/search/pruners/all.h"
#include "tune/search/samplers/all.h"
#include "tune/search/samplers/auto_sampler.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/study_commands.h"
#include "ui/cli/options/job_choice.h"
#include "ui/cli/options/study_choice.h"
#include "ui/cli/options/words_option.h"
#include "ui/cli/reports/study_text.h"
#include "ui/cli/running/job_trials.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/views/study_view.h"
#include "work/document/document.h"

namespace trainwarden::cli {
namespace {

constexpr std::chrono::milliseconds kConductInterval{200};
constexpr std::size_t kTrialsShown = 10;

struct TuneOptions {
  StudyFileChoice study;
  std::string studies;
  TrialPlaces places;
  bool dry_run = false;
  bool json = false;
};

tune::ConductorNotices notices_of(const tune::Study& study) {
  return {
      .started = [&study](std::size_t trial) { emit(stderr, "{}\n", trial_line(study, trial)); },
      .ended = [&study](std::size_t trial) { emit(stderr, "{}\n", trial_line(study, trial)); },
      .paused = [&study](std::size_t trial) { emit(stderr, "{}\n", trial_line(study, trial)); },
      .trouble = [](const Status& status) { emit(stderr, "trainwarden: warning: {}\n", Message{status.message()}); }};
}

// Not to be lost where the study is opened again from another folder.
std::string whole_path_of_job(const tune::StudySpec& spec, const std::string& file) {
  const auto folder = std::filesystem::absolute(file).parent_path();
  return (folder / spec.job).lexically_normal().string();
}

tune::History empty_history(const tune::StudySpec& spec) {
  return {.space = spec.space, .metrics = spec.metrics, .trials = {}, .seed = spec.seed};
}

int print_plan(const tune::StudySpec& spec, bool json) {
  if (json) {
    print_json(tune::json_of(spec));
    return kExitFine;
  }
  emit("{}: {} parameters, {} metrics, {} at once, pruner {}\n{}\nnothing was started\n", spec.name, spec.space.size(),
       spec.metrics.size(), spec.parallel, spec.pruner, sampler_text(spec, empty_history(spec)));
  return kExitFine;
}

int act(const TuneOptions& options) {
  auto spec = read_study_file(options.study);
  if (!spec.ok()) return report_error(spec.status());
  if (spec->job.empty()) {
    return report_error(Status(Code::kInvalidArgument,
                               fmt::format("{}: expected job, the file of the job that a trial is; `trainwarden study "
                                           "create` makes a study whose trials you run yourself",
                                           options.study.file)));
  }
  if (const Status search = check_search(*spec); !search.ok()) return report_error(search);
  auto trials = job_trials_of(*spec, options.places);
  if (!trials.ok()) return report_error(trials.status());
  const storage::Location studies(studies_folder(options.studies));
  if (const Status origins = tune::Study::check_origins(studies, *spec, system_clock()); !origins.ok()) {
    return report_error(origins);
  }
  if (options.dry_run) return print_plan(*spec, options.json);
  auto study = tune::Study::create(studies, *std::move(spec), system_clock());
  if (!study.ok()) return report_error(study.status());
  return conduct_study(*study, *trials, options.json);
}

}  // namespace

Result<tune::StudySpec> read_study_file(const StudyFileChoice& choice) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto top, document::read(choice.file, "the file of a study"));
  document::Mistakes mistakes;
  auto spec = tune::read_study_spec(top, mistakes);
  if (!spec) return mistakes.status();
  if (!choice.name.empty()) spec->name = choice.name;
  if (spec->name.empty()) spec->name = std::filesystem::path(choice.file).stem().string();
  if (choice.parallel) spec->parallel = *choice.parallel;
  if (choice.trials) spec->budget.trials = choice.trials;
  if (!choice.from.empty()) spec->from = choice.from;
  if (!spec->job.empty()) spec->job = whole_path_of_job(*spec, choice.file);
  return *std::move(spec);
}

void add_from_option(CLI::App& command, std::vector<std::string>& from) {
  add_words(command, "--from", from,
            "Begin with what the trials of this study have found; may be given often (default: the file's)")
      ->type_name("STUDY");
}

Result<std::unique_ptr<tune::TrialSampler>> sampler_of(const tune::StudySpec& spec) {
  return tune::make_sampler(spec.sampler);
}

Status check_search(const tune::StudySpec& spec) {
  TRAINWARDEN_RETURN_IF_ERROR(sampler_of(spec).status());
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto pruner, tune::make_pruner(spec.pruner));
  if (!spec.job.empty() || !pruner->pauses()) return {};
  return Status(Code::kInvalidArgument,
                fmt::format("pruner: {} pauses trials, which needs a study that runs them as jobs: add job, or leave "
                            "pause=true out",
                            spec.pruner));
}

std::string sampler_text(const tune::StudySpec& spec, const tune::History& history) {
  if (spec.sampler != "auto") return fmt::format("sampler {}", spec.sampler);
  const tune::SamplerChoice choice = tune::choose_sampler(history);
  return fmt::format("sampler {}: {}", choice.name, choice.why);
}

int print_study(const tune::Study& study, bool json, std::size_t most_trials) {
  const std::int64_t now = system_clock().unix_ns();
  if (json) {
    print_json(views::study_json(study, now));
  } else {
    emit("{}", Lines{study_text(study, now, most_trials)});
  }
  const views::StudyOutcome outcome = views::outcome_of(study);
  return outcome.has_target && !outcome.is_met ? kExitTargetMissed : kExitFine;
}

Result<JobTrials> job_trials_of(const tune::StudySpec& spec, const TrialPlaces& places) {
  JobTrialsOptions options{.spec = spec.job, .jobs = places.jobs, .runs = places.runs, .metrics = {}};
  options.ends_by_verdict = spec.ends_by_verdict;
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto pruner, tune::make_pruner(spec.pruner));
  options.pauses = pruner->pauses();
  for (const tune::StudyMetric& metric : spec.metrics) options.metrics.push_back(metric.name);
  return JobTrials::make(std::move(options));
}

int conduct_study(tune::Study& study, tune::TrialRunner& trials, bool json) {
  auto sampler = sampler_of(study.spec());
  if (!sampler.ok()) return report_error(sampler.status());
  auto pruner = tune::make_pruner(study.spec().pruner);
  if (!pruner.ok()) return report_error(pruner.status());
  emit(stderr, "{}\n", sampler_text(study.spec(), study.state().searched()));
  auto conductor = tune::Conductor::take(study, **sampler, pruner->get(), trials, system_clock(), notices_of(study));
  if (!conductor.ok()) return report_error(conductor.status());
  process::SignalRelay relay;
  bool was_interrupted = false;
  while (!conductor->is_over() && !was_interrupted) {
    if (const Status step = conductor->step(); !step.ok()) return report_error(step);
    was_interrupted = !conductor->is_over() && relay.wait_for_end(kConductInterval);
  }
  if (was_interrupted) {
    emit(stderr,
         "trials that run go on; `trainwarden study resume {0}` goes on with the study, `trainwarden study stop {0}` "
         "ends it\n",
         study.spec().name);
  } else {
    emit(stderr, "{}\n", conductor->why_over());
  }
  return print_study(study, json, kTrialsShown);
}

void add_tune(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<TuneOptions>();
  TuneOptions& o = *options;
  CLI::App& command = add_command(
      app, "tune", "Search hyper-parameters: try them, each as a job, and say what was found", options, action, act);
  command.group(kTrainGroup);
  command.add_option("FILE", o.study.file, "The study: parameters, metrics, budget and the job's file")
      ->required()
      ->type_name("");
  add_name_option(command, o.study.name, "Name of the study (default: the file's)");
  command.add_option("--parallel", o.study.parallel, "Trials at once (default: the file's)")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, tune::kMaxParallel));
  command.add_option("--trials", o.study.trials, "Trials in all (default: the file's)")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, tune::kMaxTrials));
  add_from_option(command, o.study.from);
  command.add_flag("--dry-run", o.dry_run, "Check the study and its job, and start nothing");
  add_studies_option(command, o.studies);
  add_jobs_option(command, o.places.jobs);
  add_runs_option(command, o.places.runs);
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden tune study.toml", "trainwarden tune study.toml --dry-run",
                         "trainwarden tune study.toml --name squad-2 --parallel 4 --trials 100",
                         "trainwarden tune study.toml --name squad-3 --from squad --from squad-2"});
}

}  // namespace trainwarden::cli
