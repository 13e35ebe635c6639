// The collections manifest, written as smdebug wants it and read as people have it.
#include "data/foreign/smdebug_manifest.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "data/foreign/smdebug_layout.h"
#include "data/format/collection_json.h"
#include "data/format/json.h"

namespace trainwarden::foreign {
namespace {

using format::Json;
using format::OrderedJson;

OrderedJson to_json(const SaveSchedule& schedule) {
  OrderedJson json = {{"save_interval", schedule.save_interval},
                      {"save_steps", schedule.save_steps},
                      {"start_step", schedule.start_step}};
  json["end_step"] = schedule.end_step ? OrderedJson(*schedule.end_step) : OrderedJson();
  return json;
}

OrderedJson to_json(const std::optional<SavePolicy>& policy) {
  if (!policy) return nullptr;
  OrderedJson json = OrderedJson::object();
  for (const Mode mode : kAllModes) {
    const auto& schedule = (*policy)[mode];
    json[std::string(smdebug_mode_name(mode))] = schedule ? to_json(*schedule) : OrderedJson();
  }
  return json;
}

OrderedJson reduction_config(const SmdebugCollection& collection) {
  const std::optional<KeepForm>& keep = collection.collection.keep;
  if (!keep) return nullptr;
  return {{"save_raw_tensor", keep->values},
          {"reductions", fmt::format("{}", fmt::join(collection.reductions, ","))},
          {"save_shape", keep->shape}};
}

OrderedJson to_json(const SmdebugCollection& collection) {
  std::vector<std::string> names = collection.collection.tensor_names;
  std::ranges::sort(names);
  return {{"name", collection.collection.name},
          {"include_regex", collection.collection.include},
          {"tensor_names", names},
          {"reduction_config", reduction_config(collection)},
          {"save_config", to_json(collection.collection.save)},
          {"save_histogram", collection.save_histogram}};
}

// The field, or nothing when it is missing, null, or false (which smdebug writes for patterns that were never set).
const Json* present(const Json& object, const char* field) {
  const auto found = object.find(field);
  const bool absent = found == object.end() || found->is_null() || *found == false;
  return absent ? nullptr : &*found;
}

// Reads the field with `read` where it is present; else `value` stays as it is.
template <class T, class Read, class... Limits>
Status read_if_present(const Json& object, const char* field, T& value, Read read, Limits... limits) {
  if (present(object, field) == nullptr) return {};
  TRAINWARDEN_ASSIGN_OR_RETURN(value, read(object, field, limits...));
  return {};
}

// A list of strings; one string stands for a list of itself.
Result<std::vector<std::string>> strings_or_one(const Json& object, const char* field) {
  if (object[field].is_string()) return std::vector<std::string>{object[field].get<std::string>()};
  return format::strings_field(object, field);
}

Result<std::vector<std::int64_t>> steps_field(const Json& object, const char* field) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* array, format::array_field(object, field));
  std::vector<std::int64_t> steps;
  for (const Json& step : *array) {
    if (!step.is_number_integer()) {
      return Status(Code::kDataLoss, fmt::format("field \"{}\": expected integers, found {}", field, step.type_name()));
    }
    steps.push_back(step.get<std::int64_t>());
  }
  return steps;
}

Result<SaveSchedule> schedule_from_json(const Json& json) {
  constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();
  SaveSchedule schedule;
  TRAINWARDEN_RETURN_IF_ERROR(
      read_if_present(json, "save_interval", schedule.save_interval, format::int_field, 1, kHighest));
  TRAINWARDEN_RETURN_IF_ERROR(
      read_if_present(json, "start_step", schedule.start_step, format::int_field, kLowest, kHighest));
  TRAINWARDEN_RETURN_IF_ERROR(
      read_if_present(json, "end_step", schedule.end_step, format::int_field, kLowest, kHighest));
  TRAINWARDEN_RETURN_IF_ERROR(read_if_present(json, "save_steps", schedule.save_steps, steps_field));
  return schedule;
}

