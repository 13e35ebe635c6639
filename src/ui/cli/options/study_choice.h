// Studies as they are named on the command line.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "trainwarden/status.h"
#include "tune/study/study.h"

namespace trainwarden::cli {

// The folder that holds the studies: what --studies said, else TRAINWARDEN_STUDIES, else ./studies.
std::filesystem::path studies_folder(const std::string& option);
void add_studies_option(CLI::App& command, std::string& studies);

struct StudyChoice {
  std::string study;
  std::string studies;
  Result<tune::Study> open() const;
};
void add_study_choice(CLI::App& command, StudyChoice& choice);

// "f1=0.9" by name; kInvalidArgument says which is none. `option` is for the message.
Result<std::map<std::string, double>> parse_metrics(const std::vector<std::string>& words, const char* option);
// "lr=0.1": numbers and true and false as such, all else a text. What the space has as a text stays one.
Result<tune::TriedValues> parse_tried_values(const std::vector<std::string>& words, const tune::Space& space,
                                             const char* option);
// "lr={min = 1e-5, max = 0.1}", a table as TOML or JSON has it.
Result<std::vector<tune::Hyperparameter>> parse_parameters(const std::vector<std::string>& words, const char* option);
// "note=[1, 2]" by name, a JSON document each; what is none is a text.
Result<std::map<std::string, std::string>> parse_attributes(const std::vector<std::string>& words, const char* option);

}  // namespace trainwarden::cli
