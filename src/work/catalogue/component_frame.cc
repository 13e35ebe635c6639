#include "work/catalogue/component_frame.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace trainwarden::catalogue {
namespace {

using Cells = std::vector<std::pair<std::string, FrameCell>>;

bool is_wanted(const std::vector<std::string>& wanted, const std::string& name) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
}

FrameCell cell_of(const experiments::ComponentValue& value) {
  if (const double* const number = std::get_if<double>(&value)) return *number;
  return std::get<std::string>(value);
}

void add_metric(Cells& cells, const std::string& name, const experiments::MetricSummary& summary) {
  if (summary.finite > 0) {
    cells.emplace_back(name + " - Min", summary.min);
    cells.emplace_back(name + " - Max", summary.max);
    cells.emplace_back(name + " - Avg", summary.mean);
    cells.emplace_back(name + " - StdDev", summary.deviation());
  }
  cells.emplace_back(name + " - Last", summary.last);
  cells.emplace_back(name + " - Count", static_cast<double>(summary.count));
}

void add_artifacts(Cells& cells, const std::map<std::string, experiments::ArtifactUse>& artifacts,
                   const std::vector<std::string>& wanted) {
  for (const auto& [name, use] : artifacts) {
    if (!is_wanted(wanted, name)) continue;
    if (!use.media_type.empty()) cells.emplace_back(name + " - MediaType", use.media_type);
    cells.emplace_back(name + " - Value", use.uri);
  }
}

Cells cells_of(const FoundComponent& found, const FrameChoice& choice) {
  const experiments::ComponentRecord& now = found.component.now;
  Cells cells = {{"TrialComponentName", found.component.name},
                 {"DisplayName", now.display_name.empty() ? found.component.name : now.display_name}};
  if (!now.source.empty()) cells.emplace_back("SourceArn", now.source);
  for (const auto& [name, value] : now.parameters) {
    if (is_wanted(choice.parameters, name)) cells.emplace_back(name, cell_of(value));
  }
  for (const auto& [name, summary] : now.metrics) {
    if (is_wanted(choice.metrics, name)) add_metric(cells, name, summary);
  }
  add_artifacts(cells, now.inputs, choice.inputs);
  add_artifacts(cells, now.outputs, choice.outputs);
  cells.emplace_back("Trials", std::vector<std::string>(now.trials.begin(), now.trials.end()));
  cells.emplace_back("Experiments", found.experiments);
  return cells;
}

}  // namespace

ComponentFrame frame_of(const std::vector<FoundComponent>& components, const FrameChoice& choice) {
  ComponentFrame frame;
  std::map<std::string, std::size_t> places;
  for (const FoundComponent& component : components) {
    std::vector<FrameCell> row(frame.columns.size());
    for (auto& [name, cell] : cells_of(component, choice)) {
      const auto [place, is_new] = places.try_emplace(name, frame.columns.size());
      if (is_new) {
        frame.columns.push_back(name);
        row.emplace_back();
      }
      row[place->second] = std::move(cell);
    }
    frame.rows.push_back(std::move(row));
  }
  for (auto& row : frame.rows) row.resize(frame.columns.size());
  return frame;
}

}  // namespace trainwarden::catalogue