Result<SavePolicy> policy_from_json(const Json& object, const char* field) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* json, format::object_field(object, field));
  SavePolicy policy;
  for (const Mode mode : kAllModes) {
    const std::string mode_name(smdebug_mode_name(mode));
    if (present(*json, mode_name.c_str()) == nullptr) continue;
    TRAINWARDEN_ASSIGN_OR_RETURN(const Json* schedule, format::object_field(*json, mode_name.c_str()));
    TRAINWARDEN_ASSIGN_OR_RETURN(policy[mode], schedule_from_json(*schedule));
  }
  return policy;
}

Status read_reduction_config(const Json& object, SmdebugCollection& collection) {
  if (present(object, "reduction_config") == nullptr) return {};
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* json, format::object_field(object, "reduction_config"));
  KeepForm keep{.values = false};
  std::string reductions;
  TRAINWARDEN_RETURN_IF_ERROR(read_if_present(*json, "save_raw_tensor", keep.values, format::bool_field));
  TRAINWARDEN_RETURN_IF_ERROR(read_if_present(*json, "save_shape", keep.shape, format::bool_field));
  TRAINWARDEN_RETURN_IF_ERROR(read_if_present(*json, "reductions", reductions, format::string_field));
  collection.reductions = split_list(reductions);
  keep.statistics = !collection.reductions.empty();
  collection.collection.keep = keep;
  return {};
}

Result<SmdebugCollection> collection_from_json(const std::string& key, const Json& json) {
  if (!json.is_object()) {
    return Status(Code::kDataLoss, fmt::format("expected an object, found {}", json.type_name()));
  }
  SmdebugCollection collection;
  Collection& ours = collection.collection;
  ours.name = key;
  TRAINWARDEN_RETURN_IF_ERROR(read_if_present(json, "name", ours.name, format::string_field));
  TRAINWARDEN_RETURN_IF_ERROR(read_if_present(json, "include_regex", ours.include, strings_or_one));
  TRAINWARDEN_RETURN_IF_ERROR(read_if_present(json, "tensor_names", ours.tensor_names, strings_or_one));
  TRAINWARDEN_RETURN_IF_ERROR(read_if_present(json, "save_config", ours.save, policy_from_json));
  TRAINWARDEN_RETURN_IF_ERROR(read_reduction_config(json, collection));
  if (json.contains("save_histogram")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(collection.save_histogram, format::bool_field(json, "save_histogram"));
  }
  return collection;
}

Result<SmdebugManifest> manifest_from_json(const Json& json) {
  SmdebugManifest manifest;
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* collections, format::object_field(json, "collections"));
  if (collections->size() > format::kMostCollections) {
    return Status(Code::kDataLoss, fmt::format("at most {} collections expected, {} found", format::kMostCollections,
                                               collections->size()));
  }
  for (const auto& [key, item] : collections->items()) {
    Result<SmdebugCollection> collection = collection_from_json(key, item);
    if (!collection.ok()) return collection.status().with_context(fmt::format("collection \"{}\"", key));
    manifest.collections.push_back(*std::move(collection));
  }
  std::ranges::sort(manifest.collections, {}, [](const auto& item) { return item.collection.name; });
  if (present(json, "_meta") == nullptr) return manifest;
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* meta, format::object_field(json, "_meta"));
  std::int64_t num_workers = 1;
  TRAINWARDEN_RETURN_IF_ERROR(
      read_if_present(*meta, "num_workers", num_workers, format::int_field, 1, std::numeric_limits<int>::max()));
  manifest.num_workers = static_cast<int>(num_workers);
  return manifest;
}

}  // namespace

std::string encode_smdebug_manifest(const SmdebugManifest& manifest) {
  OrderedJson collections = OrderedJson::object();
  for (const SmdebugCollection& item : manifest.collections) collections[item.collection.name] = to_json(item);
  // smdebug refuses a manifest with any other key.
  return format::dump_json({{"collections", collections}, {"_meta", {{"num_workers", manifest.num_workers}}}});
}

Result<SmdebugManifest> decode_smdebug_manifest(std::string_view json) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json parsed, format::parse_json_object(json, "smdebug's collections"));
  Result<SmdebugManifest> manifest = manifest_from_json(parsed);
  if (!manifest.ok()) return manifest.status().with_context("smdebug's collections");
  return manifest;
}

}  // namespace trainwarden::foreign
