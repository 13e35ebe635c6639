#include "hook/capture/config/smdebug_config.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "data/foreign/smdebug_layout.h"
#include "hook/capture/config/json_object.h"
#include "hook/capture/config/option_values.h"
#include "hook/capture/config/smdebug_values.h"

namespace trainwarden::capture {
namespace {

using nlohmann::json;

constexpr const char* kS3Path = "S3Path";
constexpr const char* kS3OutputPath = "S3OutputPath";  // as the API of SageMaker calls it
constexpr const char* kLocalPath = "LocalPath";
constexpr const char* kHookParameters = "HookParameters";
constexpr const char* kCollectionConfigurations = "CollectionConfigurations";
constexpr const char* kCollectionName = "CollectionName";
constexpr const char* kCollectionParameters = "CollectionParameters";

const std::vector<std::string>& known_reductions() {
  static const std::vector<std::string> known = [] {
    std::vector<std::string> words;
    for (const char* word : {"min", "max", "mean", "std", "variance", "sum", "prod", "l1_norm", "l2_norm"}) {
      words.emplace_back(word);
      words.push_back(fmt::format("abs_{}", word));
    }
    return words;
  }();
  return known;
}

void read_schedule(JsonObject& parameters, const std::string& prefix, SaveSchedule& schedule) {
  read_whole(parameters, prefix + "save_interval", schedule.save_interval, 1);
  read_whole(parameters, prefix + "start_step", schedule.start_step, 0);
  read_whole(parameters, prefix + "end_step", schedule.end_step, 0);
  read_wholes(parameters, prefix + "save_steps", schedule.save_steps, 0);
}

SavePolicy read_save(JsonObject& parameters, const SavePolicy& above) {
  SavePolicy policy;
  for (const Mode mode : kAllModes) {
    SaveSchedule schedule = above[mode].value_or(SaveSchedule());
    read_schedule(parameters, "", schedule);
    read_schedule(parameters, fmt::format("{}.", name(mode)), schedule);
    policy[mode] = std::move(schedule);
  }
  return policy;
}

std::vector<std::string> read_reduction_names(JsonObject& parameters) {
  std::vector<std::string> names;
  read_texts(parameters, "reductions", names);
  const std::vector<std::string>& known = known_reductions();
  const auto is_known = [&](const std::string& word) {
    return std::find(known.begin(), known.end(), word) != known.end();
  };
  for (const std::string& word : names) {
    if (is_known(word)) continue;
    const std::string norm = word + "_norm";  // smdebug's own documents forget it
    parameters.fail("reductions",
                    fmt::format("unknown reduction \"{}\"{} (known: {})", printable(word),
                                did_you_mean(is_known(norm) ? norm : word, known), fmt::join(known, ", ")));
  }
  return names;
}

// smdebug took no notice of save_shape and save_raw_tensor without `reductions`, and values were saved whole. Here the
// shape is then kept as well; values go only when that is said.
std::optional<SmdebugReductions> read_reductions(JsonObject& parameters) {
  const bool given = parameters.find("reductions") != nullptr;
  std::vector<std::string> names = read_reduction_names(parameters);
  std::optional<bool> raw;
  std::optional<bool> shape;
  read_flag(parameters, "save_raw_tensor", raw);
  read_flag(parameters, "save_shape", shape);
  if (!given && !shape.value_or(false)) return std::nullopt;
  return SmdebugReductions{std::move(names), raw.value_or(!given), shape.value_or(false)};
}

// The member, unless it is absent or null.
const json* find_value(JsonObject& object, const char* key) {
  const json* member = object.find(key);
  return member == nullptr || member->is_null() ? nullptr : member;
}

void read_hook_parameters(const json& value, SmdebugConfig& config, Status& status) {
  JsonObject parameters(value, kHookParameters, status);
  config.save = read_save(parameters, config.save);
  config.reductions = read_reductions(parameters);
  read_flag(parameters, "export_tensorboard", config.export_tensorboard);
  read_text(parameters, "tensorboard_dir", config.tensorboard_dir);
  read_flag(parameters, "save_all", config.save_all);
  if (parameters.find("include_regex") != nullptr)
    read_texts(parameters, "include_regex", config.include_regex.emplace());
  parameters.read_word("include_workers", config.include_workers, parse_include_workers);
  read_flag(parameters, "dry_run", config.dry_run);
  parameters.finish();
}

// The collection of that name, added when there is none yet.
SmdebugCollectionConfig& collection_named(const std::string& wanted,
                                          std::vector<SmdebugCollectionConfig>& collections) {
  const auto found = std::find_if(collections.begin(), collections.end(),
                                  [&](const SmdebugCollectionConfig& collection) { return collection.name == wanted; });
  if (found != collections.end()) return *found;
  collections.emplace_back().name = wanted;
  return collections.back();
}

void read_collection_parameters(const json& value, const std::string& path, SmdebugCollectionConfig& collection,
                                Status& status) {
  JsonObject parameters(value, path, status);
  collection.save = read_save(parameters, collection.save);
  if (auto reductions = read_reductions(parameters)) collection.reductions = std::move(reductions);
  std::vector<std::string> patterns;
  read_texts(parameters, "include_regex", patterns);
  collection.include_regex.insert(collection.include_regex.end(), patterns.begin(), patterns.end());
  read_flag(parameters, "save_histogram", collection.save_histogram);
  parameters.finish();
}

void read_collection(const json& value, const std::string& path, SmdebugConfig& config, Status& status) {
  JsonObject object(value, path, status);
  std::string collection_name;
  object.read(kCollectionName, collection_name);
  if (collection_name.empty()) object.fail(kCollectionName, "expected the collection's name, found nothing");
  if (!status.ok()) return;
  SmdebugCollectionConfig& collection = collection_named(collection_name, *config.collections);
  collection.save = config.save;
  if (const json* parameters = find_value(object, kCollectionParameters)) {
    read_collection_parameters(*parameters, object.path_of(kCollectionParameters), collection, status);
  }
  object.finish();
}

void read_collections(JsonObject& document, SmdebugConfig& config, Status& status) {
  const json* collections = find_value(document, kCollectionConfigurations);
  if (collections == nullptr) return;
  if (!collections->is_array()) {
    return document.fail_type(kCollectionConfigurations, "an array of objects", *collections);
  }
  config.collections.emplace();
  std::size_t index = 0;
  for (const json& collection : *collections) {
    read_collection(collection, fmt::format("{}[{}]", kCollectionConfigurations, index++), config, status);
  }
}

json json_of(const SavePolicy& policy) {
  json modes = json::object();
  for (const Mode mode : kAllModes) {
    const SaveSchedule schedule = policy[mode].value_or(SaveSchedule());
    modes[std::string(foreign::smdebug_mode_name(mode))] = {
        {"save_interval", schedule.save_interval},
        {"start_step", schedule.start_step},
        {"end_step", schedule.end_step ? json(*schedule.end_step) : json()},
        {"save_steps", schedule.save_steps}};
  }
  return modes;
}

json json_of(const std::optional<SmdebugReductions>& reductions) {
  if (!reductions) return json();
  return {{"reductions", fmt::format("{}", fmt::join(reductions->names, ","))},
          {"save_raw_tensor", reductions->save_raw_tensor},
          {"save_shape", reductions->save_shape}};
}

json json_of(const SmdebugCollectionConfig& collection) {
  return {{"include_regex", collection.include_regex},
          {"save_histogram", collection.save_histogram},
          {"save_config", json_of(collection.save)},
          {"reduction_config", json_of(collection.reductions)}};
}

json null_if_empty(const std::string& text) {
  return text.empty() ? json() : json(text);
}

}  // namespace

bool is_smdebug_config(const json& document) {
  static const std::vector<std::string> own_keys = {kS3Path, kS3OutputPath, kLocalPath, kHookParameters,
                                                    kCollectionConfigurations};
  if (!document.is_object()) return false;
  const auto items = document.items();
  return std::any_of(items.begin(), items.end(), [](const auto& item) { return nearest(item.key(), own_keys); });
}

Result<SmdebugConfig> read_smdebug_config(const json& value, const SavePolicy& above) {
  Status status;
  SmdebugConfig config;
  config.save = above.filled_from(SavePolicy::of(SaveSchedule()));
  JsonObject document(value, "", status);
  for (const char* key : {kS3Path, kS3OutputPath}) config.has_s3_path |= find_value(document, key) != nullptr;
  read_text(document, kLocalPath, config.local_path);
  if (const json* parameters = find_value(document, kHookParameters)) read_hook_parameters(*parameters, config, status);
  read_collections(document, config, status);
  document.finish();
  if (!status.ok()) return status;
  return config;
}

std::string to_json(const SmdebugConfig& config) {
  json collections = json::object();
  json names = config.collections ? json::array() : json();
  for (const SmdebugCollectionConfig& collection :
       config.collections.value_or(std::vector<SmdebugCollectionConfig>())) {
    names.push_back(collection.name);
    collections[collection.name] = json_of(collection);
  }
  const json document = {{"out_dir", null_if_empty(config.local_path)},
                         {"export_tensorboard", config.export_tensorboard},
                         {"tensorboard_dir", null_if_empty(config.tensorboard_dir)},
                         {"dry_run", config.dry_run},
                         {"save_all", config.save_all.value_or(false)},
                         {"include_regex", config.include_regex.value_or(std::vector<std::string>())},
                         {"include_workers", config.include_workers == IncludeWorkers::kOne ? "one" : "all"},
                         {"include_collections", names},
                         {"save_config", json_of(config.save)},
                         {"reduction_config", json_of(config.reductions)},
                         {"collections", collections}};
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace trainwarden::capture
