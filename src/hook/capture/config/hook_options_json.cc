#include "hook/capture/config/hook_options_json.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/no_throw.h"
#include "core/base/text.h"
#include "hook/capture/config/config_source.h"
#include "hook/capture/config/json_object.h"
#include "hook/capture/config/json_text.h"
#include "hook/capture/config/option_values.h"
#include "hook/capture/config/smdebug_config.h"
#include "hook/capture/config/smdebug_options.h"

namespace trainwarden {
namespace capture {
namespace {

using nlohmann::json;

void read_schedule(JsonObject& object, SaveSchedule& schedule) {
  object.read("save_interval", schedule.save_interval, 1);
  object.read("start_step", schedule.start_step, 0);
  object.read("end_step", schedule.end_step, 0);
  object.read("save_steps", schedule.save_steps, 0);
}

// Fields at the top hold for all modes, fields inside a mode's object for that mode; what neither gives comes from
// `above`. So the order of precedence, low to high, is: default, hook, hook's mode, collection, collection's mode.
SavePolicy read_save(const json& value, const std::string& path, const SavePolicy& above, Status& status) {
  JsonObject object(value, path, status);
  SavePolicy policy;
  for (const Mode mode : kAllModes) {
    SaveSchedule schedule = above[mode].value_or(SaveSchedule());
    read_schedule(object, schedule);
    const std::string key(name(mode));
    if (const json* member = object.find(key)) {
      JsonObject of_mode(*member, object.path_of(key), status);
      read_schedule(of_mode, schedule);
      of_mode.finish();
    }
    policy[mode] = std::move(schedule);
  }
  object.finish();
  return policy;
}

KeepForm read_keep(const json& value, const std::string& path, KeepForm form, Status& status) {
  JsonObject object(value, path, status);
  object.read("values", form.values);
  object.read("statistics", form.statistics);
  object.read("histogram", form.histogram);
  object.read("hash", form.hash);
  object.read("shape", form.shape);
  object.finish();
  if (!form.values && !form.any_statistics() && !form.shape) {
    object.fail("", "keeps nothing; at least one of values, statistics, histogram, hash and shape must be true");
  }
  return form;
}

// The collection of that name, added when there is none yet.
Collection& collection_named(const std::string& wanted, std::vector<Collection>& collections) {
  const auto found = std::find_if(collections.begin(), collections.end(),
                                  [&](const Collection& collection) { return collection.name == wanted; });
  if (found != collections.end()) return *found;
  return collections.emplace_back(Collection{.name = wanted});
}

// Into the one of the same name in `collections`, or a new one.
void read_collection(const json& value, const std::string& path, const HookOptions& options,
                     std::vector<Collection>& collections, Status& status) {
  JsonObject object(value, path, status);
  std::string collection_name;
  object.read("name", collection_name);
  if (collection_name.empty()) object.fail("name", "expected the collection's name, found nothing");
  if (!status.ok()) return;

  Collection& collection = collection_named(collection_name, collections);
  object.read("include", collection.include);
  object.read("tensor_names", collection.tensor_names);
  if (const json* save = object.find("save")) {
    collection.save = read_save(*save, object.path_of("save"), collection.save.value_or(options.save), status);
  }
  if (const json* keep = object.find("keep")) {
    collection.keep = read_keep(*keep, object.path_of("keep"), collection.keep.value_or(options.keep), status);
  }
  object.finish();
}

void read_collections(JsonObject& document, HookOptions& options, Status& status) {
  const json* collections = document.find("collections");
  if (collections == nullptr) return;
  if (!collections->is_array()) return document.fail_type("collections", "an array of objects", *collections);
  std::size_t index = 0;
  for (const json& collection : *collections) {
    read_collection(collection, fmt::format("collections[{}]", index++), options, options.collections, status);
  }
}

// Each by itself: two rules may need the same collection at different steps.
void read_needs(JsonObject& document, HookOptions& options, Status& status) {
  const json* needs = document.find("needs");
  if (needs == nullptr) return;
  if (!needs->is_array()) return document.fail_type("needs", "an array of objects", *needs);
  options.needs.clear();
  for (const json& need : *needs) {
    std::vector<Collection> read;
    read_collection(need, fmt::format("needs[{}]", options.needs.size()), options, read, status);
    if (!status.ok()) return;
    options.needs.push_back(std::move(read.front()));
  }
}

void read_int(JsonObject& document, const std::string& key, int& value, int at_least) {
  std::int64_t wide = value;
  document.read(key, wide, at_least);
  if (wide > std::numeric_limits<int>::max()) return document.fail(key, fmt::format("{} is too large", wide));
  value = static_cast<int>(wide);
}

void read_first_steps(JsonObject& document, HookOptions& options, Status& status) {
  document.read("first_global_step", options.first_global_step, 0);
  const json* member = document.find("first_mode_steps");
  if (member == nullptr) return;
  JsonObject modes(*member, "first_mode_steps", status);
  for (const Mode mode : {Mode::kTrain, Mode::kEval, Mode::kPredict}) {
    modes.read(std::string(name(mode)), options.first_mode_steps[index_of(mode)], 0);
  }
  modes.finish();
}

void read_bytes(JsonObject& document, const std::string& key, std::size_t& value) {
  const json* member = document.find(key);
  if (member == nullptr) return;
  const std::string text = member->is_string() ? member->get<std::string>() : member->dump();
  const Result<std::uint64_t> bytes = parse_byte_size(text);
  if (!bytes.ok()) return document.fail(key, bytes.status().message());
  value = *bytes;
}

void read_share(JsonObject& document, const std::string& key, double& value) {
  const json* member = document.find(key);
  if (member == nullptr) return;
  if (!member->is_string() && !member->is_number()) return document.fail_type(key, "a share such as 0.01", *member);
  const Result<double> share = parse_share(member->is_string() ? member->get<std::string>() : member->dump());
  if (!share.ok()) return document.fail(key, share.status().message());
  value = *share;
}

// True, a number of steps, or an object.
void read_black_box(JsonObject& document, BlackBoxOptions& black_box, Status& status) {
  const std::string key = "black_box";
  const json* member = document.find(key);
  if (member == nullptr) return;
  if (member->is_object()) {
    JsonObject object(*member, document.path_of(key), status);
    std::int64_t steps = black_box.steps > 0 ? black_box.steps : kDefaultBlackBoxSteps;
    object.read("steps", steps, 0);
    read_bytes(object, "bytes", black_box.bytes);
    object.read("collections", black_box.collections);
    object.finish();
    black_box.steps = static_cast<int>(std::min<std::int64_t>(steps, std::numeric_limits<int>::max()));
    return;
  }
  const Result<int> steps = parse_black_box_steps(member->is_string() ? member->get<std::string>() : member->dump());
  if (!steps.ok()) return document.fail(key, steps.status().message());
  black_box.steps = *steps;
}

// A number, or a word.
void read_stacks(JsonObject& document, int& hz) {
  const std::string key = "python_stacks";
  const json* member = document.find(key);
  if (member == nullptr) return;
  const Result<int> read = parse_stack_hz(member->is_string() ? member->get<std::string>() : member->dump());
  if (!read.ok()) return document.fail(key, read.status().message());
  hz = *read;
}

Status read_document(const json& value, HookOptions& options) {
  Status status;
  JsonObject document(value, "", status);
  std::string run_dir = options.run_dir.string();
  document.read("run_dir", run_dir);
  options.run_dir = run_dir;
  if (const json* save = document.find("save")) options.save = read_save(*save, "save", options.save, status);
  if (const json* keep = document.find("keep")) options.keep = read_keep(*keep, "keep", options.keep, status);
  read_collections(document, options, status);
  read_needs(document, options, status);
  document.read("include_collections", options.include_collections);
  document.read("include", options.include);
  document.read("save_all", options.save_all);
  read_share(document, "budget", options.budget);
  read_int(document, "rank", options.rank, 0);
  read_int(document, "world_size", options.world_size, 1);
  document.read_word("include_workers", options.include_workers, parse_include_workers);
  read_bytes(document, "staging_bytes", options.staging_bytes);
  read_bytes(document, "segment_bytes", options.segment_bytes);
  document.read("compress", options.compress);
  read_bytes(document, "max_run_bytes", options.max_run_bytes);
  read_bytes(document, "min_free_bytes", options.min_free_bytes);
  document.read_word("when_full", options.when_full, parse_when_full);
  document.read_word("durability", options.durability, parse_durability);
  document.read("dry_run", options.dry_run);
  document.read("resume", options.resume);
  read_black_box(document, options.black_box, status);
  document.read_word("operators", options.operators, parse_operator_window);
  read_stacks(document, options.python_stacks_hz);
  document.read("checkpoint_on_request", options.checkpoint_on_request);
  read_first_steps(document, options, status);
  std::string tensorboard_dir = options.tensorboard_dir.string();
  document.read("tensorboard_dir", tensorboard_dir);
  options.tensorboard_dir = tensorboard_dir;
  document.read("code_version", options.code_version);
  document.read("labels", options.labels);
  document.finish();
  return status;
}

}  // namespace

Status overlay_json(std::string_view json, std::string_view source_name, HookOptions& options) {
  const Result<nlohmann::json> document = parse_json(json);
  if (!document.ok()) return document.status().with_context(source_name);
  const Status status =
      is_smdebug_config(*document) ? overlay_smdebug(*document, options) : read_document(*document, options);
  return status.with_context(source_name);
}

Status overlay_json_file(const std::filesystem::path& file, HookOptions& options) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string text, read_config(std::filesystem::absolute(file)));
  return overlay_json(text, file.string(), options);
}

}  // namespace capture

Result<std::string> parse_smdebug_config(std::string_view json, std::string_view source_name) {
  return no_throw([&]() -> Result<std::string> {
    const auto document = capture::parse_json(json);
    if (!document.ok()) return document.status().with_context(source_name);
    const auto config = capture::read_smdebug_config(*document, SavePolicy());
    if (!config.ok()) return config.status().with_context(source_name);
    return capture::to_json(*config);
  });
}

Result<HookOptions> load_hook_options(const std::filesystem::path& json_file) {
  return no_throw([&]() -> Result<HookOptions> {
    HookOptions options;
    TRAINWARDEN_RETURN_IF_ERROR(capture::overlay_json_file(json_file, options));
    return options;
  });
}

Result<HookOptions> parse_hook_options(std::string_view json, std::string_view source_name) {
  return no_throw([&]() -> Result<HookOptions> {
    HookOptions options;
    TRAINWARDEN_RETURN_IF_ERROR(capture::overlay_json(json, source_name, options));
    return options;
  });
}

}  // namespace trainwarden
