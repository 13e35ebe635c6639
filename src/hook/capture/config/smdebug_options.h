// What becomes of smdebug's hook configuration: options of our hook. The table is in docs/reference/config.md.
#pragma once

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "trainwarden/hook.h"
#include "trainwarden/status.h"

namespace trainwarden::capture {

// Lays the document over the options. LocalPath counts only when they have no run_dir. TensorBoard is also on when they
// have a tensorboard_dir. kInvalidArgument as read_smdebug_config().
Status overlay_smdebug(const nlohmann::json& document, HookOptions& options);

// LocalPath of the file that TENSORBOARD_CONFIG_FILE_PATH names; empty when there is no such file, as on machines that
// are not SageMaker's.
Result<std::string> read_tensorboard_config(const std::filesystem::path& file);

// Where TensorBoard is to find the run unless somebody says where: smdebug's place.
std::filesystem::path tensorboard_dir_in(const std::filesystem::path& run_dir);

}  // namespace trainwarden::capture
