#include "ui/cli/options/capture_choice.h"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/hook_variables.h"
#include "hook/capture/capture_plan.h"
#include "hook/capture/config/hook_environment.h"
#include "ui/cli/options/words_option.h"

namespace trainwarden::cli {
namespace {

// One pattern that is found where any of these is.
std::string any_of(const std::vector<std::string>& patterns) {
  if (patterns.size() == 1) return patterns[0];
  return fmt::format("(?:{})", fmt::join(patterns, ")|(?:"));
}

using Variables = std::map<std::string, std::string>;

// What the hook will make of these and of the environment.
Result<HookOptions> resolve(const Variables& variables) {
  return capture::options_for_attach([&](const char* variable) {
    const auto own = variables.find(variable);
    return own != variables.end() ? own->second.c_str() : std::getenv(variable);
  });
}

// The run keeps its name there, which is what TensorBoard calls it.
Board beneath(const std::filesystem::path& logdir, const std::filesystem::path& run) {
  return {logdir / run.filename(), logdir};
}

Variables variables_of(const CaptureChoice& choice) {
  Variables variables;
  const auto set = [&](const char* variable, std::string value) {
    if (!value.empty()) variables[variable] = std::move(value);
  };
  // The program may work in another folder.
  set(variable::kConfig, choice.config.empty() ? "" : std::filesystem::absolute(choice.config).string());
  set(variable::kBudget, choice.budget);
  set(variable::kMaxRunBytes, choice.max_run_bytes);
  set(variable::kMinFreeBytes, choice.min_free_bytes);
  set(variable::kIncludeCollections, fmt::format("{}", fmt::join(choice.include_collections, ",")));
  set(variable::kInclude, choice.include.empty() ? "" : any_of(choice.include));
  set(variable::kSaveInterval, choice.save_interval);
  set(variable::kKeep, choice.keep);
  set(variable::kBlackBox, choice.black_box);
  return variables;
}

}  // namespace

Result<std::map<std::string, std::string>> CaptureChoice::environment(Variables others) const {
  Variables variables = variables_of(*this);
  variables.merge(std::move(others));
  TRAINWARDEN_ASSIGN_OR_RETURN(const HookOptions options, resolve(variables));
  TRAINWARDEN_RETURN_IF_ERROR(capture::CapturePlan::resolve(options).status());
  return variables;
}

Result<double> CaptureChoice::budget_share(Variables others) const {
  Variables variables = variables_of(*this);
  variables.merge(std::move(others));
  TRAINWARDEN_ASSIGN_OR_RETURN(const HookOptions options, resolve(variables));
  return options.budget;
}

Result<Board> CaptureChoice::board(const std::filesystem::path& run) const {
  if (!tensorboard.empty()) return beneath(tensorboard, run);
  Variables variables = variables_of(*this);
  variables[variable::kRunDir] = run.string();
  TRAINWARDEN_ASSIGN_OR_RETURN(const HookOptions options, resolve(variables));
  if (options.tensorboard_dir.empty()) return Board();
  // In the run's own folder it has that for itself.
  if (options.tensorboard_dir.parent_path() == run) return Board{options.tensorboard_dir, options.tensorboard_dir};
  return beneath(options.tensorboard_dir, run);
}

void add_capture_options(CLI::App& command, CaptureChoice& choice) {
  command.add_option("--config", choice.config, "What to capture, as JSON (docs/reference/config.md)")
      ->type_name("FILE")
      ->check(CLI::Validator(CLI::ExistingFile).description(""));
  add_words(command, "--include-collection", choice.include_collections, "Capture weights, gradients, outputs, ...")
      ->type_name("NAME");
  add_words(command, "--include", choice.include, "Capture tensors in whose name this pattern is found")
      ->type_name("PATTERN");
  command
      .add_option("--save-interval", choice.save_interval,
                  "Capture every N-th step (default: 1; 500 when --config or --include say what to capture)")
      ->type_name("N");
  command.add_option("--keep", choice.keep, "In which form: values, statistics, histogram, hash, shape; a list")
      ->type_name("FORMS");
  command.add_option("--budget", choice.budget, "Share of the training's time that capture may take, as 1%")
      ->type_name("SHARE");
  command
      .add_option(
          "--max-run-bytes", choice.max_run_bytes,
          "Bytes that the run may have, as 20GB: near them statistics are kept in place of tensors, then losses")
      ->type_name("SIZE");
  command
      .add_option(
          "--min-free-bytes", choice.min_free_bytes,
          "The same so that the disk keeps so much free (default: 1GiB, or a twentieth of a small disk; 0: off)")
      ->type_name("SIZE");
  command
      .add_option("--tensorboard", choice.tensorboard, "Show the run to TensorBoard in this folder, while it trains")
      ->type_name("DIR");
  // "=" is needed, since the program's name may follow.
  command
      .add_flag("--black-box{on}", choice.black_box,
                "Hold the last 3 steps (or --black-box=STEPS) whole in memory, for when something goes wrong")
      ->type_name("STEPS");
}

}  // namespace trainwarden::cli
