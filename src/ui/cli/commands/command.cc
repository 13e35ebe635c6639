#include "ui/cli/commands/command.h"

#include <filesystem>

#include "ui/cli/options/run_locator.h"

namespace trainwarden::cli {

CLI::App& add_subcommand(CLI::App& app, const char* name, const char* summary, std::function<void()> chosen) {
  CLI::App* command = app.add_subcommand(name, summary);
  command->callback(std::move(chosen));
  return *command;
}

void set_examples(CLI::App& command, std::initializer_list<const char*> examples) {
  std::string text = "Examples:";
  for (const char* example : examples) text += std::string("\n  ") + example;
  command.footer(text);
}

void add_runs_option(CLI::App& command, std::string& runs) {
  command.add_option("--runs", runs, "Folder that holds the runs (default: TRAINWARDEN_RUNS, else ./runs)")
      ->type_name("DIR");
}

void add_json_flag(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "Print one JSON document (docs/reference/cli.md has its keys)");
}

CLI::Option* add_name_option(CLI::App& command, std::string& name, const char* description) {
  const auto complaint = [](const std::string& text) {
    return std::string(text.empty() ? "expected a name, found an empty text; leave --name out to have one made" : "");
  };
  return command.add_option("--name", name, description)->type_name("NAME")->check(CLI::Validator(complaint, ""));
}

Result<std::filesystem::path> RunChoice::locate() const {
  return locate_run(run, runs_folder(runs));
}

Result<std::unique_ptr<Trial>> RunChoice::open() const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::filesystem::path path, locate());
  return Trial::open(path);
}

void add_run_choice(CLI::App& command, RunChoice& choice) {
  command.add_option("RUN", choice.run, "Name of a run, or its path")->required()->type_name("");
  add_runs_option(command, choice.runs);
}

void add_mode_option(CLI::App& command, std::string& mode) {
  command.add_option("--mode", mode, "Steps of this mode in place of global steps")
      ->type_name("MODE")
      ->check(CLI::IsMember({"train", "eval", "predict", "global"}, CLI::ignore_case));
}

Mode mode_of(const std::string& text) {
  return parse_mode(text).value_or(Mode::kGlobal);
}

}  // namespace trainwarden::cli
