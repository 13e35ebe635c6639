// `trainwarden experiment ls`, `show`, `search` and `analytics`.
#include "core/base/text.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/experiment_commands.h"
#include "ui/cli/options/catalogue_choice.h"
#include "ui/cli/options/experiment_choice.h"
#include "ui/cli/options/words_option.h"
#include "ui/cli/reports/experiment_view.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "work/catalogue/component_frame.h"
#include "work/catalogue/component_values.h"

namespace trainwarden::cli {
namespace {

using catalogue::FoundComponent;
using catalogue::SearchOperator;

struct ExperimentLsOptions {
  std::string experiments;
  bool json = false;
};

struct ExperimentShowOptions {
  std::string experiments;
  std::string name;
  std::string kind;  // empty: an experiment, else a trial, else a component
  bool json = false;
};

struct ExperimentSearchOptions {
  std::string experiments;
  SearchChoice search;
  std::vector<std::string> columns;
  bool json = false;
};

struct ExperimentAnalyticsOptions {
  std::string experiments;
  std::string experiment;
  SearchChoice search;
  catalogue::FrameChoice frame;
  bool json = false;
  bool csv = false;
};

int act(const ExperimentLsOptions& options) {
  auto opened = open_experiments(options.experiments);
  if (!opened.ok()) return report_error(opened.status());
  const auto all = opened->catalogue.experiments(opened->store);
  report_notes(opened->catalogue);
  if (!all.ok()) return report_error(all.status());
  if (options.json) {
    print_json(experiments_json(*all));
  } else if (all->empty()) {
    emit("no experiments in {}; make one with `trainwarden experiment create NAME`\n",
         opened->store.folder().address());
  } else {
    emit("{}", Lines{experiments_table(*all)});
  }
  return kExitFine;
}

catalogue::SearchExpression only(const char* property, const std::string& value) {
  return {{{property, SearchOperator::kEquals, value}}, {}, {}, false};
}

int show_experiment(OpenExperiments& opened, const experiments::ExperimentInfo& info, bool json) {
  const auto trials = opened.catalogue.trials(opened.store, info.name);
  if (!trials.ok()) return report_error(trials.status());
  const auto found = opened.catalogue.components(opened.store, only("Parents.ExperimentName", info.name), {},
                                                 catalogue::kMostComponents);
  report_notes(opened.catalogue);
  if (!found.ok()) return report_error(found.status());
  if (json) {
    print_json(experiment_json(info, *trials, *found));
  } else {
    emit("{}", Lines{experiment_text(info, *trials, *found)});
  }
  return kExitFine;
}

int show_component(OpenExperiments& opened, const std::string& name, bool json) {
  const auto found = opened.catalogue.components(opened.store, only("TrialComponentName", name), {}, 1);
  report_notes(opened.catalogue);
  if (!found.ok()) return report_error(found.status());
  if (found->empty()) return report_error(opened.store.read_component(name).status());
  if (json) {
    print_json(component_json(found->front()));
  } else {
    emit("{}", Lines{component_text(found->front())});
  }
  return kExitFine;
}

int show_trial(OpenExperiments& opened, const experiments::TrialInfo& trial, bool json) {
  const auto found =
      opened.catalogue.components(opened.store, only("Parents.TrialName", trial.name), {}, catalogue::kMostComponents);
  report_notes(opened.catalogue);
  if (!found.ok()) return report_error(found.status());
  if (json) {
    print_json(trial_json(trial, *found));
  } else {
    emit("{}", Lines{trial_text(trial, *found)});
  }
  return kExitFine;
}

int act(const ExperimentShowOptions& options) {
  auto opened = open_experiments(options.experiments);
  if (!opened.ok()) return report_error(opened.status());
  const auto named = find_entity(opened->store, options.kind, options.name);
  if (!named.ok()) return report_error(named.status());
  if (named->experiment) return show_experiment(*opened, *named->experiment, options.json);
  if (named->trial) return show_trial(*opened, *named->trial, options.json);
  return show_component(*opened, options.name, options.json);
}

// A value that no component has is a slip; one that none of those found has need not be. Where there are more than a
// search can give, nothing is known of the others.
Status check_values(OpenExperiments& opened, const std::vector<FoundComponent>& found,
                    const catalogue::NamedValues& named) {
  if (check_named_values(found, named).ok()) return Status();
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto all,
                               opened.catalogue.components(opened.store, {}, {}, catalogue::kMostComponents));
  const bool is_all = !all.empty() && all.size() < catalogue::kMostComponents;
  return is_all ? check_named_values(all, named) : Status();
}

int act(const ExperimentSearchOptions& options) {
  const auto expression = options.search.read();
  if (!expression.ok()) return report_error(expression.status());
  auto opened = open_experiments(options.experiments);
  if (!opened.ok()) return report_error(opened.status());
  const auto found = opened->catalogue.components(opened->store, *expression, options.search.sort, options.search.most);
  report_notes(opened->catalogue);
  if (!found.ok()) return report_error(found.status());
  const Status known = check_values(*opened, *found, {options.columns, options.search.properties()});
  if (!known.ok()) return report_error(known);
  if (options.json) {
    OrderedJson list = OrderedJson::array();
    for (const FoundComponent& one : *found) list.push_back(component_json(one));
    print_json({{"components", list}});
  } else if (found->empty()) {
    emit("no component meets this\n");
  } else {
    emit("{}", Lines{components_table(*found, options.columns)});
  }
  return kExitFine;
}

int act(const ExperimentAnalyticsOptions& options) {
  auto expression = options.search.read();
  if (!expression.ok()) return report_error(expression.status());
  auto opened = open_experiments(options.experiments);
  if (!opened.ok()) return report_error(opened.status());
  if (!options.experiment.empty()) {
    if (const auto info = opened->store.read_experiment(options.experiment); !info.ok())
      return report_error(info.status());
    catalogue::SearchExpression both;
    both.parts = {only("Parents.ExperimentName", options.experiment), *std::move(expression)};
    expression = std::move(both);
  }
  const auto found = opened->catalogue.components(opened->store, *expression, options.search.sort, options.search.most);
  report_notes(opened->catalogue);
  if (!found.ok()) return report_error(found.status());
  const catalogue::ComponentFrame frame = catalogue::frame_of(*found, options.frame);
  if (options.json) {
    print_json(frame_json(frame));
  } else if (options.csv) {
    emit("{}", Lines{frame_csv(frame)});
  } else {
    emit("{}", Lines{frame_table(frame)});
  }
  return kExitFine;
}

}  // namespace

