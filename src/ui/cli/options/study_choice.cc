#include "ui/cli/options/study_choice.h"

#include <cstdlib>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/folder_variables.h"
#include "core/base/text.h"
#include "work/jobs/spec_change.h"

namespace trainwarden::cli {
namespace {

// A choice is found by the text of its value, so that 16 and "16" are both understood.
tune::TriedValue value_for(const tune::Hyperparameter& parameter, const std::string& text) {
  for (const tune::TriedValue& choice : parameter.choices) {
    if (tune::text_of(choice) == text) return choice;
  }
  const auto value = tune::tried_value_of(jobs::scalar_value(text));
  return value ? *value : tune::TriedValue(text);
}

// As JSON where it begins so, else as TOML.
Result<document::DocumentValue> parse_table(const std::string& text) {
  if (text.starts_with("{\"")) return document::parse(text, "its table");
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto top, document::parse("parameter = " + text, "its table"));
  if (top.fields.size() != 1) return Status(Code::kInvalidArgument, "expected one table, found more");
  return top.fields.front().value;
}

}  // namespace

std::filesystem::path studies_folder(const std::string& option) {
  if (!option.empty()) return option;
  const char* const variable = std::getenv(variable::kStudies);
  return variable != nullptr && *variable != '\0' ? variable : "studies";
}

void add_studies_option(CLI::App& command, std::string& studies) {
  command
      .add_option("--studies", studies, "Folder that holds the studies (default: $TRAINWARDEN_STUDIES, else studies)")
      ->type_name("DIR");
}

Result<tune::Study> StudyChoice::open() const {
  return tune::Study::open(studies_folder(studies), study, system_clock());
}

void add_study_choice(CLI::App& command, StudyChoice& choice) {
  command.add_option("STUDY", choice.study, "Name of a study")->required()->type_name("");
  add_studies_option(command, choice.studies);
}

Result<std::map<std::string, double>> parse_metrics(const std::vector<std::string>& words, const char* option) {
  std::map<std::string, double> metrics;
  for (const std::string& word : words) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::Assignment one, jobs::parse_assignment(word, option));
    const auto number = parse_double(one.text);
    if (!number) {
      return Status(Code::kInvalidArgument,
                    fmt::format("{}: expected a number of {}, found \"{}\"", option, one.name, printable(one.text)));
    }
    if (!metrics.emplace(one.name, *number).second) {
      return Status(Code::kInvalidArgument, fmt::format("{}: {} is given twice", option, one.name));
    }
  }
  return metrics;
}

Result<std::vector<tune::Hyperparameter>> parse_parameters(const std::vector<std::string>& words, const char* option) {
  std::vector<tune::Hyperparameter> parameters;
  document::Mistakes mistakes;
  for (const std::string& word : words) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::Assignment one, jobs::parse_assignment(word, option));
    const auto table = parse_table(one.text);
    if (!table.ok()) {
      return Status(Code::kInvalidArgument, fmt::format("{}: {}: {}", option, one.name, table.status().message()));
    }
    parameters.push_back(tune::read_hyperparameter({one.name, *table}, mistakes));
  }
  if (mistakes.count() > 0) return mistakes.status();
  return parameters;
}

Result<std::map<std::string, std::string>> parse_attributes(const std::vector<std::string>& words, const char* option) {
  std::map<std::string, std::string> attributes;
  for (const std::string& word : words) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::Assignment one, jobs::parse_assignment(word, option));
    attributes[one.name] = one.text;
  }
  return attributes;
}

Result<tune::TriedValues> parse_tried_values(const std::vector<std::string>& words, const tune::Space& space,
                                             const char* option) {
  tune::TriedValues values;
  for (const std::string& word : words) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::Assignment one, jobs::parse_assignment(word, option));
    const auto index = space.find(one.name);
    const tune::TriedValue value = value_for(index ? space[*index] : tune::Hyperparameter{}, one.text);
    if (!values.emplace(one.name, value).second) {
      return Status(Code::kInvalidArgument, fmt::format("{}: {} is given twice", option, one.name));
    }
  }
  return values;
}

}  // namespace trainwarden::cli
