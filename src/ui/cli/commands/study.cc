// `trainwarden study`: looks at studies, ends them and goes on with them.
#include <fmt/format.h>

#include "core/base/clock.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/job_commands.h"
#include "ui/cli/commands/study_commands.h"
#include "ui/cli/options/control_options.h"
#include "ui/cli/options/job_choice.h"
#include "ui/cli/options/study_choice.h"
#include "ui/cli/reports/study_text.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/views/study_view.h"

namespace trainwarden::cli {
namespace {

constexpr std::size_t kTrialsListed = 1000;

struct StudyLsOptions {
  std::string studies;
  bool json = false;
};

struct StudyShowOptions {
  StudyChoice study;
  std::optional<std::size_t> trial;
  bool json = false;
};

struct StudyBestOptions {
  StudyChoice study;
  bool json = false;
};

struct StudyExportOptions {
  StudyChoice study;
};

struct StudyStopOptions {
  StudyChoice study;
  std::string jobs;
  bool keep_trials = false;
};

struct StudyResumeOptions {
  StudyChoice study;
  TrialPlaces places;
  bool json = false;
};

int act(const StudyLsOptions& options) {
  const storage::Location folder(studies_folder(options.studies));
  const auto names = tune::Study::list(folder);
  if (!names.ok()) return report_error(names.status());
  std::vector<tune::Study> studies;
  for (const std::string& name : *names) {
    auto study = tune::Study::open(folder, name, system_clock());
    if (study.ok()) {
      studies.push_back(*std::move(study));
    } else {
      emit(stderr, "trainwarden: warning: {}\n", Message{study.status().message()});
    }
  }
  const std::int64_t now = system_clock().unix_ns();
  if (options.json) {
    OrderedJson list = OrderedJson::array();
    for (const tune::Study& study : studies) {
      OrderedJson json = views::study_json(study, now);
      json.erase("trials");
      list.push_back(std::move(json));
    }
    print_json({{"studies", std::move(list)}});
  } else if (studies.empty()) {
    emit("no studies in {}; begin one with `trainwarden tune FILE`\n", folder.address());
  } else {
    emit("{}", Lines{studies_table(studies, now)});
  }
  return kExitFine;
}

int act(const StudyShowOptions& options) {
  const auto study = options.study.open();
  if (!study.ok()) return report_error(study.status());
  if (!options.trial) return print_study(*study, options.json, kTrialsListed);
  if (*options.trial >= study->state().history().trials.size()) {
    return report_error(Status(Code::kNotFound, fmt::format("there is no trial {}: there are {}", *options.trial,
                                                            study->state().history().trials.size())));
  }
  if (options.json) {
    print_json(views::trial_json(*study, *options.trial));
  } else {
    emit("{}", Lines{trial_text(*study, *options.trial)});
  }
  return kExitFine;
}

// The values alone, for a program; of several objectives those of the whole front.
int act(const StudyBestOptions& options) {
  const auto study = options.study.open();
  if (!study.ok()) return report_error(study.status());
  const views::StudyOutcome outcome = views::outcome_of(*study);
  std::vector<std::size_t> best = outcome.front;
  if (study->state().history().objectives().size() == 1) best = {};
  if (best.empty() && outcome.is_feasible) best = {*outcome.best};
  emit(stderr, "{}.\n", views::outcome_text(*study));
  if (best.empty()) return report_error(Status(Code::kNotFound, "no trial is complete that keeps to the constraints"));
  OrderedJson list = OrderedJson::array();
  for (const std::size_t trial : best) {
    if (options.json) {
      list.push_back(views::trial_json(*study, trial));
    } else {
      const tune::History& history = study->state().history();
      emit("{}\n", views::values_text(history.space.values_of(history.trials[trial].point)));
    }
  }
  if (options.json) print_json({{"best", std::move(list)}});
  return outcome.has_target && !outcome.is_met ? kExitTargetMissed : kExitFine;
}

int act(const StudyExportOptions& options) {
  const auto study = options.study.open();
  if (!study.ok()) return report_error(study.status());
  emit("{}", Lines{trials_csv(*study)});
  return kExitFine;
}

// A trial whose job is gone has ended with it. One that stood at a rung has failed at nothing.
Status stop_trial(tune::Study& study, std::size_t trial, const std::string& jobs, const std::string& why) {
  const std::string& name = study.state().record(trial).job;
  if (!name.empty()) {
    auto job = jobs::JobRecord::open(jobs_folder(jobs), name);
    if (!job.ok() && job.status().code() != Code::kNotFound) return job.status();
    if (job.ok()) TRAINWARDEN_RETURN_IF_ERROR(stop_job(*job, why).status());
  }
  const bool is_paused = study.state().history().trials[trial].state == tune::TrialState::kPaused;
  const tune::TrialState state = is_paused ? tune::TrialState::kPruned : tune::TrialState::kFailed;
  return study.finish(static_cast<std::int64_t>(trial), {.state = state, .metrics = {}, .why = why, .seconds = {}});
}

int act(const StudyStopOptions& options) {
  auto study = options.study.open();
  if (!study.ok()) return report_error(study.status());
  const std::string why = "stopped by " + requested_by();
  if (const Status closed = study->close(why); !closed.ok()) return report_error(closed);
  const std::size_t count = study->state().history().trials.size();
  for (std::size_t i = 0; i < count && !options.keep_trials; ++i) {
    if (study->state().history().trials[i].is_over()) continue;
    if (const Status stopped = stop_trial(*study, i, options.jobs, why); !stopped.ok()) return report_error(stopped);
  }
  emit("{}: {}\n", study->spec().name, views::standing_text(*study, system_clock().unix_ns()));
  return kExitFine;
}

int act(const StudyResumeOptions& options) {
  auto study = options.study.open();
  if (!study.ok()) return report_error(study.status());
  const bool has_job = !study->spec().job.empty();
  auto trials = has_job ? job_trials_of(study->spec(), options.places)
                        : Result<JobTrials>(Status(Code::kNotFound, "its trials are run by whoever asks for them"));
  if (has_job && !trials.ok()) return report_error(trials.status());
  if (const Status open = study->reopen("resumed by " + requested_by()); !open.ok()) return report_error(open);
  return has_job ? conduct_study(*study, *trials, options.json) : print_study(*study, options.json, kTrialsListed);
}

}  // namespace

void add_study_ls(CLI::App& study, CommandAction& action) {
  auto options = std::make_shared<StudyLsOptions>();
  CLI::App& command = add_command(study, "ls", "List the studies, and what each has found", options, action, act);
  add_studies_option(command, options->studies);
  add_json_flag(command, options->json);
  set_examples(command, {"trainwarden study ls", "trainwarden study ls --json"});
}

void add_study_show(CLI::App& study, CommandAction& action) {
  auto options = std::make_shared<StudyShowOptions>();
  StudyShowOptions& o = *options;
  CLI::App& command = add_command(study, "show", "Show what a study has found, and its trials", options, action, act);
  add_study_choice(command, o.study);
  command.add_option("--trial", o.trial, "This trial alone")->type_name("N");
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden study show squad", "trainwarden study show squad --trial 3",
                         "trainwarden study show squad --json | jq .outcome"});
}

