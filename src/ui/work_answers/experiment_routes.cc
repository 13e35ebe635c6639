// Experiments, one of them with its components, and the lineage of a thing.
#include <map>

#include <fmt/format.h>

#include "core/base/text.h"
#include "ui/answers/replies.h"
#include "ui/work_answers/experiment_json.h"
#include "ui/work_answers/work_desk.h"
#include "work/experiments/job_component.h"
#include "work/experiments/lineage.h"

namespace trainwarden::work_answers {
namespace {

using answers::Method;
using answers::Reply;
using answers::Request;
using answers::Services;
using catalogue::LineageDirection;
using format::OrderedJson;

// Of the jobs that are there.
JobOfComponent job_finder(const WorkDesk& desk) {
  return [&desk](const std::string& component) -> std::string {
    const std::string ending = experiments::component_of_job("");
    if (!component.ends_with(ending)) return "";
    const std::string job = component.substr(0, component.size() - ending.size());
    return desk.places().jobs.storage().exists(job + "/" + jobs::kOrderFile) ? job : "";
  };
}

Result<Reply> list_of_experiments(WorkDesk& desk, const Request& request) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto all, desk.experiment_catalogue().ask([&](catalogue::Catalogue& catalogue) {
    return catalogue.experiments(desk.experiments());
  }));
  OrderedJson list = OrderedJson::array();
  for (const catalogue::CataloguedExperiment& one : all) list.push_back(experiment_json(one));
  return answers::json_reply({{"folder", desk.experiments().folder().address()}, {"experiments", std::move(list)}});
}

Result<Reply> one_experiment(WorkDesk& desk, const Request& request) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({}));
  const std::string& name = request.in_path("experiment");
  TRAINWARDEN_ASSIGN_OR_RETURN(const experiments::ExperimentInfo info, desk.experiments().read_experiment(name));
  const catalogue::SearchExpression of_it{
      .filters = {{"Parents.ExperimentName", catalogue::SearchOperator::kEquals, name}}, .nested = {}, .parts = {}};
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto found, desk.experiment_catalogue().ask([&](catalogue::Catalogue& catalogue) {
    return catalogue.components(desk.experiments(), of_it, {}, catalogue::kMostComponents);
  }));
  OrderedJson components = OrderedJson::array();
  for (const catalogue::FoundComponent& one : found) components.push_back(component_json(one, job_finder(desk)));
  return answers::json_reply({{"name", info.name},
                              {"display_name", info.display_name},
                              {"description", info.description},
                              {"created_unix_ms", info.created_unix_ns / 1'000'000},
                              {"components", std::move(components)},
                              {"cut", found.size() == catalogue::kMostComponents}});
}

// A hash may be shortened as long as it is like no other.
Result<std::string> node_of_hash(WorkDesk& desk, const std::string& hash) {
  const std::string node = std::string(experiments::kArtifactNode) + hash;
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto nodes, desk.experiment_catalogue().ask([&](catalogue::Catalogue& catalogue) {
    return catalogue.artifacts_like(desk.experiments(), node);
  }));
  if (nodes.size() == 1) return nodes.front();
  if (nodes.empty()) return node;
  return Status(Code::kInvalidArgument,
                fmt::format("several artifacts have a hash that begins with {}; give more of it", printable(hash)));
}

// "component:...", "artifact:...", "trial:...", a hash, or the name of a component, job or trial. No file is opened.
Result<std::string> node_named(WorkDesk& desk, const std::string& name) {
  for (const auto& beginning : {experiments::kComponentNode, experiments::kTrialNode, experiments::kArtifactNode}) {
    if (name.starts_with(beginning)) return name;
  }
  if (name.starts_with("sha256:")) return node_of_hash(desk, name);
  for (const std::string& component : {name, experiments::component_of_job(name)}) {
    if (desk.experiments().read_component(component).ok()) return std::string(experiments::kComponentNode) + component;
  }
  if (desk.experiments().read_trial(name).ok()) return std::string(experiments::kTrialNode) + name;
  return std::string(experiments::kArtifactNode) + name;
}

Result<LineageDirection> direction_of(const Request& request) {
  const std::string word = request.query.text("direction", "both");
  if (word == "both") return LineageDirection::kBoth;
  if (word == "ascendants") return LineageDirection::kAscendants;
  if (word == "descendants") return LineageDirection::kDescendants;
  return Status(Code::kInvalidArgument,
                fmt::format("direction: expected ascendants, descendants or both, found \"{}\"", printable(word)));
}

Result<Reply> lineage_of(WorkDesk& desk, const Request& request) {
  TRAINWARDEN_RETURN_IF_ERROR(request.query.only({"of", "direction", "depth"}));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string of, request.query.required_text("of"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const LineageDirection direction, direction_of(request));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t depth, request.query.integer("depth", 1, catalogue::kMaxLineageDepth,
                                                                               catalogue::kMaxLineageDepth));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string node, node_named(desk, of));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto lineage,
                               desk.experiment_catalogue().ask([&](catalogue::Catalogue& catalogue) {
                                 return catalogue.lineage(desk.experiments(), node, direction, static_cast<int>(depth));
                               }));
  return answers::json_reply(lineage_json(lineage, job_finder(desk)));
}

}  // namespace

std::vector<answers::Route> experiment_routes(WorkDesk& desk) {
  const auto with_desk = [&desk](auto* handler) {
    return [&desk, handler](const Request& request, const Services&) { return handler(desk, request); };
  };
  return {
      {Method::kGet, "/experiments", with_desk(list_of_experiments)},
      {Method::kGet, "/experiments/{experiment}", with_desk(one_experiment)},
      {Method::kGet, "/lineage", with_desk(lineage_of)},
  };
}

}  // namespace trainwarden::work_answers
