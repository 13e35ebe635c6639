// `trainwarden study create`, `ask`, `extend`, `report`, `tell` and `enqueue`: trials that somebody else runs.
#include <unistd.h>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/host_name.h"
#include "tune/search/pruners/all.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/study_commands.h"
#include "ui/cli/options/study_choice.h"
#include "ui/cli/options/words_option.h"
#include "ui/cli/reports/study_text.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/views/study_view.h"

namespace trainwarden::cli {
namespace {

struct StudyCreateOptions {
  StudyFileChoice study;
  std::string studies;
  bool json = false;
};

struct StudyAskOptions {
  StudyChoice study;
  std::string worker, fingerprint;
  double lease_seconds = 0;
  bool json = false;
};

struct StudyExtendOptions {
  StudyChoice study;
  std::int64_t trial = 0;
  std::vector<std::string> parameters;
  bool json = false;
};

struct StudyReportOptions {
  StudyChoice study;
  std::int64_t trial = 0;
  std::int64_t step = 0;
  std::vector<std::string> metrics;
  double lease_seconds = 0;
  bool json = false;
};

struct StudyTellOptions {
  StudyChoice study;
  std::int64_t trial = 0;
  std::vector<std::string> metrics;
  std::vector<std::string> unused, attributes;
  bool failed = false, pruned = false;
  std::string why;
};

struct StudyEnqueueOptions {
  StudyChoice study;
  std::vector<std::string> values;
  bool json = false;
};

int act(const StudyCreateOptions& options) {
  auto spec = read_study_file(options.study);
  if (!spec.ok()) return report_error(spec.status());
  if (const Status search = check_search(*spec); !search.ok()) return report_error(search);
  const auto study = tune::Study::create(studies_folder(options.studies), *std::move(spec), system_clock());
  if (!study.ok()) return report_error(study.status());
  if (options.json) {
    print_json({{"study", study->spec().name}, {"folder", study->place().address()}});
  } else {
    emit("{}\n", study->spec().name);
  }
  return kExitFine;
}

int act(const StudyAskOptions& options) {
  auto study = options.study.open();
  if (!study.ok()) return report_error(study.status());
  auto sampler = sampler_of(study->spec());
  if (!sampler.ok()) return report_error(sampler.status());
  const std::string worker = options.worker.empty() ? fmt::format("{}:{}", host_name(), ::getppid()) : options.worker;
  tune::AskOptions asked{.worker = worker, .lease_seconds = options.lease_seconds, .fingerprint = options.fingerprint};
  asked.answered = [&study](std::int64_t trial) {
    emit(stderr, "{}\n", trial_line(*study, static_cast<std::size_t>(trial)));
  };
  const auto trial = study->ask(**sampler, asked);
  if (!trial.ok()) return report_error(trial.status());
  const auto index = static_cast<std::size_t>(*trial);
  if (options.json) {
    print_json(views::trial_json(*study, index));
  } else {
    const tune::History& history = study->state().history();
    emit("{} {}\n", *trial, views::values_text(history.space.values_of(history.trials[index].point)));
  }
  return kExitFine;
}

int act(const StudyExtendOptions& options) {
  auto study = options.study.open();
  if (!study.ok()) return report_error(study.status());
  const auto parameters = parse_parameters(options.parameters, "PARAMETER");
  if (!parameters.ok()) return report_error(parameters.status());
  const auto values = study->extend(options.trial, *parameters);
  if (!values.ok()) return report_error(values.status());
  if (options.json) {
    OrderedJson json = OrderedJson::object();
    for (const auto& [name, value] : *values) json[name] = tune::json_of(value);
    print_json({{"values", std::move(json)}});
  } else {
    emit("{}\n", views::values_text(*values));
  }
  return kExitFine;
}

int act(const StudyReportOptions& options) {
  auto study = options.study.open();
  if (!study.ok()) return report_error(study.status());
  const auto metrics = parse_metrics(options.metrics, "METRIC");
  if (!metrics.ok()) return report_error(metrics.status());
  const Status reported = study->report(options.trial, {{options.step, *metrics}}, options.lease_seconds);
  if (!reported.ok()) return report_error(reported);
  const auto pruner = tune::make_pruner(study->spec().pruner);
  if (!pruner.ok()) return report_error(pruner.status());
  const tune::PruneAnswer answer = (*pruner)->judge(study->state().history(), static_cast<std::size_t>(options.trial));
  if (options.json) {
    print_json({{"prune", answer.prune}, {"why", answer.why}});
  } else {
    emit("{}{}\n", answer.prune ? "prune: " : "go on", answer.why);
  }
  return kExitFine;
}

int act(const StudyTellOptions& options) {
  auto study = options.study.open();
  if (!study.ok()) return report_error(study.status());
  const auto metrics = parse_metrics(options.metrics, "METRIC");
  if (!metrics.ok()) return report_error(metrics.status());
  const auto attributes = parse_attributes(options.attributes, "--attribute");
  if (!attributes.ok()) return report_error(attributes.status());
  tune::TrialEnd end{
      .metrics = *metrics, .why = options.why, .seconds = {}, .unused = options.unused, .attributes = *attributes};
  if (options.failed) end.state = tune::TrialState::kFailed;
  if (options.pruned) end.state = tune::TrialState::kPruned;
  const Status finished = study->finish(options.trial, end);
  if (!finished.ok()) return report_error(finished);
  const auto& record = study->state().record(static_cast<std::size_t>(options.trial));
  const auto state = study->state().history().trials[static_cast<std::size_t>(options.trial)].state;
  if (state != end.state)
    emit(stderr, "trainwarden: warning: trial {} counts as failed: {}\n", options.trial, record.why);
  return kExitFine;
}

int act(const StudyEnqueueOptions& options) {
  auto study = options.study.open();
  if (!study.ok()) return report_error(study.status());
  const auto values = parse_tried_values(options.values, study->state().history().space, "VALUE");
  if (!values.ok()) return report_error(values.status());
  const auto trial = study->enqueue(*values);
  if (!trial.ok()) return report_error(trial.status());
  if (options.json) {
    print_json(views::trial_json(*study, static_cast<std::size_t>(*trial)));
  } else {
    emit("{}\n", *trial);
  }
  return kExitFine;
}

void add_lease_option(CLI::App& command, double& seconds) {
  command
      .add_option("--lease", seconds,
                  "When nothing is heard for so many seconds, the trial is given to others (default: never)")
      ->type_name("SECONDS")
      ->check(CLI::NonNegativeNumber);
}

CLI::Option* add_trial_number(CLI::App& command, std::int64_t& trial) {
  return command.add_option("TRIAL", trial, "Its number")->required()->type_name("");
}

}  // namespace

void add_study_create(CLI::App& study, CommandAction& action) {
  auto options = std::make_shared<StudyCreateOptions>();
  StudyCreateOptions& o = *options;
  CLI::App& command = add_command(study, "create", "Make a study whose trials you run yourself", options, action, act);
  command.add_option("FILE", o.study.file, "The study: parameters, metrics and budget")->required()->type_name("");
  add_name_option(command, o.study.name, "Name of the study (default: the file's)");
  add_from_option(command, o.study.from);
  add_studies_option(command, o.studies);
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden study create study.toml --name squad",
                         "trainwarden study create study.toml --name squad-2 --from squad"});
}

