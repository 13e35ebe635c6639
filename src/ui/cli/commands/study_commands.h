// `trainwarden tune` and the sub-commands of `trainwarden study`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "tune/study/study.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/running/job_trials.h"

namespace trainwarden::cli {

// Each adds its sub-command to `study`; parsing it sets `action`.
void add_study_ls(CLI::App& study, CommandAction& action);
void add_study_show(CLI::App& study, CommandAction& action);
void add_study_best(CLI::App& study, CommandAction& action);
void add_study_importance(CLI::App& study, CommandAction& action);
void add_study_export(CLI::App& study, CommandAction& action);
void add_study_create(CLI::App& study, CommandAction& action);
void add_study_ask(CLI::App& study, CommandAction& action);
void add_study_extend(CLI::App& study, CommandAction& action);
void add_study_import(CLI::App& study, CommandAction& action);
void add_study_report(CLI::App& study, CommandAction& action);
void add_study_tell(CLI::App& study, CommandAction& action);
void add_study_enqueue(CLI::App& study, CommandAction& action);
void add_study_stop(CLI::App& study, CommandAction& action);
void add_study_resume(CLI::App& study, CommandAction& action);

// Where jobs and runs of trials lie.
struct TrialPlaces {
  std::string jobs, runs;
};

// A study's file, with what the command line says in its place. kInvalidArgument tells every mistake.
struct StudyFileChoice {
  std::string file;
  std::string name;                      // empty: the file's
  std::optional<std::int64_t> parallel;  // none: the file's
  std::optional<std::int64_t> trials;
  std::vector<std::string> from;  // empty: the file's
};
void add_from_option(CLI::App& command, std::vector<std::string>& from);
Result<tune::StudySpec> read_study_file(const StudyFileChoice& choice);

Result<std::unique_ptr<tune::TrialSampler>> sampler_of(const tune::StudySpec& spec);
// Are there the sampler and the pruner that it names?
Status check_search(const tune::StudySpec& spec);
// "sampler gp: there are few parameters ..."; of a sampler that somebody has chosen its name alone.
std::string sampler_text(const tune::StudySpec& spec, const tune::History& history);
// Reads and checks the study's job. kInvalidArgument tells every mistake; warnings are printed.
Result<JobTrials> job_trials_of(const tune::StudySpec& spec, const TrialPlaces& places);
// Runs its trials until it ends or somebody types Ctrl-C, and says what was found. The exit code: 0, or
// kExitTargetMissed where a target was not met.
int conduct_study(tune::Study& study, tune::TrialRunner& trials, bool json);
// What was found against what was asked for; for `tune` and `study show`.
int print_study(const tune::Study& study, bool json, std::size_t most_trials);

}  // namespace trainwarden::cli
