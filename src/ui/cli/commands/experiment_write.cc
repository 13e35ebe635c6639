// `trainwarden experiment create` and `experiment log`.
#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/experiment_commands.h"
#include "ui/cli/options/experiment_choice.h"
#include "ui/cli/options/words_option.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "work/experiments/artifact_reading.h"

namespace trainwarden::cli {
namespace {

using experiments::ComponentRecord;
using experiments::ExperimentStore;

struct ExperimentCreateOptions {
  std::string experiments;
  std::string name;
  std::string display_name;
  std::string description;
  std::vector<std::string> tags;
  std::vector<std::string> trials;
};

struct ExperimentLogOptions {
  std::string experiments;
  std::string component;
  std::string experiment;
  std::vector<std::string> trials;
  std::vector<std::string> parameters;
  std::vector<std::string> metrics;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> tags;
  std::string display_name;
  std::string status;
  std::string message;
};

Status create_with_trials(const ExperimentCreateOptions& options) {
  ExperimentStore store(experiments_folder(options.experiments));
  const std::int64_t now = system_clock().unix_ns();
  experiments::ExperimentInfo info{options.name, options.display_name, options.description, now, {}};
  TRAINWARDEN_ASSIGN_OR_RETURN(info.tags, parse_pairs("--tag", options.tags));
  for (const std::string& trial : options.trials) {
    TRAINWARDEN_RETURN_IF_ERROR(experiments::check_entity_name("trial", trial));
  }
  const Status made = store.create_experiment(info);
  // A further trial of an experiment that is there.
  const bool adds = made.code() == Code::kAlreadyExists && !options.trials.empty();
  if (!made.ok() && !adds) return made;
  for (const std::string& trial : options.trials) {
    TRAINWARDEN_RETURN_IF_ERROR(store.ensure_trial({trial, options.name, "", now}));
  }
  return Status();
}

int act(const ExperimentCreateOptions& options) {
  const Status status = create_with_trials(options);
  if (!status.ok()) return report_error(status);
  emit("{}\n", options.name);
  return kExitFine;
}

Status read_parameters(const ExperimentLogOptions& options, ComponentRecord& record) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto pairs, parse_pairs("--param", options.parameters));
  for (const auto& [name, text] : pairs) {
    const auto number = parse_double(text);
    record.parameters[name] = number ? experiments::ComponentValue(*number) : experiments::ComponentValue(text);
  }
  return Status();
}

Status read_metrics(const ExperimentLogOptions& options, ComponentRecord& record) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto pairs, parse_pairs("--metric", options.metrics));
  for (const auto& [name, text] : pairs) {
    const auto number = parse_double(text);
    if (!number) {
      return Status(Code::kInvalidArgument,
                    fmt::format("--metric {}: expected a number, found \"{}\"", printable(name), printable(text)));
    }
    record.metrics[name].add(*number, record.unix_ns);
  }
  return Status();
}

Status read_artifacts(const char* option, const std::vector<std::string>& words, bool is_output,
                      std::map<std::string, experiments::ArtifactUse>& artifacts) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto pairs, parse_pairs(option, words));
  for (const auto& [name, uri] : pairs) {
    artifacts[name] = experiments::read_artifact(name, uri, is_output, {});
    const experiments::ArtifactUse& use = artifacts[name];
    if (!use.note.empty()) emit(stderr, "trainwarden: {}: {}\n", use.uri, use.note);
  }
  return Status();
}

Result<ComponentRecord> read_record(const ExperimentLogOptions& options) {
  ComponentRecord record;
  record.unix_ns = system_clock().unix_ns();
  record.display_name = options.display_name;
  record.status = options.status;
  record.message = options.message;
  TRAINWARDEN_RETURN_IF_ERROR(read_parameters(options, record));
  TRAINWARDEN_RETURN_IF_ERROR(read_metrics(options, record));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.tags, parse_pairs("--tag", options.tags));
  TRAINWARDEN_RETURN_IF_ERROR(experiments::check_entity_name("component", options.component));
  TRAINWARDEN_RETURN_IF_ERROR(record.check());
  TRAINWARDEN_RETURN_IF_ERROR(read_artifacts("--input", options.inputs, false, record.inputs));
  TRAINWARDEN_RETURN_IF_ERROR(read_artifacts("--output", options.outputs, true, record.outputs));
  return record;
}