void add_study_ask(CLI::App& study, CommandAction& action) {
  auto options = std::make_shared<StudyAskOptions>();
  StudyAskOptions& o = *options;
  CLI::App& command = add_command(study, "ask", "Get a trial to run: its number and its values", options, action, act);
  add_study_choice(command, o.study);
  command.add_option("--worker", o.worker, "Who runs it, for people (default: this host and process)")
      ->type_name("TEXT");
  command
      .add_option("--fingerprint", o.fingerprint,
                  "Of the code and data that it runs with: results of another one are not taken for its own")
      ->type_name("TEXT");
  add_lease_option(command, o.lease_seconds);
  add_json_flag(command, o.json);
  set_examples(command,
               {"trainwarden study ask squad", "trainwarden study ask squad --fingerprint $(git rev-parse HEAD)",
                "trainwarden study ask squad --lease 600 --json"});
}

void add_study_extend(CLI::App& study, CommandAction& action) {
  auto options = std::make_shared<StudyExtendOptions>();
  StudyExtendOptions& o = *options;
  CLI::App& command =
      add_command(study, "extend", "Ask for parameters that an open study need not know, and get the trial's values",
                  options, action, act);
  add_study_choice(command, o.study);
  add_trial_number(command, o.trial);
  add_words(command, "PARAMETER", o.parameters, "Parameters, NAME=TABLE: as a study's file has them")
      ->required()
      ->type_name("NAME=TABLE");
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden study extend squad 0 'rate={min = 1e-5, max = 0.1, log = true}'",
                         "trainwarden study extend squad 0 'kind={choices = [\"svc\", \"forest\"]}' --json"});
}

void add_study_report(CLI::App& study, CommandAction& action) {
  auto options = std::make_shared<StudyReportOptions>();
  StudyReportOptions& o = *options;
  CLI::App& command =
      add_command(study, "report", "Say how far a trial is, and hear whether it may go on", options, action, act);
  add_study_choice(command, o.study);
  add_trial_number(command, o.trial);
  command.add_option("--step", o.step, "The step that they are of")->required()->type_name("N");
  add_words(command, "METRIC", o.metrics, "Metrics, NAME=VALUE")->required()->type_name("NAME=VALUE");
  add_lease_option(command, o.lease_seconds);
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden study report squad 0 --step 100 f1=0.7"});
}

void add_study_tell(CLI::App& study, CommandAction& action) {
  auto options = std::make_shared<StudyTellOptions>();
  StudyTellOptions& o = *options;
  CLI::App& command = add_command(study, "tell", "End a trial: its metrics, or that it failed", options, action, act);
  add_study_choice(command, o.study);
  add_trial_number(command, o.trial);
  add_words(command, "METRIC", o.metrics, "Metrics, NAME=VALUE")->type_name("NAME=VALUE");
  CLI::Option* const failed = command.add_flag("--failed", o.failed, "It has failed");
  command.add_flag("--pruned", o.pruned, "It was ended early")->excludes(failed);
  command.add_option("--why", o.why, "Why, for people")->type_name("TEXT");
  command.add_option("--unused", o.unused, "An optional parameter that it had and did not ask for; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command.add_option("--attribute", o.attributes, "What is kept with it, NAME=JSON; may be repeated")
      ->type_name("NAME=JSON")
      ->allow_extra_args(false);
  set_examples(command, {"trainwarden study tell squad 0 f1=0.91",
                         "trainwarden study tell squad 1 --failed --why 'out of memory'"});
}

void add_study_enqueue(CLI::App& study, CommandAction& action) {
  auto options = std::make_shared<StudyEnqueueOptions>();
  StudyEnqueueOptions& o = *options;
  CLI::App& command = add_command(study, "enqueue", "Name values that are to be tried next", options, action, act);
  add_study_choice(command, o.study);
  add_words(command, "VALUE", o.values, "Values of all parameters, NAME=VALUE")->required()->type_name("NAME=VALUE");
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden study enqueue squad learning_rate=3e-5 batch_size=16"});
}

}  // namespace trainwarden::cli
