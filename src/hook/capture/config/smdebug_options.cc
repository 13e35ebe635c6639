#include "hook/capture/config/smdebug_options.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/log.h"
#include "hook/capture/config/config_source.h"
#include "hook/capture/config/json_object.h"
#include "hook/capture/config/json_text.h"
#include "hook/capture/config/smdebug_config.h"

namespace trainwarden::capture {
namespace {

constexpr std::string_view kAllTensors = "all";
constexpr const char* kNothing = "(?!)";  // a pattern that is found nowhere

// smdebug's own collections that are none of ours: what they are called here, or which tensors were theirs.
struct OtherCollection {
  std::string_view name;
  std::string_view here;
  const char* pattern;
};
constexpr OtherCollection kOtherCollections[] = {
    {"optimizer_variables", "optimizer_state", nullptr},
    {"sm_metrics", "scalars", nullptr},
    {"metrics", "metrics", "^[a-zA-Z]+-[a-zA-Z0-9]+$"},
    {"hyperparameters", "hyperparameters", "^hyperparameters/"},
    {"predictions", "predictions", "^predictions$"},
    {"labels", "labels", "^labels$"},
    {"feature_importance", "feature_importance", "^feature_importance/"},
    {"average_shap", "average_shap", "^average_shap/"},
    {"full_shap", "full_shap", "^full_shap/"},
    {"trees", "trees", "^trees/"},
    {"layers", "layers", kNothing},
    {"tensorflow_summaries", "tensorflow_summaries", kNothing},
};

// Collections that smdebug's hook filled by itself: patterns that are given add to those that there are.
constexpr std::string_view kFilled[] = {"weights", "biases", "gradients", "losses"};
// Ours that smdebug's hook did not have: that every collection is saved does not mean them.
constexpr std::string_view kOnlyHere[] = {
    "inputs",         "outputs",         "buffers",   "optimizer_state",  "relu_inputs",  "relu_outputs", "tanh_inputs",
    "sigmoid_inputs", "softmax_outputs", "attention", "embedding_inputs", "image_inputs", "batch_inputs", "signals"};
// Numbers: never reduced.
constexpr std::string_view kAlwaysWhole[] = {"losses", "metrics", "feature_importance", "average_shap", "sm_metrics"};

template <class List>
bool lists(const List& list, std::string_view wanted) {
  return std::find(std::begin(list), std::end(list), wanted) != std::end(list);
}

bool asks_for_product(const SmdebugReductions& reductions) {
  return lists(reductions.names, "prod") || lists(reductions.names, "abs_prod");
}

// Every reduction but the product can be read from statistics; the product is computed from the value. What would keep
// nothing keeps the shape.
KeepForm form_of(const SmdebugReductions& reductions) {
  const bool product = asks_for_product(reductions);
  if (product && !reductions.save_raw_tensor) {
    log(LogLevel::kInfo, "reductions: statistics do not give prod, so the tensors of its collection are kept whole");
  }
  KeepForm keep{.values = reductions.save_raw_tensor || product,
                .statistics = !reductions.names.empty(),
                .shape = reductions.save_shape};
  if (!keep.values && !keep.statistics) keep.shape = true;
  return keep;
}

class Overlay {
 public:
  Overlay(const SmdebugConfig& config, HookOptions& options) : config_(config), options_(options) {}

  void apply() {
    set_places();
    options_.save = config_.save;
    if (config_.reductions) options_.keep = form_of(*config_.reductions);
    if (tensorboard_) options_.keep.histogram = true;
    options_.include_workers = config_.include_workers;
    options_.save_all = config_.save_all.value_or(options_.save_all);
    options_.dry_run = options_.dry_run || config_.dry_run;
    if (config_.include_regex) options_.include = *config_.include_regex;
    if (!config_.collections) return;
    for (const SmdebugCollectionConfig& collection : *config_.collections) take(collection);
    if (std::any_of(config_.collections->begin(), config_.collections->end(),
                    [](const SmdebugCollectionConfig& collection) { return collection.name == kAllTensors; })) {
      leave_out_what_is_only_here();
    }
  }

