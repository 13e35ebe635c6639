// Command: what the files of the sub-commands share.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "trainwarden/mode.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"

namespace trainwarden::cli {

// What the chosen sub-command does once the command line is understood. Returns the exit code.
using CommandAction = std::function<int()>;

// Each adds one sub-command to `app`; parsing it sets `action`.
void add_run(CLI::App& app, CommandAction& action);
void add_sample(CLI::App& app, CommandAction& action);
void add_mirror(CLI::App& app, CommandAction& action);
void add_cp(CLI::App& app, CommandAction& action);
void add_sync(CLI::App& app, CommandAction& action);
void add_capture(CLI::App& app, CommandAction& action);
void add_profile(CLI::App& app, CommandAction& action);
void add_job(CLI::App& app, CommandAction& action);
void add_catalogue(CLI::App& app, CommandAction& action);
void add_submit(CLI::App& app, CommandAction& action);
void add_tune(CLI::App& app, CommandAction& action);
void add_study(CLI::App& app, CommandAction& action);
void add_stop(CLI::App& app, CommandAction& action);
void add_save(CLI::App& app, CommandAction& action);
void add_ls(CLI::App& app, CommandAction& action);
void add_show(CLI::App& app, CommandAction& action);
void add_describe(CLI::App& app, CommandAction& action);
void add_tensors(CLI::App& app, CommandAction& action);
void add_steps(CLI::App& app, CommandAction& action);
void add_value(CLI::App& app, CommandAction& action);
void add_rules(CLI::App& app, CommandAction& action);
void add_check(CLI::App& app, CommandAction& action);
void add_watch(CLI::App& app, CommandAction& action);
void add_plot(CLI::App& app, CommandAction& action);
void add_diagnose(CLI::App& app, CommandAction& action);
void add_phases(CLI::App& app, CommandAction& action);
void add_system(CLI::App& app, CommandAction& action);
void add_report(CLI::App& app, CommandAction& action);
void add_top(CLI::App& app, CommandAction& action);
void add_events(CLI::App& app, CommandAction& action);
void add_actions(CLI::App& app, CommandAction& action);
void add_metrics(CLI::App& app, CommandAction& action);
void add_operators(CLI::App& app, CommandAction& action);
void add_experiment(CLI::App& app, CommandAction& action);
void add_lineage(CLI::App& app, CommandAction& action);
void add_export(CLI::App& app, CommandAction& action);
void add_import(CLI::App& app, CommandAction& action);
void add_gc(CLI::App& app, CommandAction& action);
void add_doctor(CLI::App& app, CommandAction& action);
void add_demo(CLI::App& app, CommandAction& action);
void add_completion(CLI::App& app, CommandAction& action);
void add_rule_host(CLI::App& app, CommandAction& action);

// Headings under which --help lists the sub-commands.
inline constexpr const char* kTrainGroup = "Train under watch";
inline constexpr const char* kLookGroup = "Look inside";
inline constexpr const char* kJudgeGroup = "Judge";
inline constexpr const char* kTransferGroup = "Hand over";
inline constexpr const char* kHelpGroup = "Start here";

// What add_command() does with CLI11, so that it is compiled once. `chosen` is called when it is parsed.
CLI::App& add_subcommand(CLI::App& app, const char* name, const char* summary, std::function<void()> chosen);

// Adds a sub-command whose options live as long as it; `act` gets them when it is chosen.
template <class Options>
CLI::App& add_command(CLI::App& app, const char* name, const char* summary, std::shared_ptr<Options> options,
                      CommandAction& action, int (*act)(const Options&)) {
  return add_subcommand(app, name, summary, [&action, options = std::move(options), act] {
    action = [options, act] { return act(*options); };
  });
}

// Examples at the end of --help.
void set_examples(CLI::App& command, std::initializer_list<const char*> examples);

// Where the runs are.
void add_runs_option(CLI::App& command, std::string& runs);
void add_json_flag(CLI::App& command, bool& json);

// --name of what a command makes; `description` says how it is called without. An empty name is none.
CLI::Option* add_name_option(CLI::App& command, std::string& name, const char* description);

// A run, as the user names it.
struct RunChoice {
  std::string run;
  std::string runs;
  Result<std::filesystem::path> locate() const;
  Result<std::unique_ptr<Trial>> open() const;
};
void add_run_choice(CLI::App& command, RunChoice& choice);

// --mode; an empty text is Mode::kGlobal.
void add_mode_option(CLI::App& command, std::string& mode);
Mode mode_of(const std::string& text);

}  // namespace trainwarden::cli
