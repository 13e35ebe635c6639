#include "hook/capture/config/hook_environment.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/hook_variables.h"
#include "core/base/no_throw.h"
#include "core/base/text.h"
#include "hook/capture/config/config_source.h"
#include "hook/capture/config/hook_options_json.h"
#include "hook/capture/config/option_values.h"
#include "hook/capture/config/smdebug_options.h"

namespace trainwarden {
namespace capture {
namespace {

// The launchers' own variables, asked when TRAINWARDEN_RANK or TRAINWARDEN_WORLD_SIZE is not set: torchrun, horovodrun,
// Open MPI, MVAPICH, MPICH and Intel MPI, Slurm, whose own are there in whatever its jobs start.
constexpr const char* kRankVariables[] = {variable::kRank,       "RANK",     "HOROVOD_RANK", "OMPI_COMM_WORLD_RANK",
                                          "MV2_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};
constexpr const char* kWorldSizeVariables[] = {variable::kWorldSize,   "WORLD_SIZE",          "HOROVOD_SIZE",
                                               "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "PMI_SIZE",
                                               "SLURM_STEP_NUM_TASKS"};

// The file with the hook's configuration; the second is smdebug's own variable.
constexpr const char* kConfigVariables[] = {variable::kConfig, "SMDEBUG_CONFIG_FILE_PATH"};

// With one of these the environment says what to capture. How often, in which form and for how much time says nothing
// of what.
constexpr const char* kWhatVariables[] = {variable::kConfig, "SMDEBUG_CONFIG_FILE_PATH", variable::kInclude,
                                          variable::kIncludeCollections, variable::kSaveAll};

// What every training has, at a price that nobody notices; when rules say what they need, only how it goes: learning
// rates, the norm of the gradients, the epoch, samples a second.
constexpr double kAttachBudget = 0.01;
HookOptions attach_defaults(bool with_needs) {
  HookOptions options;
  options.budget = kAttachBudget;
  options.save = SavePolicy::every(1);
  options.include_collections = {"signals"};
  if (with_needs) return options;
  options.include_collections = {"weights", "biases", "gradients", "outputs", "signals"};
  options.keep = KeepForm::reduced();
  return options;
}

// Reads variables one by one; the first error stays.
class EnvironmentReader {
 public:
  explicit EnvironmentReader(const Environment& environment) : environment_(environment) {}

  const Status& status() const { return status_; }

  std::optional<std::string_view> text(const char* variable) const {
    const char* value = environment_(variable);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return std::string_view(value);
  }

  // Hands the value, where there is one, to `parse` (text → Result<T>).
  template <class T, class Parse>
  void read(const char* variable, T& value, Parse parse) {
    const auto found = text(variable);
    if (!found || !status_.ok()) return;
    auto parsed = parse(*found);
    if (parsed.ok()) {
      value = static_cast<T>(*std::move(parsed));
    } else {
      status_ = parsed.status().with_context(variable);
    }
  }

  // Of the first of the variables that is set.
  template <class T, class Parse>
  void read_first(std::span<const char* const> variables, T& value, Parse parse) {
    for (const char* variable : variables) {
      if (text(variable)) return read(variable, value, parse);
    }
  }

 private:
  const Environment& environment_;
  Status status_;
};

Result<std::int64_t> parse_at_least(std::string_view text, std::int64_t at_least) {
  const auto number = parse_int(trim(text));
  if (number && *number >= at_least && *number <= std::numeric_limits<int>::max()) return *number;
  return Status(Code::kInvalidArgument,
                fmt::format("expected an integer of at least {}, found \"{}\"", at_least, printable(text)));
}

Result<std::int64_t> parse_rank(std::string_view text) {
  return parse_at_least(text, 0);
}
Result<std::int64_t> parse_positive(std::string_view text) {
  return parse_at_least(text, 1);
}

Result<bool> parse_switch(std::string_view text) {
  if (const auto value = parse_bool(trim(text))) return *value;
  return Status(Code::kInvalidArgument, fmt::format("expected 1 or 0, found \"{}\"", printable(text)));
}

Result<std::vector<std::string>> parse_list(std::string_view text) {
  return split_list(text);
}
Result<std::string> parse_text(std::string_view text) {
  return std::string(text);
}

Status overlay_file(ConfigSource& source, HookOptions& options) {
  TRAINWARDEN_ASSIGN_OR_RETURN(source.text, read_config(source.file));
  return overlay_json(source.text, source.file.string(), options);
}

Result<std::string> parse_tensorboard_file(std::string_view file) {
  return read_tensorboard_config(std::string(file));
}

// Where TensorBoard is to find the run; the first is smdebug's own variable, and names a file that says it.
Status overlay_tensorboard(const Environment& environment, HookOptions& options) {
  EnvironmentReader reader(environment);
  std::string dir;
  reader.read("TENSORBOARD_CONFIG_FILE_PATH", dir, parse_tensorboard_file);
  reader.read(variable::kTensorboardDir, dir, parse_text);
  if (!dir.empty()) options.tensorboard_dir = dir;
  return reader.status();
}

// What rules need: the value of the key `needs` of a configuration.
Status overlay_needs(const Environment& environment, HookOptions& options) {
  const auto needs = EnvironmentReader(environment).text(variable::kNeeds);
  if (!needs) return {};
  return overlay_json(fmt::format("{{\"needs\": {}}}", *needs), variable::kNeeds, options);
}

// Words on the run, by name beside those of the configuration.
Status overlay_labels(const Environment& environment, HookOptions& options) {
  const auto labels = EnvironmentReader(environment).text(variable::kLabels);
  if (!labels) return {};
  return overlay_json(fmt::format("{{\"labels\": {}}}", *labels), variable::kLabels, options);
}

void set_interval(SavePolicy& policy, std::int64_t save_interval) {
  for (auto& schedule : policy.by_mode) {
    if (!schedule) schedule.emplace();
    schedule->save_interval = save_interval;
  }
}

}  // namespace

bool switched_off(const Environment& environment) {
  constexpr const char* kSwitches[] = {variable::kSwitch, "USE_SMDEBUG"};
  return std::any_of(std::begin(kSwitches), std::end(kSwitches), [&](const char* variable) {
    const char* value = environment(variable);
    return value != nullptr && parse_bool(trim(value)) == std::optional(false);
  });
}

bool is_box_sampled(const Environment& environment) {
  const char* value = environment(variable::kBlackBoxSampled);
  return value != nullptr && parse_bool(trim(value)) == std::optional(true);
}

Status overlay_environment(const Environment& environment, HookOptions& options) {
  const EnvironmentReader reader(environment);
  const auto* const config = std::find_if(std::begin(kConfigVariables), std::end(kConfigVariables),
                                          [&](const char* one) { return reader.text(one).has_value(); });
  if (config == std::end(kConfigVariables)) return overlay_variables(environment, options);
  // First, too: smdebug's schema keeps histograms for TensorBoard.
  TRAINWARDEN_RETURN_IF_ERROR(overlay_tensorboard(environment, options));
  ConfigSource source{.base = options};
  source.file = std::filesystem::absolute(std::string(*reader.text(*config)));
  TRAINWARDEN_RETURN_IF_ERROR(overlay_file(source, options).with_context(*config));
  const Environment recording = [&](const char* variable) {
    const char* value = environment(variable);
    if (value != nullptr) source.variables[variable] = value;
    return value;
  };
  TRAINWARDEN_RETURN_IF_ERROR(overlay_variables(recording, options));
  options.config_source = std::make_shared<const ConfigSource>(std::move(source));
  return Status();
}

Status overlay_variables(const Environment& environment, HookOptions& options) {
  EnvironmentReader reader(environment);
  const bool inside = options.tensorboard_dir == tensorboard_dir_in(options.run_dir);
  reader.read(variable::kRunDir, options.run_dir, parse_text);
  if (inside) options.tensorboard_dir = tensorboard_dir_in(options.run_dir);
  TRAINWARDEN_RETURN_IF_ERROR(overlay_tensorboard(environment, options));
  reader.read_first(kRankVariables, options.rank, parse_rank);
  reader.read_first(kWorldSizeVariables, options.world_size, parse_positive);

  std::optional<std::int64_t> save_interval;
  reader.read(variable::kSaveInterval, save_interval, parse_positive);
  if (save_interval) set_interval(options.save, *save_interval);
  reader.read(variable::kSaveAll, options.save_all, parse_switch);
  reader.read(variable::kIncludeCollections, options.include_collections, parse_list);
  if (const auto pattern = reader.text(variable::kInclude)) options.include = {std::string(*pattern)};
  reader.read(variable::kKeep, options.keep, parse_keep);
  TRAINWARDEN_RETURN_IF_ERROR(overlay_needs(environment, options));
  TRAINWARDEN_RETURN_IF_ERROR(overlay_labels(environment, options));

  reader.read(variable::kBudget, options.budget, parse_share);
  reader.read(variable::kIncludeWorkers, options.include_workers, parse_include_workers);
  reader.read(variable::kStagingBytes, options.staging_bytes, parse_byte_size);
  reader.read(variable::kSegmentBytes, options.segment_bytes, parse_byte_size);
  reader.read(variable::kCompress, options.compress, parse_switch);
  reader.read(variable::kMaxRunBytes, options.max_run_bytes, parse_byte_size);
  reader.read(variable::kMinFreeBytes, options.min_free_bytes, parse_byte_size);
  reader.read(variable::kWhenFull, options.when_full, parse_when_full);
  reader.read(variable::kDurability, options.durability, parse_durability);
  reader.read(variable::kProfileSteps, options.operators, parse_operator_window);
  reader.read(variable::kPythonStacks, options.python_stacks_hz, parse_stack_hz);
  reader.read(variable::kBlackBox, options.black_box.steps, parse_black_box_steps);
  reader.read(variable::kBlackBoxBytes, options.black_box.bytes, parse_byte_size);
  reader.read(variable::kCheckpointOnRequest, options.checkpoint_on_request, parse_switch);
  reader.read(variable::kDryRun, options.dry_run, parse_switch);
  reader.read(variable::kResume, options.resume, parse_switch);
  reader.read(variable::kCodeVersion, options.code_version, parse_text);
  return reader.status();
}

Result<HookOptions> options_for_attach(const Environment& environment) {
  const EnvironmentReader reader(environment);
  const bool said = std::any_of(std::begin(kWhatVariables), std::end(kWhatVariables),
                                [&](const char* variable) { return reader.text(variable).has_value(); });
  HookOptions options = said ? HookOptions() : attach_defaults(reader.text(variable::kNeeds).has_value());
  options.operators = unasked_operator_window();
  TRAINWARDEN_RETURN_IF_ERROR(overlay_environment(environment, options));
  return options;
}

}  // namespace capture

Result<HookOptions> hook_options_for_attach() {
  return no_throw([] { return capture::options_for_attach(process_environment); });
}

Result<HookOptions> hook_options_from_environment(HookOptions base) {
  return no_throw([&]() -> Result<HookOptions> {
    TRAINWARDEN_RETURN_IF_ERROR(capture::overlay_environment(process_environment, base));
    return std::move(base);
  });
}

}  // namespace trainwarden
