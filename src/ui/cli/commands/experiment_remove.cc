// `trainwarden experiment rm`.
#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "core/base/text.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/experiment_commands.h"
#include "ui/cli/options/catalogue_choice.h"
#include "ui/cli/options/experiment_choice.h"
#include "ui/cli/terminal/output.h"
#include "work/catalogue/component_search.h"

namespace trainwarden::cli {
namespace {

namespace fs = std::filesystem;

struct ExperimentRemoveOptions {
  std::string experiments;
  std::string name;
  std::string kind;
  bool components = false;
};

// What lies in one of the store's folders: NAME.json, or a component's folder.
Status remove_entity(const experiments::ExperimentStore& store, const char* folder, const std::string& file) {
  const auto root = store.folder().folder();
  if (!root) return Status(Code::kUnimplemented, "experiments can be removed from folders of this machine only");
  std::error_code error;
  fs::remove_all(*root / folder / file, error);
  if (!error) return Status();
  return Status(Code::kInternal,
                fmt::format("cannot remove {}: {}", printable((*root / folder / file).string()), error.message()));
}

// Those that belong to nothing but what is removed. kFailedPrecondition when there are any and none may be removed.
Result<std::vector<std::string>> components_to_remove(OpenExperiments& opened, const ExperimentRemoveOptions& options,
                                                      const std::string& property,
                                                      const std::set<std::string>& trials) {
  catalogue::SearchExpression of_it;
  of_it.filters = {{property, catalogue::SearchOperator::kEquals, options.name}};
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto found,
                               opened.catalogue.components(opened.store, of_it, {}, catalogue::kMostComponents));
  if (!found.empty() && !options.components) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("components belong to {}: {} of them; --components removes them too",
                              printable(options.name), found.size()));
  }
  std::vector<std::string> names;
  for (const catalogue::FoundComponent& one : found) {
    const auto& own = one.component.now.trials;
    if (std::includes(trials.begin(), trials.end(), own.begin(), own.end())) names.push_back(one.component.name);
  }
  return names;
}

Status remove_components(const experiments::ExperimentStore& store, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    TRAINWARDEN_RETURN_IF_ERROR(remove_entity(store, experiments::kComponentsFolder, name));
  }
  return Status();
}

Status remove_trial(OpenExperiments& opened, const ExperimentRemoveOptions& options) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto components,
                               components_to_remove(opened, options, "Parents.TrialName", {options.name}));
  TRAINWARDEN_RETURN_IF_ERROR(remove_components(opened.store, components));
  return remove_entity(opened.store, experiments::kTrialsFolder, options.name + ".json");
}

// The experiment last: should something fail, the command can be given again.
Status remove_experiment(OpenExperiments& opened, const ExperimentRemoveOptions& options) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto trials, opened.catalogue.trials(opened.store, options.name));
  std::set<std::string> names;
  for (const experiments::TrialInfo& trial : trials) names.insert(trial.name);
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto components,
                               components_to_remove(opened, options, "Parents.ExperimentName", names));
  TRAINWARDEN_RETURN_IF_ERROR(remove_components(opened.store, components));
  for (const std::string& trial : names) {
    TRAINWARDEN_RETURN_IF_ERROR(remove_entity(opened.store, experiments::kTrialsFolder, trial + ".json"));
  }
  return remove_entity(opened.store, experiments::kExperimentsFolder, options.name + ".json");
}

Status remove_named(const ExperimentRemoveOptions& options) {
  TRAINWARDEN_ASSIGN_OR_RETURN(OpenExperiments opened, open_experiments(options.experiments));
  TRAINWARDEN_ASSIGN_OR_RETURN(const NamedEntity named, find_entity(opened.store, options.kind, options.name));
  Status status;
  if (named.experiment) {
    status = remove_experiment(opened, options);
  } else if (named.trial) {
    status = remove_trial(opened, options);
  } else {
    status = remove_entity(opened.store, experiments::kComponentsFolder, options.name);
  }
  report_notes(opened.catalogue);
  return status;
}

int act(const ExperimentRemoveOptions& options) {
  const Status status = remove_named(options);
  return status.ok() ? kExitFine : report_error(status);
}

}  // namespace

void add_experiment_rm(CLI::App& experiment, CommandAction& action) {
  auto options = std::make_shared<ExperimentRemoveOptions>();
  ExperimentRemoveOptions& o = *options;
  CLI::App& command =
      add_command(experiment, "rm", "Remove an experiment, a trial or a component", options, action, act);
  command.add_option("NAME", o.name, "Name of an experiment, a trial or a component")->required()->type_name("");
  add_kind_option(command, o.kind);
  command.add_flag("--components", o.components, "Of an experiment or a trial: its components too");
  add_experiments_option(command, o.experiments);
  set_examples(command, {"trainwarden experiment rm eval-1", "trainwarden experiment rm digits --components"});
}

}  // namespace trainwarden::cli
