// Experiments and their components: for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "ui/cli/terminal/json_out.h"
#include "work/catalogue/component_frame.h"
#include "work/catalogue/component_rows.h"
#include "work/catalogue/component_table.h"

namespace trainwarden::cli {

std::string experiments_table(const std::vector<catalogue::CataloguedExperiment>& all);
OrderedJson experiments_json(const std::vector<catalogue::CataloguedExperiment>& all);

// An experiment with its trials and components.
std::string experiment_text(const experiments::ExperimentInfo& info, const std::vector<experiments::TrialInfo>& trials,
                            const std::vector<catalogue::FoundComponent>& components);
OrderedJson experiment_json(const experiments::ExperimentInfo& info, const std::vector<experiments::TrialInfo>& trials,
                            const std::vector<catalogue::FoundComponent>& components);

// A trial with its components.
std::string trial_text(const experiments::TrialInfo& trial, const std::vector<catalogue::FoundComponent>& components);
OrderedJson trial_json(const experiments::TrialInfo& trial, const std::vector<catalogue::FoundComponent>& components);

// `columns` are names of parameters and metrics, of which the last value is shown.
std::string components_table(const std::vector<catalogue::FoundComponent>& components,
                             const std::vector<std::string>& columns);
std::string component_text(const catalogue::FoundComponent& found);
OrderedJson component_json(const catalogue::FoundComponent& found);

std::string frame_table(const catalogue::ComponentFrame& frame);
std::string frame_csv(const catalogue::ComponentFrame& frame);  // what a spreadsheet would take for a formula is a text
OrderedJson frame_json(const catalogue::ComponentFrame& frame);

}  // namespace trainwarden::cli
