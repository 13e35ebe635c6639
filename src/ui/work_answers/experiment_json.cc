#include "ui/work_answers/experiment_json.h"

#include <utility>

#include "core/base/secret_mask.h"
#include "data/format/json_number.h"
#include "work/catalogue/lineage_table.h"

namespace trainwarden::work_answers {
namespace {

using experiments::ComponentRecord;
using experiments::MetricSummary;
using format::json_number;
using format::OrderedJson;

std::int64_t unix_ms(std::int64_t unix_ns) {
  return unix_ns / 1'000'000;
}

OrderedJson unix_ms_or_null(const std::optional<std::int64_t>& unix_ns) {
  return unix_ns ? OrderedJson(unix_ms(*unix_ns)) : OrderedJson(nullptr);
}

OrderedJson name_or_null(const std::string& name) {
  return name.empty() ? OrderedJson(nullptr) : OrderedJson(name);
}

OrderedJson parameters_json(const ComponentRecord& record) {
  OrderedJson json = OrderedJson::object();
  for (const auto& [name, value] : record.parameters) {
    const double* const number = std::get_if<double>(&value);
    json[name] = number != nullptr ? json_number(*number)
                                   : OrderedJson(process_mask().mask.value(name, std::get<std::string>(value)));
  }
  return json;
}

// Extremes and mean are of finite values only.
OrderedJson metric_json(const MetricSummary& summary) {
  const auto finite = [&](double value) { return summary.finite == 0 ? OrderedJson(nullptr) : json_number(value); };
  return {{"last", json_number(summary.last)},
          {"min", finite(summary.min)},
          {"max", finite(summary.max)},
          {"avg", finite(summary.mean)},
          {"stddev", finite(summary.deviation())},
          {"count", summary.count}};
}

OrderedJson metrics_json(const ComponentRecord& record) {
  OrderedJson json = OrderedJson::object();
  for (const auto& [name, summary] : record.metrics) json[name] = metric_json(summary);
  return json;
}

}  // namespace

OrderedJson experiment_json(const catalogue::CataloguedExperiment& experiment) {
  return {{"name", experiment.info.name},
          {"display_name", experiment.info.display_name},
          {"description", experiment.info.description},
          {"created_unix_ms", unix_ms(experiment.info.created_unix_ns)},
          {"trials", experiment.trials},
          {"components", experiment.components}};
}

OrderedJson component_json(const catalogue::FoundComponent& found, const JobOfComponent& job_of) {
  const experiments::Component& component = found.component;
  const ComponentRecord& now = component.now;
  return {{"name", component.name},
          {"display_name", now.display_name},
          {"job", name_or_null(job_of(component.name))},
          {"status", now.status},
          {"message", now.message},
          {"created_unix_ms", unix_ms(component.created_unix_ns)},
          {"start_unix_ms", unix_ms_or_null(now.start_unix_ns)},
          {"end_unix_ms", unix_ms_or_null(now.end_unix_ns)},
          {"trials", now.trials},
          {"parameters", parameters_json(now)},
          {"metrics", metrics_json(now)}};
}

OrderedJson lineage_json(const catalogue::Lineage& lineage, const JobOfComponent& job_of) {
  OrderedJson vertices = OrderedJson::array();
  for (const catalogue::LineageVertex& vertex : lineage.vertices) {
    const bool is_component = vertex.kind == "trial-component";
    vertices.push_back({{"node", vertex.node},
                        {"kind", vertex.kind},
                        {"name", vertex.name},
                        {"type", vertex.type},
                        {"distance", vertex.distance},
                        {"job", name_or_null(is_component ? job_of(vertex.name) : "")}});
  }
  OrderedJson edges = OrderedJson::array();
  for (const catalogue::LineageEdge& edge : lineage.edges) {
    edges.push_back({{"source", edge.source}, {"destination", edge.destination}, {"type", edge.type}});
  }
  OrderedJson rows = OrderedJson::array();
  for (const catalogue::LineageRow& row : catalogue::lineage_rows(lineage)) rows.push_back(row);
  return {{"start", lineage.vertices.front().node},
          {"vertices", std::move(vertices)},
          {"edges", std::move(edges)},
          {"cut", lineage.cut},
          {"table", {{"columns", catalogue::kLineageColumns}, {"rows", std::move(rows)}}}};
}

}  // namespace trainwarden::work_answers
