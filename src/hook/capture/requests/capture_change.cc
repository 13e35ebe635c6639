#include "hook/capture/requests/capture_change.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "data/format/json.h"
#include "hook/capture/config/hook_options_json.h"

namespace trainwarden::capture {
namespace {

constexpr std::array<std::string_view, 7> kChangeable = {
    "include_collections", "include", "collections", "save_all", "save", "keep", "budget"};
constexpr std::array<std::string_view, 19> kUnchangeable = {
    "run_dir",        "rank",          "world_size",   "include_workers",
    "staging_bytes",  "segment_bytes", "compress",     "max_run_bytes",
    "min_free_bytes", "when_full",     "durability",   "dry_run",
    "code_version",   "labels",        "black_box",    "checkpoint_on_request",
    "resume",         "operators",     "python_stacks"};

Status cannot_change(std::string_view key) {
  return Status(Code::kInvalidArgument, fmt::format("{} cannot be changed while the training goes on; what can: {}",
                                                    key, fmt::join(kChangeable, ", ")));
}

// Keys that nobody knows are found when the options are read.
Status check_keys(const std::string& options) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::Json json, format::parse_json_object(options, "options"));
  for (const auto& [key, value] : json.items()) {
    if (std::find(kUnchangeable.begin(), kUnchangeable.end(), key) != kUnchangeable.end()) return cannot_change(key);
  }
  return Status();
}

auto find_collection(std::vector<Collection>& collections, std::string_view wanted) {
  return std::find_if(collections.begin(), collections.end(),
                      [&](const Collection& collection) { return collection.name == wanted; });
}

// As the first of `sources` that has it defines it; built-in collections and new ones need no definition.
void define(const std::string& wanted, std::initializer_list<const HookOptions*> sources, HookOptions& options) {
  if (find_collection(options.collections, wanted) != options.collections.end()) return;
  for (const HookOptions* source : sources) {
    for (const Collection& collection : source->collections) {
      if (collection.name == wanted) return options.collections.push_back(collection);
    }
  }
}

// Adds those of `earlier` that are not there, in front.
void put_before(const std::vector<std::string>& earlier, std::vector<std::string>& texts) {
  std::vector<std::string> all = earlier;
  for (std::string& text : texts) {
    if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(std::move(text));
  }
  texts = std::move(all);
}

void leave_out_everything(CaptureState& state) {
  state.options.include_collections.clear();
  state.options.include.clear();
  state.options.collections.clear();
  state.options.save_all = false;
  state.declared_saved = false;
}

std::vector<std::string> captured_names(const HookOptions& options) {
  std::vector<std::string> names = options.include_collections;
  for (const Collection& collection : options.collections) names.push_back(collection.name);
  if (!options.include.empty()) names.emplace_back("default");
  if (options.save_all) names.emplace_back("all");
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Status leave_out(const std::string& excluded, HookOptions& options) {
  if (excluded == "losses" || excluded == "scalars") {
    return Status(Code::kInvalidArgument, fmt::format("collection \"{}\" is always captured", excluded));
  }
  const std::vector<std::string> captured = captured_names(options);
  if (std::find(captured.begin(), captured.end(), excluded) == captured.end()) {
    const bool all = std::find(captured.begin(), captured.end(), "all") != captured.end();
    return Status(
        Code::kInvalidArgument,
        fmt::format("collection \"{}\" cannot be left out, as it is not asked for{}; {}: {}", printable(excluded),
                    did_you_mean(excluded, captured), all ? "everything is (collection \"all\")" : "what is asked for",
                    fmt::join(captured, ", ")));
  }
  std::erase(options.include_collections, excluded);
  std::erase_if(options.collections, [&](const Collection& collection) { return collection.name == excluded; });
  if (excluded == "default") options.include.clear();
  if (excluded == "all") options.save_all = false;
  return Status();
}

}  // namespace

Result<CaptureState> change_capture(const CaptureState& now, const HookOptions& opened,
                                    const format::CaptureRequest& request) {
  TRAINWARDEN_RETURN_IF_ERROR(check_keys(request.options));
  HookOptions named;
  TRAINWARDEN_RETURN_IF_ERROR(overlay_json(request.options, "options", named));

  CaptureState next = request.reset ? CaptureState{opened, true} : now;
  if (request.only) leave_out_everything(next);
  for (const std::string& excluded : request.exclude_collections) {
    TRAINWARDEN_RETURN_IF_ERROR(leave_out(excluded, next.options));
  }
  for (const std::string& name : named.include_collections) define(name, {&now.options, &opened}, next.options);
  for (const Collection& collection : named.collections) define(collection.name, {&now.options, &opened}, next.options);

  const std::vector<std::string> collections = next.options.include_collections;
  const std::vector<std::string> patterns = next.options.include;
  TRAINWARDEN_RETURN_IF_ERROR(overlay_json(request.options, "options", next.options));
  put_before(collections, next.options.include_collections);
  put_before(patterns, next.options.include);
  return next;
}

Status check_unchangeable(const HookOptions& before, const HookOptions& after) {
  const std::pair<std::string_view, bool> differences[] = {
      {"run_dir", before.run_dir != after.run_dir},
      {"rank", before.rank != after.rank},
      {"world_size", before.world_size != after.world_size},
      {"include_workers", before.include_workers != after.include_workers},
      {"staging_bytes", before.staging_bytes != after.staging_bytes},
      {"segment_bytes", before.segment_bytes != after.segment_bytes},
      {"compress", before.compress != after.compress},
      {"max_run_bytes", before.max_run_bytes != after.max_run_bytes},
      {"min_free_bytes", before.min_free_bytes != after.min_free_bytes},
      {"when_full", before.when_full != after.when_full},
      {"durability", before.durability != after.durability},
      {"resume", before.resume != after.resume},
      {"dry_run", before.dry_run != after.dry_run},
      {"code_version", before.code_version != after.code_version},
      {"labels", before.labels != after.labels},
      {"operators", before.operators != after.operators},
      {"python_stacks", before.python_stacks_hz != after.python_stacks_hz}};
  for (const auto& [key, differs] : differences) {
    if (differs) return cannot_change(key);
  }
  return Status();
}

void take_changes(const HookOptions& before, const HookOptions& after, HookOptions& options) {
  const auto take = [](const auto& old_value, const auto& new_value, auto& value) {
    if (!(old_value == new_value)) value = new_value;
  };
  take(before.collections, after.collections, options.collections);
  take(before.include_collections, after.include_collections, options.include_collections);
  take(before.include, after.include, options.include);
  take(before.save_all, after.save_all, options.save_all);
  take(before.save, after.save, options.save);
  take(before.keep, after.keep, options.keep);
  take(before.needs, after.needs, options.needs);
  take(before.budget, after.budget, options.budget);
}

}  // namespace trainwarden::capture
