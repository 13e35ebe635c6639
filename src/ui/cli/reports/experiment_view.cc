#include "ui/cli/reports/experiment_view.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/clock.h"
#include "core/base/rfc3339.h"
#include "core/base/text.h"
#include "read/transfer/csv_field.h"
#include "ui/cli/reports/run_summary.h"
#include "ui/cli/terminal/table.h"
#include "ui/cli/terminal/time_text.h"

namespace trainwarden::cli {
namespace {

using catalogue::CataloguedExperiment;
using catalogue::ComponentFrame;
using catalogue::FoundComponent;
using catalogue::FrameCell;
using experiments::ArtifactUse;
using experiments::ComponentRecord;
using experiments::MetricSummary;

std::string parameter_text(const experiments::ComponentValue& value) {
  if (const double* const number = std::get_if<double>(&value)) return format_number(*number);
  return std::get<std::string>(value);
}

std::string value_text(const ComponentRecord& now, const std::string& column) {
  if (const auto found = now.parameters.find(column); found != now.parameters.end())
    return parameter_text(found->second);
  if (const auto found = now.metrics.find(column); found != now.metrics.end()) return format_number(found->second.last);
  return "";
}

OrderedJson time_json(const std::optional<std::int64_t>& unix_ns) {
  return unix_ns ? OrderedJson(format_rfc3339(*unix_ns, 3)) : OrderedJson(nullptr);
}

OrderedJson text_or_null(const std::string& text) {
  return text.empty() ? OrderedJson(nullptr) : OrderedJson(text);
}

// A number of finite values only.
OrderedJson finite_json(const MetricSummary& summary, double value) {
  return summary.finite == 0 ? OrderedJson(nullptr) : json_number(value);
}

OrderedJson metric_json(const MetricSummary& summary) {
  return {{"min", finite_json(summary, summary.min)},
          {"max", finite_json(summary, summary.max)},
          {"avg", finite_json(summary, summary.mean)},
          {"stddev", finite_json(summary, summary.deviation())},
          {"last", json_number(summary.last)},
          {"count", summary.count},
          {"time", format_rfc3339(summary.last_unix_ns, 3)}};
}

OrderedJson artifacts_json(const std::map<std::string, ArtifactUse>& artifacts) {
  OrderedJson json = OrderedJson::object();
  for (const auto& [name, use] : artifacts) {
    json[name] = {{"uri", use.uri},
                  {"media_type", text_or_null(use.media_type)},
                  {"type", use.type},
                  {"hash", text_or_null(use.hash)},
                  {"bytes", use.bytes ? OrderedJson(*use.bytes) : OrderedJson(nullptr)},
                  {"note", text_or_null(use.note)}};
  }
  return json;
}

// "123 B, sha256:0123abcd", or why there is none.
std::string content_text(const ArtifactUse& use) {
  if (use.hash.empty()) return use.note;
  return fmt::format("{}{}", use.bytes ? format_bytes(*use.bytes) + ", " : "", use.hash.substr(0, 19));
}

void add_artifact_rows(Table& table, const char* direction, const std::map<std::string, ArtifactUse>& artifacts) {
  for (const auto& [name, use] : artifacts) table.add_row({direction, name, use.type, use.uri, content_text(use)});
}

std::string cell_text_of(const FrameCell& cell) {
  if (const double* const number = std::get_if<double>(&cell)) return fmt::format("{}", *number);
  if (const auto* const text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* const list = std::get_if<std::vector<std::string>>(&cell))
    return fmt::format("{}", fmt::join(*list, ","));
  return "";
}

OrderedJson cell_json(const FrameCell& cell) {
  if (const double* const number = std::get_if<double>(&cell)) return json_number(*number);
  if (const auto* const text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* const list = std::get_if<std::vector<std::string>>(&cell)) return *list;
  return nullptr;
}

}  // namespace

std::string experiments_table(const std::vector<CataloguedExperiment>& all) {
  Table table({{"EXPERIMENT"}, {"CREATED"}, {"TRIALS", Align::kRight}, {"COMPONENTS", Align::kRight}, {"DESCRIPTION"}});
  const std::int64_t now = system_clock().unix_ns();
  for (const CataloguedExperiment& one : all) {
    const std::string about = one.info.description.empty() ? one.info.display_name : one.info.description;
    table.add_row({one.info.name, age_text(one.info.created_unix_ns, now), std::to_string(one.trials),
                   std::to_string(one.components), about});
  }
  return table.to_string();
}

OrderedJson experiments_json(const std::vector<CataloguedExperiment>& all) {
  OrderedJson list = OrderedJson::array();
  for (const CataloguedExperiment& one : all) {
    list.push_back({{"name", one.info.name},
                    {"display_name", text_or_null(one.info.display_name)},
                    {"description", text_or_null(one.info.description)},
                    {"created", format_rfc3339(one.info.created_unix_ns, 3)},
                    {"trials", one.trials},
                    {"components", one.components}});
  }
  return {{"experiments", list}};
}

std::string experiment_text(const experiments::ExperimentInfo& info, const std::vector<experiments::TrialInfo>& trials,
                            const std::vector<FoundComponent>& components) {
  std::string text = fmt::format("{}\n", info.name);
  if (!info.description.empty()) text += fmt::format("  {}\n", printable(info.description));
  std::vector<std::string> names;
  for (const auto& trial : trials) names.push_back(trial.name);
  text += fmt::format("  created  {}\n  trials   {}\n", local_time_text(info.created_unix_ns), fmt::join(names, ", "));
  for (const auto& [key, value] : info.tags)
    text += fmt::format("  tag      {}={}\n", printable(key), printable(value));
  return components.empty() ? text : text + "\n" + components_table(components, {});
}

OrderedJson experiment_json(const experiments::ExperimentInfo& info, const std::vector<experiments::TrialInfo>& trials,
                            const std::vector<FoundComponent>& components) {
  OrderedJson trial_list = OrderedJson::array();
  for (const auto& trial : trials) {
    trial_list.push_back({{"name", trial.name},
                          {"display_name", text_or_null(trial.display_name)},
                          {"created", format_rfc3339(trial.created_unix_ns, 3)}});
  }
  OrderedJson list = OrderedJson::array();
  for (const FoundComponent& one : components) list.push_back(component_json(one));
  return {{"name", info.name},
          {"display_name", text_or_null(info.display_name)},
          {"description", text_or_null(info.description)},
          {"created", format_rfc3339(info.created_unix_ns, 3)},
          {"tags", info.tags},
          {"trials", trial_list},
          {"components", list}};
}

std::string trial_text(const experiments::TrialInfo& trial, const std::vector<FoundComponent>& components) {
  const std::string text = fmt::format("{}\n  created     {}\n  experiment  {}\n", trial.name,
                                       local_time_text(trial.created_unix_ns), trial.experiment);
  return components.empty() ? text : text + "\n" + components_table(components, {});
}

OrderedJson trial_json(const experiments::TrialInfo& trial, const std::vector<FoundComponent>& components) {
  OrderedJson list = OrderedJson::array();
  for (const FoundComponent& one : components) list.push_back(component_json(one));
  return {{"name", trial.name},
          {"experiment", trial.experiment},
          {"display_name", text_or_null(trial.display_name)},
          {"created", format_rfc3339(trial.created_unix_ns, 3)},
          {"components", list}};
}

std::string components_table(const std::vector<FoundComponent>& components, const std::vector<std::string>& columns) {
  std::vector<Column> titles = {{"COMPONENT"}, {"STATUS"}, {"CREATED"}, {"TRIALS"}};
  for (const std::string& column : columns) titles.push_back({printable(column), Align::kRight});
  Table table(titles);
  const std::int64_t now = system_clock().unix_ns();
  for (const FoundComponent& one : components) {
    const ComponentRecord& record = one.component.now;
    std::vector<std::string> cells = {one.component.name, record.status, age_text(one.component.created_unix_ns, now),
                                      fmt::format("{}", fmt::join(record.trials, ","))};
    for (const std::string& column : columns) cells.push_back(value_text(record, column));
    table.add_row(std::move(cells));
  }
  return table.to_string();
}

std::string component_text(const FoundComponent& found) {
  const ComponentRecord& now = found.component.now;
  std::string text = fmt::format("{}{}\n", found.component.name, now.status.empty() ? "" : ": " + now.status);
  if (!now.message.empty()) text += fmt::format("  {}\n", printable(now.message));
  if (!now.source.empty()) text += fmt::format("  source       {}\n", printable(now.source));
  text += fmt::format("  created      {}\n", local_time_text(found.component.created_unix_ns));
  text += fmt::format("  trials       {}\n  experiments  {}\n", fmt::join(now.trials, ", "),
                      fmt::join(found.experiments, ", "));
  for (const auto& [key, value] : now.tags)
    text += fmt::format("  tag          {}={}\n", printable(key), printable(value));
  for (const std::string& why : found.component.unread) text += fmt::format("  unreadable   {}\n", printable(why));
  Table parameters({{"PARAMETER"}, {"VALUE"}});
  for (const auto& [name, value] : now.parameters) parameters.add_row({name, parameter_text(value)});
  if (!parameters.empty()) text += "\n" + parameters.to_string();
  Table metrics({{"METRIC"},
                 {"LAST", Align::kRight},
                 {"MIN", Align::kRight},
                 {"MAX", Align::kRight},
                 {"AVG", Align::kRight},
                 {"STDDEV", Align::kRight},
                 {"COUNT", Align::kRight}});
  for (const auto& [name, one] : now.metrics) {
    const auto finite = [&one = one](double value) { return one.finite == 0 ? "" : format_number(value); };
    metrics.add_row({name, format_number(one.last), finite(one.min), finite(one.max), finite(one.mean),
                     finite(one.deviation()), std::to_string(one.count)});
  }
  if (!metrics.empty()) text += "\n" + metrics.to_string();
  Table artifacts({{"ARTIFACT"}, {"NAME"}, {"TYPE"}, {"URI"}, {"CONTENT"}});
  add_artifact_rows(artifacts, "input", now.inputs);
  add_artifact_rows(artifacts, "output", now.outputs);
  return artifacts.empty() ? text : text + "\n" + artifacts.to_string();
}

OrderedJson component_json(const FoundComponent& found) {
  const ComponentRecord& now = found.component.now;
  OrderedJson parameters = OrderedJson::object();
  for (const auto& [name, value] : now.parameters) {
    const double* const number = std::get_if<double>(&value);
    parameters[name] = number != nullptr ? json_number(*number) : OrderedJson(std::get<std::string>(value));
  }
  OrderedJson metrics = OrderedJson::object();
  for (const auto& [name, summary] : now.metrics) metrics[name] = metric_json(summary);
  return {{"name", found.component.name},
          {"display_name", text_or_null(now.display_name)},
          {"run_name", text_or_null(now.run_name)},
          {"source", text_or_null(now.source)},
          {"status", text_or_null(now.status)},
          {"message", text_or_null(now.message)},
          {"created", format_rfc3339(found.component.created_unix_ns, 3)},
          {"changed", format_rfc3339(now.unix_ns, 3)},
          {"start", time_json(now.start_unix_ns)},
          {"end", time_json(now.end_unix_ns)},
          {"trials", now.trials},
          {"experiments", found.experiments},
          {"tags", now.tags},
          {"parameters", parameters},
          {"metrics", metrics},
          {"inputs", artifacts_json(now.inputs)},
          {"outputs", artifacts_json(now.outputs)},
          {"unreadable", found.component.unread}};
}

std::string frame_table(const ComponentFrame& frame) {
  std::vector<Column> titles;
  for (const std::string& column : frame.columns) titles.push_back({printable(column)});
  Table table(titles);
  for (const auto& row : frame.rows) {
    std::vector<std::string> cells;
    for (const FrameCell& cell : row) {
      const double* const number = std::get_if<double>(&cell);
      cells.push_back(number != nullptr ? format_number(*number) : cell_text_of(cell));
    }
    table.add_row(std::move(cells));
  }
  return table.to_string();
}

std::string frame_csv(const ComponentFrame& frame) {
  const auto line = [](const std::vector<std::string>& fields) { return fmt::format("{}\n", fmt::join(fields, ",")); };
  std::vector<std::string> fields;
  for (const std::string& column : frame.columns) fields.push_back(transfer::csv_field(column));
  std::string text = line(fields);
  for (const auto& row : frame.rows) {
    fields.clear();
    for (const FrameCell& cell : row) fields.push_back(transfer::csv_field(cell_text_of(cell)));
    text += line(fields);
  }
  return text;
}

OrderedJson frame_json(const ComponentFrame& frame) {
  OrderedJson rows = OrderedJson::array();
  for (const auto& row : frame.rows) {
    OrderedJson cells = OrderedJson::array();
    for (const FrameCell& cell : row) cells.push_back(cell_json(cell));
    rows.push_back(std::move(cells));
  }
  return {{"columns", frame.columns}, {"rows", rows}};
}

}  // namespace trainwarden::cli