 private:
  void set_places() {
    if (options_.run_dir.empty()) options_.run_dir = config_.local_path;
    if (!config_.tensorboard_dir.empty()) {
      options_.tensorboard_dir = config_.tensorboard_dir;
    } else if (config_.export_tensorboard && options_.tensorboard_dir.empty()) {
      options_.tensorboard_dir = tensorboard_dir_in(options_.run_dir);
    }
    tensorboard_ = !options_.tensorboard_dir.empty();
  }

  void take(const SmdebugCollectionConfig& theirs) {
    const auto other = std::find_if(std::begin(kOtherCollections), std::end(kOtherCollections),
                                    [&](const OtherCollection& one) { return one.name == theirs.name; });
    const bool is_other = other != std::end(kOtherCollections);
    Collection& ours = collection_named(is_other ? std::string(other->here) : theirs.name);
    ours.include = theirs.include_regex;
    if (is_other && ours.include.empty() && other->pattern != nullptr) ours.include = {other->pattern};
    if (theirs.name == kAllTensors && ours.include.empty()) ours.include = {options_.save_all ? ".*" : kNothing};
    if (lists(kFilled, theirs.name) && !ours.include.empty()) add_builtin_patterns(ours);
    ours.save = theirs.save == options_.save ? std::nullopt : std::optional(theirs.save);
    const KeepForm keep = keep_of(theirs);
    ours.keep = keep == options_.keep ? std::nullopt : std::optional(keep);
  }

  KeepForm keep_of(const SmdebugCollectionConfig& theirs) const {
    if (lists(kAlwaysWhole, theirs.name)) return KeepForm::whole();
    KeepForm keep = theirs.reductions ? form_of(*theirs.reductions) : options_.keep;
    if (tensorboard_) keep.histogram = theirs.save_histogram;
    return keep;
  }

  static void add_builtin_patterns(Collection& ours) {
    for (const Collection& builtin : builtin_collections()) {
      if (builtin.name == ours.name) {
        ours.include.insert(ours.include.begin(), builtin.include.begin(), builtin.include.end());
      }
    }
  }

  // `all` saves every collection.
  void leave_out_what_is_only_here() {
    if (options_.save_all) return;
    for (const std::string_view only_here : kOnlyHere) {
      const bool given = std::any_of(options_.collections.begin(), options_.collections.end(),
                                     [&](const Collection& collection) { return collection.name == only_here; });
      if (!given) collection_named(std::string(only_here)).save = SavePolicy::of({.end_step = 0});
    }
  }

  // The collection of that name, added when there is none yet.
  Collection& collection_named(const std::string& wanted) {
    const auto found = std::find_if(options_.collections.begin(), options_.collections.end(),
                                    [&](const Collection& collection) { return collection.name == wanted; });
    if (found != options_.collections.end()) return *found;
    return options_.collections.emplace_back(Collection{.name = wanted});
  }

  const SmdebugConfig& config_;
  HookOptions& options_;
  bool tensorboard_ = false;
};

}  // namespace

Status overlay_smdebug(const nlohmann::json& document, HookOptions& options) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const SmdebugConfig config, read_smdebug_config(document, options.save));
  if (config.has_s3_path) log(LogLevel::kInfo, "the S3 path of the hook's configuration is not used: runs are folders");
  Overlay(config, options).apply();
  return Status();
}

Result<std::string> read_tensorboard_config(const std::filesystem::path& file) {
  auto text = read_config(std::filesystem::absolute(file));
  if (text.status().code() == Code::kNotFound) return std::string();
  if (!text.ok()) return text.status();
  TRAINWARDEN_ASSIGN_OR_RETURN(const nlohmann::json document, parse_json(*text));
  Status status;
  std::string local_path;
  JsonObject(document, "", status).read("LocalPath", local_path);
  if (!status.ok()) return status;
  return local_path;
}

std::filesystem::path tensorboard_dir_in(const std::filesystem::path& run_dir) {
  return run_dir / "tensorboard";
}

}  // namespace trainwarden::capture
