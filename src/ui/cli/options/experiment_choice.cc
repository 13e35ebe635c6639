#include "ui/cli/options/experiment_choice.h"

#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "core/base/folder_variables.h"
#include "core/base/text.h"
#include "core/base/text_file.h"
#include "ui/cli/options/catalogue_choice.h"
#include "ui/cli/options/words_option.h"

namespace trainwarden::cli {

std::filesystem::path experiments_folder(const std::string& option) {
  if (!option.empty()) return option;
  const char* const variable = std::getenv(variable::kExperiments);
  return variable != nullptr && *variable != '\0' ? variable : "experiments";
}

void add_experiments_option(CLI::App& command, std::string& experiments) {
  command
      .add_option("--experiments", experiments,
                  "Folder that holds the experiments (default: $TRAINWARDEN_EXPERIMENTS, else experiments)")
      ->type_name("DIR");
}

Result<OpenExperiments> open_experiments(const std::string& option) {
  const std::filesystem::path folder = experiments_folder(option);
  TRAINWARDEN_ASSIGN_OR_RETURN(auto catalogue, catalogue::Catalogue::open(catalogue_folder(folder)));
  report_notes(catalogue);
  return OpenExperiments{experiments::ExperimentStore(folder), std::move(catalogue)};
}

void add_kind_option(CLI::App& command, std::string& kind) {
  command
      .add_option("--kind", kind, "experiment, trial or component, where one name is several (default: in this order)")
      ->check(CLI::IsMember({kExperimentKind, kTrialKind, kComponentKind}))
      ->type_name("KIND");
}

Result<NamedEntity> find_entity(const experiments::ExperimentStore& store, const std::string& kind,
                                const std::string& name) {
  std::optional<Status> missing;  // of what was looked for first
  if (kind.empty() || kind == kExperimentKind) {
    auto experiment = store.read_experiment(name);
    if (experiment.ok()) return NamedEntity{*std::move(experiment), {}};
    missing = experiment.status();
  }
  if (kind.empty() || kind == kTrialKind) {
    auto trial = store.read_trial(name);
    if (trial.ok()) return NamedEntity{{}, *std::move(trial)};
    if (!missing) missing = trial.status();
  }
  if (kind.empty() || kind == kComponentKind) {
    const auto component = store.read_component(name);
    if (component.ok()) return NamedEntity();
    if (!missing) missing = component.status();
  }
  return *missing;
}

void add_search_options(CLI::App& command, SearchChoice& choice) {
  add_words(command, "--filter", choice.filters,
            "Only components that meet this: \"Parameters.lr > 0.1\"; all of several")
      ->type_name("FILTER");
  command.add_flag("--any", choice.any, "One of several filters is enough");
  command
      .add_option("--expression", choice.expression, "A SearchExpression as SageMaker has it: JSON, or a file with it")
      ->type_name("JSON");
  command.add_option("--sort-by", choice.sort.property, "A property (default: CreationTime)")->type_name("NAME");
  command.add_flag("--ascending", choice.sort.ascending, "The smallest first");
  command.add_option("--most", choice.most, "How many at most")
      ->check(CLI::Range(std::size_t{1}, catalogue::kMostComponents));
}

Result<catalogue::SearchExpression> SearchChoice::read() const {
  catalogue::SearchExpression all;
  all.any = any;
  for (const std::string& text : filters) {
    TRAINWARDEN_ASSIGN_OR_RETURN(catalogue::SearchFilter filter, catalogue::parse_search_filter(text));
    all.filters.push_back(std::move(filter));
  }
  if (expression.empty()) return all;
  const bool is_json = trim(expression).starts_with('{');
  const auto text = is_json ? expression : read_text_file(expression);
  if (!text) {
    return Status(Code::kInvalidArgument, fmt::format("--expression \"{}\" is neither JSON nor a file that can be read",
                                                      printable(expression)));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(catalogue::SearchExpression written, catalogue::parse_search_expression(*text));
  if (all.filters.empty()) return written;
  catalogue::SearchExpression both;
  both.parts = {std::move(all), std::move(written)};
  return both;
}

std::vector<std::string> SearchChoice::properties() const {
  std::vector<std::string> names = {sort.property};
  for (const std::string& text : filters) {
    const auto filter = catalogue::parse_search_filter(text);
    if (filter.ok() && filter->comparison != catalogue::SearchOperator::kNotExists) names.push_back(filter->property);
  }
  return names;
}

Result<std::map<std::string, std::string>> parse_pairs(const char* option, const std::vector<std::string>& pairs) {
  std::map<std::string, std::string> parsed;
  for (const std::string& pair : pairs) {
    const std::size_t sign = pair.find('=');
    if (sign == std::string::npos || sign == 0) {
      return Status(Code::kInvalidArgument, fmt::format("{} \"{}\"; expected NAME=VALUE", option, printable(pair)));
    }
    if (!parsed.emplace(pair.substr(0, sign), pair.substr(sign + 1)).second) {
      return Status(Code::kInvalidArgument,
                    fmt::format("{} names \"{}\" twice", option, printable(pair.substr(0, sign))));
    }
  }
  return parsed;
}

}  // namespace trainwarden::cli
