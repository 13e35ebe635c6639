#include "ui/cli/options/label_choice.h"

#include <fmt/format.h>

#include "core/base/hook_variables.h"
#include "core/base/secret_mask.h"
#include "core/base/text.h"
#include "data/format/json.h"
#include "ui/cli/options/words_option.h"

namespace trainwarden::cli {
namespace {

Status add_environment(const std::vector<std::string>& names, const Environment& environment,
                       format::OrderedJson& labels) {
  for (const std::string& name : names) {
    const char* value = environment(name.c_str());
    if (value == nullptr) {
      return Status(
          Code::kInvalidArgument,
          fmt::format("--env-params {}: expected the name of a variable that is set, and it is not; set it, or "
                      "leave it out",
                      printable(name)));
    }
    labels[name] = value;
  }
  return {};
}

Status add_labels(const std::vector<std::string>& texts, format::OrderedJson& labels) {
  for (const std::string& text : texts) {
    const std::size_t sign = text.find('=');
    const std::string name(trim(std::string_view(text).substr(0, sign)));
    if (sign == std::string::npos || name.empty()) {
      return Status(Code::kInvalidArgument,
                    fmt::format("--label: expected KEY=VALUE such as lr=0.1, found \"{}\"", printable(text)));
    }
    labels[name] = text.substr(sign + 1);
  }
  return {};
}

}  // namespace

Result<std::map<std::string, std::string>> LabelChoice::variables(const Environment& environment) const {
  std::map<std::string, std::string> variables;
  if (labels.empty() && env_params.empty()) return variables;
  format::OrderedJson all = format::OrderedJson::object();
  if (const char* before = environment(variable::kLabels); before != nullptr && *before != '\0') {
    TRAINWARDEN_ASSIGN_OR_RETURN(const format::Json given, format::parse_json_object(before, variable::kLabels));
    for (const auto& [name, value] : given.items()) all[name] = value;
  }
  TRAINWARDEN_RETURN_IF_ERROR(add_environment(env_params, environment, all));
  TRAINWARDEN_RETURN_IF_ERROR(add_labels(labels, all));
  variables[variable::kLabels] = format::dump_json(all);
  return variables;
}

Result<std::map<std::string, std::string>> recorded_labels(const std::map<std::string, std::string>& variables,
                                                           const Environment& environment) {
  const auto given = variables.find(variable::kLabels);
  const char* const before = environment(variable::kLabels);
  const std::string text = given != variables.end() ? given->second : before != nullptr ? before : "";
  std::map<std::string, std::string> labels;
  if (text.empty()) return labels;
  const Result<format::Json> json = format::parse_json_object(text, variable::kLabels);
  if (!json.ok()) return Status(Code::kInvalidArgument, json.status().message());
  for (const auto& [name, value] : json->items()) {
    labels[name] = process_mask().mask.value(name, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return labels;
}

void add_label_options(CLI::App& command, LabelChoice& choice) {
  add_words(command, "--label", choice.labels, "Record this with the run; again for more")->type_name("KEY=VALUE");
  add_words(command, "--env-params", choice.env_params,
            "Record these variables of the environment with the run, by name: LR,BATCH")
      ->type_name("NAMES")
      ->delimiter(',');
}

}  // namespace trainwarden::cli