void add_experiment_ls(CLI::App& experiment, CommandAction& action) {
  auto options = std::make_shared<ExperimentLsOptions>();
  CLI::App& command = add_command(experiment, "ls", "List the experiments, the newest first", options, action, act);
  add_experiments_option(command, options->experiments);
  add_json_flag(command, options->json);
  set_examples(command, {"trainwarden experiment ls"});
}

void add_experiment_show(CLI::App& experiment, CommandAction& action) {
  auto options = std::make_shared<ExperimentShowOptions>();
  CLI::App& command = add_command(
      experiment, "show", "Show an experiment or a trial with its components, or a component", options, action, act);
  command.add_option("NAME", options->name, "Name of an experiment, a trial or a component")->required()->type_name("");
  add_kind_option(command, options->kind);
  add_experiments_option(command, options->experiments);
  add_json_flag(command, options->json);
  set_examples(command,
               {"trainwarden experiment show digits", "trainwarden experiment show bert-7-aws-training-job --json"});
}

void add_experiment_search(CLI::App& experiment, CommandAction& action) {
  auto options = std::make_shared<ExperimentSearchOptions>();
  ExperimentSearchOptions& o = *options;
  CLI::App& command = add_command(experiment, "search", "Find components by their values", options, action, act);
  add_search_options(command, o.search);
  add_words(command, "--columns", o.columns, "Parameters and metrics to be shown: lr,loss")
      ->delimiter(',')
      ->type_name("NAME");
  add_experiments_option(command, o.experiments);
  add_json_flag(command, o.json);
  set_examples(command,
               {"trainwarden experiment search --filter 'Parameters.lr > 0.1' --filter 'Status = Completed'",
                "trainwarden experiment search --sort-by Metrics.loss.Min --ascending --most 10 --columns lr,loss"});
}

void add_experiment_analytics(CLI::App& experiment, CommandAction& action) {
  auto options = std::make_shared<ExperimentAnalyticsOptions>();
  ExperimentAnalyticsOptions& o = *options;
  CLI::App& command =
      add_command(experiment, "analytics", "Print components as the frame of SageMaker's ExperimentAnalytics", options,
                  action, act);
  command.add_option("EXPERIMENT", o.experiment, "Only components of this experiment")->type_name("");
  add_search_options(command, o.search);
  const auto add_names = [&command](const char* name, std::vector<std::string>& names, const char* description) {
    add_words(command, name, names, description)->delimiter(',')->type_name("NAME");
  };
  add_names("--metrics", o.frame.metrics, "Only these metrics are columns");
  add_names("--parameters", o.frame.parameters, "Only these parameters");
  add_names("--inputs", o.frame.inputs, "Only these input artifacts");
  add_names("--outputs", o.frame.outputs, "Only these output artifacts");
  add_experiments_option(command, o.experiments);
  add_json_flag(command, o.json);
  command.add_flag("--csv", o.csv, "As comma-separated values")->excludes("--json");
  set_examples(command, {"trainwarden experiment analytics digits --csv > digits.csv",
                         "trainwarden experiment analytics digits --metrics loss --json"});
}

}  // namespace trainwarden::cli
