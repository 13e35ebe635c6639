// Components as a frame of columns: that of SageMaker's ExperimentAnalytics, column by column.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "work/catalogue/component_rows.h"

namespace trainwarden::catalogue {

using FrameCell = std::variant<std::monostate, double, std::string, std::vector<std::string>>;

struct ComponentFrame {
  std::vector<std::string> columns;
  std::vector<std::vector<FrameCell>> rows;  // as many cells as columns; monostate: there is no such value
};

// Which of them are columns; empty: all.
struct FrameChoice {
  std::vector<std::string> metrics;
  std::vector<std::string> parameters;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};

// Of each row: TrialComponentName, DisplayName, SourceArn where there is one, the parameters by name, of each metric
// "NAME - Min", Max, Avg, StdDev, Last, Count, of each input artifact "NAME - MediaType" and "NAME - Value", of each
// output artifact the same, Trials, Experiments. Columns are in the order in which rows first have them, as pandas puts
// them.
ComponentFrame frame_of(const std::vector<FoundComponent>& components, const FrameChoice& choice);

}  // namespace trainwarden::catalogue
