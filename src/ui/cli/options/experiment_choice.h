// Experiments as they are named on the command line.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "trainwarden/status.h"
#include "work/catalogue/catalogue.h"
#include "work/experiments/experiment_store.h"

namespace trainwarden::cli {

// The folder that holds the experiments: what --experiments said, else TRAINWARDEN_EXPERIMENTS, else ./experiments.
std::filesystem::path experiments_folder(const std::string& option);
void add_experiments_option(CLI::App& command, std::string& experiments);

// The folder with its catalogue.
struct OpenExperiments {
  experiments::ExperimentStore store;
  catalogue::Catalogue catalogue;
};
Result<OpenExperiments> open_experiments(const std::string& option);

// What has a name: an experiment, a trial, or, when it is neither, a component.
struct NamedEntity {
  std::optional<experiments::ExperimentInfo> experiment;
  std::optional<experiments::TrialInfo> trial;
};
inline constexpr const char* kExperimentKind = "experiment";
inline constexpr const char* kTrialKind = "trial";
inline constexpr const char* kComponentKind = "component";

void add_kind_option(CLI::App& command, std::string& kind);
// Of this kind; with an empty one the first that has the name. kNotFound names the nearest.
Result<NamedEntity> find_entity(const experiments::ExperimentStore& store, const std::string& kind,
                                const std::string& name);

// Which components: --filter, --expression, --sort-by, --ascending, --most.
struct SearchChoice {
  std::vector<std::string> filters;
  std::string expression;  // JSON, or a file with it
  bool any = false;
  catalogue::SortChoice sort;
  std::size_t most = catalogue::kMostComponents;

  // kInvalidArgument for a filter that is none.
  Result<catalogue::SearchExpression> read() const;
  // Those by which --filter and --sort-by want components to have a value.
  std::vector<std::string> properties() const;
};
void add_search_options(CLI::App& command, SearchChoice& choice);

// "KEY=VALUE" each. kInvalidArgument for one without a key or "=", and for a key that is there twice.
Result<std::map<std::string, std::string>> parse_pairs(const char* option, const std::vector<std::string>& pairs);

}  // namespace trainwarden::cli
