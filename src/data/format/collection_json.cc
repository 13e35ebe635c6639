#include "data/format/collection_json.h"

#include <string>

#include <fmt/format.h>

#include "data/format/name_escape.h"

namespace trainwarden::format {
namespace {

OrderedJson to_json(const SaveSchedule& schedule) {
  OrderedJson json = {{"save_interval", schedule.save_interval}, {"start_step", schedule.start_step}};
  if (schedule.end_step) json["end_step"] = *schedule.end_step;
  if (!schedule.save_steps.empty()) json["save_steps"] = schedule.save_steps;
  return json;
}

OrderedJson to_json(const SavePolicy& policy) {
  OrderedJson json = OrderedJson::object();
  for (const Mode mode : kAllModes) {
    if (policy[mode]) json[std::string(name(mode))] = to_json(*policy[mode]);
  }
  return json;
}

OrderedJson to_json(const KeepForm& keep) {
  return {{"values", keep.values},
          {"statistics", keep.statistics},
          {"histogram", keep.histogram},
          {"hash", keep.hash},
          {"shape", keep.shape}};
}

OrderedJson to_json(const Collection& collection) {
  OrderedJson json = {{"name", escape_name(collection.name)},
                      {"include", collection.include},
                      {"tensor_names", names_to_json(collection.tensor_names)}};
  if (collection.save) json["save"] = to_json(*collection.save);
  if (collection.keep) json["keep"] = to_json(*collection.keep);
  return json;
}

Result<SaveSchedule> schedule_from_json(const Json& json) {
  SaveSchedule schedule;
  TRAINWARDEN_ASSIGN_OR_RETURN(schedule.save_interval, int_field(json, "save_interval", 1));
  TRAINWARDEN_ASSIGN_OR_RETURN(schedule.start_step, int_field(json, "start_step"));
  if (json.contains("end_step")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(schedule.end_step, int_field(json, "end_step"));
  }
  if (!json.contains("save_steps")) return schedule;
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* steps, array_field(json, "save_steps"));
  for (const Json& step : *steps) {
    if (!step.is_number_integer()) return Status(Code::kDataLoss, "field \"save_steps\": expected integers");
    schedule.save_steps.push_back(step.get<std::int64_t>());
  }
  return schedule;
}

Result<SavePolicy> policy_from_json(const Json& json) {
  SavePolicy policy;
  for (const Mode mode : kAllModes) {
    const std::string field(name(mode));
    if (!json.contains(field)) continue;
    TRAINWARDEN_ASSIGN_OR_RETURN(const Json* schedule, object_field(json, field.c_str()));
    TRAINWARDEN_ASSIGN_OR_RETURN(policy[mode], schedule_from_json(*schedule));
  }
  return policy;
}

Result<KeepForm> keep_from_json(const Json& json) {
  KeepForm keep;
  TRAINWARDEN_ASSIGN_OR_RETURN(keep.values, bool_field(json, "values"));
  TRAINWARDEN_ASSIGN_OR_RETURN(keep.statistics, bool_field(json, "statistics"));
  TRAINWARDEN_ASSIGN_OR_RETURN(keep.histogram, bool_field(json, "histogram"));
  TRAINWARDEN_ASSIGN_OR_RETURN(keep.hash, bool_field(json, "hash"));
  TRAINWARDEN_ASSIGN_OR_RETURN(keep.shape, bool_field(json, "shape"));
  return keep;
}

Result<Collection> collection_from_json(const Json& json) {
  Collection collection;
  TRAINWARDEN_ASSIGN_OR_RETURN(collection.name, name_field(json, "name"));
  TRAINWARDEN_ASSIGN_OR_RETURN(collection.include, strings_field(json, "include"));
  TRAINWARDEN_ASSIGN_OR_RETURN(collection.tensor_names, names_field(json, "tensor_names"));
  if (json.contains("save")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const Json* save, object_field(json, "save"));
    TRAINWARDEN_ASSIGN_OR_RETURN(collection.save, policy_from_json(*save));
  }
  if (json.contains("keep")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const Json* keep, object_field(json, "keep"));
    TRAINWARDEN_ASSIGN_OR_RETURN(collection.keep, keep_from_json(*keep));
  }
  return collection;
}

}  // namespace

OrderedJson collections_to_json(const std::vector<Collection>& collections) {
  OrderedJson array = OrderedJson::array();
  for (const Collection& collection : collections) array.push_back(to_json(collection));
  return array;
}

Result<std::vector<Collection>> collections_from_json(const Json& array) {
  if (array.size() > kMostCollections) {
    return Status(Code::kDataLoss,
                  fmt::format("at most {} collections expected, {} found", kMostCollections, array.size()));
  }
  std::vector<Collection> collections;
  collections.reserve(array.size());
  for (const Json& item : array) {
    Result<Collection> collection = collection_from_json(item);
    if (!collection.ok()) return collection.status().with_context(fmt::format("collection {}", collections.size()));
    collections.push_back(*std::move(collection));
  }
  return collections;
}

}  // namespace trainwarden::format