void add_study_best(CLI::App& study, CommandAction& action) {
  auto options = std::make_shared<StudyBestOptions>();
  CLI::App& command =
      add_command(study, "best", "Print the values of the best trial; of several objectives those of the front",
                  options, action, act);
  add_study_choice(command, options->study);
  add_json_flag(command, options->json);
  set_examples(command, {"trainwarden study best squad"});
}

void add_study_export(CLI::App& study, CommandAction& action) {
  auto options = std::make_shared<StudyExportOptions>();
  CLI::App& command = add_command(study, "export", "Print all trials as CSV, a row each", options, action, act);
  add_study_choice(command, options->study);
  set_examples(command, {"trainwarden study export squad > squad.csv"});
}

void add_study_stop(CLI::App& study, CommandAction& action) {
  auto options = std::make_shared<StudyStopOptions>();
  StudyStopOptions& o = *options;
  CLI::App& command = add_command(study, "stop", "End a study and the jobs of its trials", options, action, act);
  add_study_choice(command, o.study);
  add_jobs_option(command, o.jobs);
  command.add_flag("--keep-trials", o.keep_trials, "Let the trials that run come to their end");
  set_examples(command, {"trainwarden study stop squad", "trainwarden study stop squad --keep-trials"});
}

void add_study_resume(CLI::App& study, CommandAction& action) {
  auto options = std::make_shared<StudyResumeOptions>();
  StudyResumeOptions& o = *options;
  CLI::App& command = add_command(study, "resume", "Go on with a study that was stopped, or whose process was killed",
                                  options, action, act);
  add_study_choice(command, o.study);
  add_jobs_option(command, o.places.jobs);
  add_runs_option(command, o.places.runs);
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden study resume squad"});
}

void add_study(CLI::App& app, CommandAction& action) {
  CLI::App& command =
      add_subcommand(app, "study", "Look at studies of hyper-parameters, and run trials yourself", [] {});
  command.group(kLookGroup);
  command.require_subcommand(1);
  add_study_ls(command, action);
  add_study_show(command, action);
  add_study_best(command, action);
  add_study_importance(command, action);
  add_study_export(command, action);
  add_study_create(command, action);
  add_study_import(command, action);
  add_study_ask(command, action);
  add_study_extend(command, action);
  add_study_report(command, action);
  add_study_tell(command, action);
  add_study_enqueue(command, action);
  add_study_stop(command, action);
  add_study_resume(command, action);
  set_examples(command, {"trainwarden study ls", "trainwarden study show squad", "trainwarden study ask squad --json",
                         "trainwarden study tell squad 0 f1=0.91"});
}

}  // namespace trainwarden::cli
