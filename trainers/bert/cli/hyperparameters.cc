#include "cli/hyperparameters.h"

#include <cctype>
#include <cstdlib>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace bert {
namespace {

// The variable in which a job has the value of a hyper-parameter.
std::string variable_of(const std::string& name) {
  std::string variable = "SM_HP_";
  for (const char c : name) variable += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return variable;
}

void name_variables(CLI::App& app) {
  const char* const all = std::getenv("SM_HPS");
  if (all == nullptr || *all == '\0') return;
  const nlohmann::json given = nlohmann::json::parse(all, nullptr, false);
  if (!given.is_object()) throw CLI::ValidationError("SM_HPS", "expected a JSON object with hyper-parameters");
  for (const auto& item : given.items()) {
    CLI::Option* const option = app.get_option_no_throw("--" + item.key());
    if (option == nullptr) {
      throw CLI::ValidationError("SM_HPS", "\"" + item.key() + "\" is no hyper-parameter of this program; bert " +
                                               app.get_name() +
                                               " --help names them. Where they are another program's, unset SM_HPS");
    }
    option->envname(variable_of(item.key()));
  }
}

}  // namespace

CLI::Option* add_switch(CLI::App& app, const std::string& name, bool& value, const std::string& summary) {
  return app.add_option(name, value, summary)
      ->group(kHyperparameters)
      ->type_name("BOOL")
      ->default_str(value ? "True" : "False");
}

void take_from_job(CLI::App& app) {
  app.preparse_callback([&app](std::size_t) { name_variables(app); });
}

}  // namespace bert
