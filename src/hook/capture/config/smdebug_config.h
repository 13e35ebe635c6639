// SmdebugConfig: smdebug's hook configuration, as its document says it and with its precedence applied. What becomes of
// it here is in smdebug_options.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "trainwarden/hook.h"
#include "trainwarden/save_policy.h"
#include "trainwarden/status.h"

namespace trainwarden::capture {

struct SmdebugReductions {
  std::vector<std::string> names;  // "abs_mean", "l1_norm"
  bool save_raw_tensor = false;
  bool save_shape = false;
};

struct SmdebugCollectionConfig {
  std::string name;
  std::vector<std::string> include_regex;
  bool save_histogram = true;
  SavePolicy save;  // with a schedule for each mode
  std::optional<SmdebugReductions> reductions;
};

struct SmdebugConfig {
  std::string local_path;
  bool has_s3_path = false;
  bool export_tensorboard = false;
  std::string tensorboard_dir;
  bool dry_run = false;
  std::optional<bool> save_all;
  std::optional<std::vector<std::string>> include_regex;
  IncludeWorkers include_workers = IncludeWorkers::kOne;
  SavePolicy save;  // with a schedule for each mode
  std::optional<SmdebugReductions> reductions;
  std::optional<std::vector<SmdebugCollectionConfig>> collections;
};

// Has the document one of smdebug's own keys, or one that is nearly so?
bool is_smdebug_config(const nlohmann::json& document);

// Precedence, low to high: default, `above`, hook, hook's mode, collection, collection's mode; each key by itself.
// kInvalidArgument for unknown keys (naming the nearest), wrong types and values out of range.
Result<SmdebugConfig> read_smdebug_config(const nlohmann::json& document, const SavePolicy& above);

// As Hook's parse_smdebug_config() promises.
std::string to_json(const SmdebugConfig& config);

}  // namespace trainwarden::capture
