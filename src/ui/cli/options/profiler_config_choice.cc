#include "ui/cli/options/profiler_config_choice.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include <fmt/format.h>

#include "core/base/hook_variables.h"
#include "core/base/text.h"
#include "store/storage/location.h"

namespace trainwarden::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVariable = "SMPROFILER_CONFIG_PATH";
constexpr const char* kPlaceOfSagemaker = "/opt/ml/input/config/profilerconfig.json";
constexpr std::uint64_t kMaxFileBytes = 1 << 20;

using foreign::SmdebugProfileRange;
using foreign::SmdebugProfilerConfig;

}  // namespace

std::optional<fs::path> ProfilerConfigChoice::find() const {
  if (!file.empty()) return fs::path(file);
  if (const char* named = std::getenv(kVariable); named != nullptr && *named != '\0') return fs::path(named);
  std::error_code ignored;
  return fs::is_regular_file(kPlaceOfSagemaker, ignored) ? std::optional<fs::path>(kPlaceOfSagemaker) : std::nullopt;
}

Result<SmdebugProfilerConfig> read_profiler_config(const fs::path& file) {
  const fs::path path = fs::absolute(file);
  const storage::Location folder(path.parent_path());
  const auto text = folder.storage().read(path.filename().string(), kMaxFileBytes);
  if (!text.ok()) return text.status();
  auto config = foreign::parse_smdebug_profiler_config(*text);
  if (!config.ok()) return config.status().with_context(file.string());
  return config;
}

std::optional<std::string> profiled_steps(const SmdebugProfilerConfig& config) {
  std::optional<std::int64_t> first;
  std::int64_t end = 0;
  for (const auto* range : {&config.operators, &config.stacks}) {
    if (!*range || (*range)->by_time()) continue;
    const std::int64_t start = (*range)->start_step.value_or(0);
    first = std::min(first.value_or(start), start);
    end = std::max(end, start + (*range)->steps);
  }
  return first ? std::optional(fmt::format("{}:{}", *first, end)) : std::nullopt;
}

void apply_profiler_config(const SmdebugProfilerConfig& config, bool steps_are_chosen, SampleChoice& sample,
                           std::map<std::string, std::string>& environment) {
  if (config.interval_ms) {
    const std::string interval = fmt::format("{}ms", *config.interval_ms);
    if (sample.host.empty()) sample.host = interval;
    if (sample.gpu.empty()) sample.gpu = interval;
  }
  if (steps_are_chosen) return;
  if (const auto steps = profiled_steps(config)) {
    environment[variable::kProfileSteps] = *steps;
  } else if (config.disabled || config.framework) {
    environment[variable::kProfileSteps] = "off";
  }
}

void add_profiler_config_option(CLI::App& command, ProfilerConfigChoice& choice) {
  command
      .add_option("--profiler-config", choice.file,
                  "SageMaker's profilerconfig.json: how the training is profiled; it may be changed while it runs")
      ->type_name("FILE");
}

}  // namespace trainwarden::cli
