#include "cli/capture_choice.h"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "capture/capture_plan.h"
#include "capture/hook_environment.h"

namespace trainwarden::cli {
namespace {

// One pattern that is found where any of these is.
std::string any_of(const std::vector<std::string>& patterns) {
  if (patterns.size() == 1) return patterns[0];
  return fmt::format("(?:{})", fmt::join(patterns, ")|(?:"));
}

}  // namespace

Result<std::map<std::string, std::string>> CaptureChoice::environment() const {
  std::map<std::string, std::string> variables;
  const auto set = [&](const char* variable, std::string value) {
    if (!value.empty()) variables[variable] = std::move(value);
  };
  // The program may work in another folder.
  set("TRAINWARDEN_CONFIG", config.empty() ? "" : std::filesystem::absolute(config).string());
  set("TRAINWARDEN_BUDGET", budget);
  set("TRAINWARDEN_INCLUDE_COLLECTIONS", fmt::format("{}", fmt::join(include_collections, ",")));
  set("TRAINWARDEN_INCLUDE", include.empty() ? "" : any_of(include));
  set("TRAINWARDEN_SAVE_INTERVAL", save_interval);
  set("TRAINWARDEN_KEEP", keep);
  TRAINWARDEN_ASSIGN_OR_RETURN(const HookOptions options, capture::options_for_attach([&](const char* variable) {
                                 const auto own = variables.find(variable);
                                 return own != variables.end() ? own->second.c_str() : std::getenv(variable);
                               }));
  TRAINWARDEN_RETURN_IF_ERROR(capture::CapturePlan::resolve(options).status());
  return variables;
}

void add_capture_options(CLI::App& command, CaptureChoice& choice) {
  command.add_option("--config", choice.config, "What to capture, as JSON (docs/reference/config.md)")
      ->type_name("FILE")
      ->check(CLI::Validator(CLI::ExistingFile).description(""));
  command.add_option("--include-collection", choice.include_collections, "Capture weights, gradients, outputs, ...")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command.add_option("--include", choice.include, "Capture tensors in whose name this pattern is found")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  command
      .add_option("--save-interval", choice.save_interval,
                  "Capture every N-th step (default: 500; every step when nothing at all is said)")
      ->type_name("N");
  command.add_option("--keep", choice.keep, "In which form: values, statistics, histogram, hash, shape; a list")
      ->type_name("FORMS");
  command.add_option("--budget", choice.budget, "Share of the training's time that capture may take, as 1%")
      ->type_name("SHARE");
}

}  // namespace trainwarden::cli