Status log_record(const ExperimentLogOptions& options) {
  TRAINWARDEN_ASSIGN_OR_RETURN(ComponentRecord record, read_record(options));
  ExperimentStore store(experiments_folder(options.experiments));
  record.trials = {options.trials.begin(), options.trials.end()};
  if (!options.experiment.empty()) {
    if (record.trials.empty()) record.trials = {experiments::default_trial(options.experiment)};
    for (const std::string& trial : record.trials) {
      TRAINWARDEN_RETURN_IF_ERROR(store.ensure_trial({trial, options.experiment, "", record.unix_ns}));
    }
  }
  return store.add_record(options.component, record);
}

int act(const ExperimentLogOptions& options) {
  const Status status = log_record(options);
  if (!status.ok()) return report_error(status);
  emit("{}\n", options.component);
  return kExitFine;
}

}  // namespace

void add_experiment_create(CLI::App& experiment, CommandAction& action) {
  auto options = std::make_shared<ExperimentCreateOptions>();
  ExperimentCreateOptions& o = *options;
  CLI::App& command = add_command(experiment, "create", "Make an experiment, or a trial of it", options, action, act);
  command.add_option("NAME", o.name, "Its name: letters, digits and hyphens")->required()->type_name("");
  add_words(command, "--trial", o.trials, "A trial of it; also of one that is there")->type_name("NAME");
  command.add_option("--display-name", o.display_name, "What people read")->type_name("TEXT");
  command.add_option("--description", o.description, "What is tried")->type_name("TEXT");
  add_words(command, "--tag", o.tags, "A tag")->type_name("KEY=VALUE");
  add_experiments_option(command, o.experiments);
  set_examples(command, {"trainwarden experiment create digits --description 'Which optimizer?'",
                         "trainwarden experiment create digits --trial cnn"});
}

void add_experiment_log(CLI::App& experiment, CommandAction& action) {
  auto options = std::make_shared<ExperimentLogOptions>();
  ExperimentLogOptions& o = *options;
  CLI::App& command = add_command(experiment, "log", "Say something of a component, which is made when it is new",
                                  options, action, act);
  command.add_option("COMPONENT", o.component, "Its name: letters, digits and hyphens")->required()->type_name("");
  command.add_option("--experiment", o.experiment, "The experiment that it belongs to")->type_name("NAME");
  add_words(command, "--trial", o.trials, "A trial that it belongs to; made when --experiment is given")
      ->type_name("NAME");
  add_words(command, "--param", o.parameters, "A parameter: a number or a text")->type_name("NAME=VALUE");
  add_words(command, "--metric", o.metrics, "One more value of a metric")->type_name("NAME=NUMBER");
  add_words(command, "--input", o.inputs, "What went in: a path, which is hashed, or an address")
      ->type_name("NAME=URI");
  add_words(command, "--output", o.outputs, "What came out")->type_name("NAME=URI");
  add_words(command, "--tag", o.tags, "A tag")->type_name("KEY=VALUE");
  command.add_option("--display-name", o.display_name, "What people read")->type_name("TEXT");
  command.add_option("--status", o.status, "InProgress, Completed, Failed, Stopping or Stopped")->type_name("STATUS");
  command.add_option("--message", o.message, "Why it stands so")->type_name("TEXT");
  add_experiments_option(command, o.experiments);
  set_examples(command,
               {"trainwarden experiment log prepare-1 --experiment digits --param rows=60000 --output train=data/train",
                "trainwarden experiment log eval-1 --experiment digits --trial cnn --metric accuracy=0.97"});
}

}  // namespace trainwarden::cli
