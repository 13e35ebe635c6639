// `trainwarden lineage`: what led to a job, a model or a data set, and what came of it.
#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/experiment_commands.h"
#include "ui/cli/options/catalogue_choice.h"
#include "ui/cli/options/experiment_choice.h"
#include "ui/cli/reports/lineage_view.h"
#include "ui/cli/terminal/output.h"
#include "work/experiments/artifact_reading.h"
#include "work/experiments/job_component.h"
#include "work/experiments/lineage.h"

namespace trainwarden::cli {
namespace {

using catalogue::LineageDirection;

struct LineageOptions {
  std::string experiments;
  std::string name;
  std::string direction = "both";
  int depth = catalogue::kMaxLineageDepth;
  bool table = false;
  bool json = false;
};

struct AssociateOptions {
  std::string experiments;
  std::string source;
  std::string destination;
  std::string type = "AssociatedWith";
};

bool is_node_text(const std::string& text) {
  return text.starts_with(experiments::kComponentNode) || text.starts_with(experiments::kTrialNode) ||
         text.starts_with(experiments::kArtifactNode);
}

// A hash, or the beginning of one that is like no other.
Result<std::string> node_of_hash(OpenExperiments& opened, const std::string& hash) {
  const std::string node = std::string(experiments::kArtifactNode) + hash;
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto nodes, opened.catalogue.artifacts_like(opened.store, node));
  if (nodes.size() == 1) return nodes.front();
  if (nodes.empty()) return node;
  return Status(Code::kInvalidArgument,
                fmt::format("several artifacts have a hash that begins with {}; type more of it", printable(hash)));
}

// What a user may call a thing: a component, a job, a trial, a hash, a path or an address.
Result<std::string> node_named(OpenExperiments& opened, const std::string& name) {
  if (is_node_text(name)) return name;
  if (name.starts_with("sha256:")) return node_of_hash(opened, name);
  for (const std::string& component : {name, experiments::component_of_job(name)}) {
    if (opened.store.read_component(component).ok()) return std::string(experiments::kComponentNode) + component;
  }
  if (opened.store.read_trial(name).ok()) return std::string(experiments::kTrialNode) + name;
  const experiments::ArtifactUse use = experiments::read_artifact("", name, false, {});
  const bool is_address = name.find_first_of("/.:") != std::string::npos;
  if (!is_address && use.hash.empty()) {
    return Status(
        Code::kNotFound,
        fmt::format("there is no component, job, trial or file \"{}\"; `trainwarden experiment search` lists the "
                    "components",
                    printable(name)));
  }
  return experiments::node_of(use);
}

// A path stands for what is in it now, which may be new.
Status not_known(const Status& status, const std::string& typed, const std::string& node) {
  const std::string prefix = std::string(experiments::kArtifactNode) + "sha256:";
  if (status.code() != Code::kNotFound || !node.starts_with(prefix) || is_node_text(typed) ||
      typed.starts_with("sha256:")) {
    return status;
  }
  return Status(Code::kNotFound,
                fmt::format("{}: no job has read or written what is in it now ({}); it may have been changed since, "
                            "and `trainwarden lineage JOB` shows what a job had",
                            printable(typed), node.substr(prefix.size() - 7, 19)));
}

int act(const LineageOptions& options) {
  auto opened = open_experiments(options.experiments);
  if (!opened.ok()) return report_error(opened.status());
  const auto start = node_named(*opened, options.name);
  if (!start.ok()) return report_error(start.status());
  const LineageDirection direction = options.direction == "ascendants"    ? LineageDirection::kAscendants
                                     : options.direction == "descendants" ? LineageDirection::kDescendants
                                                                          : LineageDirection::kBoth;
  const auto lineage = opened->catalogue.lineage(opened->store, *start, direction, options.table ? 1 : options.depth);
  report_notes(opened->catalogue);
  if (!lineage.ok()) return report_error(not_known(lineage.status(), options.name, *start));
  if (options.json) {
    print_json(options.table ? lineage_table_json(*lineage) : lineage_json(*lineage));
  } else {
    emit("{}", Lines{options.table ? lineage_table(*lineage) : lineage_text(*lineage)});
  }
  if (lineage->cut) emit(stderr, "trainwarden: there is more: only {} things are shown\n", lineage->vertices.size());
  return kExitFine;
}

Status associate(const AssociateOptions& options) {
  TRAINWARDEN_ASSIGN_OR_RETURN(OpenExperiments opened, open_experiments(options.experiments));
  experiments::Association association;
  TRAINWARDEN_ASSIGN_OR_RETURN(association.source, node_named(opened, options.source));
  TRAINWARDEN_ASSIGN_OR_RETURN(association.destination, node_named(opened, options.destination));
  association.type = options.type;
  association.unix_ns = system_clock().unix_ns();
  return experiments::add_association(opened.store, association);
}

int act(const AssociateOptions& options) {
  const Status status = associate(options);
  return status.ok() ? kExitFine : report_error(status);
}

}  // namespace

void add_experiment_associate(CLI::App& experiment, CommandAction& action) {
  auto options = std::make_shared<AssociateOptions>();
  AssociateOptions& o = *options;
  CLI::App& command = add_command(experiment, "associate", "Say how two things belong together", options, action, act);
  command.add_option("SOURCE", o.source, "A component, job, trial, hash, path or address")->required()->type_name("");
  command.add_option("DESTINATION", o.destination, "The same")->required()->type_name("");
  command.add_option("--type", o.type, "ContributedTo, Produced, AssociatedWith (default), DerivedFrom or SameAs")
      ->type_name("TYPE");
  add_experiments_option(command, o.experiments);
  set_examples(command, {"trainwarden experiment associate model.tar.gz model-small.tar.gz --type DerivedFrom"});
}

void add_lineage(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<LineageOptions>();
  LineageOptions& o = *options;
  CLI::App& command = add_command(app, "lineage", "Show what led to a job, a model or a data set, and what came of it",
                                  options, action, act);
  command.group(kLookGroup);
  command.add_option("NAME", o.name, "A component, job, trial, hash, path or address")->required()->type_name("");
  command.add_option("--direction", o.direction, "ascendants, descendants or both (default)")
      ->check(CLI::IsMember({"ascendants", "descendants", "both"}))
      ->type_name("WAY");
  command.add_option("--depth", o.depth, "How many steps")
      ->check(CLI::Range(1, catalogue::kMaxLineageDepth))
      ->type_name("N");
  command.add_flag("--table", o.table, "One step, with the columns of SageMaker's LineageTableVisualizer");
  add_experiments_option(command, o.experiments);
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden lineage bert-7", "trainwarden lineage data/train --direction descendants",
                         "trainwarden lineage bert-7 --table"});
}

}  // namespace trainwarden::cli
