// What becomes of smdebug's hook configuration: options of ours, from documents, files and variables.
#include "hook/capture/config/smdebug_options.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"
#include "hook/capture/capture_plan.h"
#include "hook/capture/config/config_source.h"
#include "hook/capture/config/hook_environment.h"
#include "hook/capture/config/hook_options_json.h"

namespace trainwarden::capture {
namespace {

using Names = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;

HookOptions overlaid(std::string_view json, HookOptions options = {}) {
  const Status status = overlay_json(json, "hook.json", options);
  EXPECT_TRUE(status.ok()) << status.to_string();
  return options;
}

std::unique_ptr<CapturePlan> smdebug_plan(const HookOptions& options) {
  auto plan = CapturePlan::resolve(options);
  EXPECT_TRUE(plan.ok()) << plan.status().to_string();
  return plan.ok() ? *std::move(plan) : nullptr;
}

const Collection& find(const HookOptions& options, std::string_view name) {
  const auto found = std::find_if(options.collections.begin(), options.collections.end(),
                                  [&](const Collection& collection) { return collection.name == name; });
  EXPECT_NE(found, options.collections.end()) << name;
  return *found;
}

Environment smdebug_environment(const Variables& variables) {
  return [&variables](const char* variable) -> const char* {
    const auto found = variables.find(variable);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

// A file of this text, gone with the test.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& name, std::string_view text) : path_(folder_.path() / name) {
    std::ofstream(path_) << text;
  }
  std::string path() const { return path_; }

 private:
  TestFolder folder_;
  std::string path_;
};

// Seed 002: an estimator's hook_parameters, all of them texts.
TEST(SmdebugOptions, HookParametersOfAnEstimator) {
  const HookOptions options = overlaid(R"({"S3OutputPath": "s3://bucket/prefix", "LocalPath": "/tmp/run",
    "HookParameters": {"save_interval": "10", "export_tensorboard": "true", "tensorboard_dir": "hook_tensorboard/"}})");
  EXPECT_EQ(options.run_dir, "/tmp/run");
  EXPECT_EQ(options.save, SavePolicy::every(10));
  EXPECT_EQ(options.tensorboard_dir, "hook_tensorboard/");
  EXPECT_EQ(options.keep, (KeepForm{.values = true, .histogram = true}));
  EXPECT_EQ(options.include_workers, IncludeWorkers::kOne) << "smdebug's default";
}

// Seed 000: attention scores, every step of validation and the first of training.
TEST(SmdebugOptions, TheCollectionOfTheAttentionExample) {
  const auto plan =
      smdebug_plan(overlaid(R"({"CollectionConfigurations": [{"CollectionName": "all", "CollectionParameters": {
    "include_regex": ".*multiheadattentioncell0_output_1|.*key_output|.*query_output",
    "train.save_steps": "0", "eval.save_interval": "1"}}]})"));
  const auto wanted = [&](std::string_view tensor, Mode mode, std::int64_t step) {
    plan->begin_step(mode, step);
    return plan->membership_of(tensor).form_now() != 0;
  };
  EXPECT_TRUE(wanted("bert_transformer0_multiheadattentioncell0_output_1", Mode::kEval, 7));
  EXPECT_TRUE(wanted("layer_key_output_0", Mode::kTrain, 0));
  EXPECT_FALSE(wanted("layer_key_output_0", Mode::kTrain, 7));
  EXPECT_FALSE(wanted("layer_value_output_0", Mode::kTrain, 0)) << "outputs were no collection of smdebug's";
  EXPECT_TRUE(wanted("dense.weight", Mode::kTrain, 500)) << "with `all`, every collection is saved";
  EXPECT_FALSE(wanted("dense.weight", Mode::kTrain, 7));
}

TEST(SmdebugOptions, AllAloneSavesTheCollectionsAndSaveAllEverything) {
  const auto form = [](std::string_view json, std::string_view tensor) {
    return smdebug_plan(overlaid(json))->membership_of(tensor).form_now();
  };
  constexpr const char* kAll = R"({"CollectionConfigurations": [{"CollectionName": "all"}]})";
  EXPECT_NE(form(kAll, "a.weight"), 0);
  EXPECT_EQ(form(kAll, "something"), 0);
  EXPECT_EQ(form(kAll, "relu_output_0"), 0);
  EXPECT_NE(form(R"({"HookParameters": {"save_all": "true"}})", "something"), 0);
}

TEST(SmdebugOptions, ReductionsBecomeStatistics) {
  const HookOptions options = overlaid(R"({"HookParameters": {"reductions": "min,abs_mean"},
    "CollectionConfigurations": [
      {"CollectionName": "a", "CollectionParameters": {"include_regex": "a"}},
      {"CollectionName": "raw", "CollectionParameters":
        {"include_regex": "r", "reductions": "l2_norm", "save_raw_tensor": "True"}},
      {"CollectionName": "shape", "CollectionParameters": {"include_regex": "s", "reductions": "", "save_shape": true}},
      {"CollectionName": "empty", "CollectionParameters": {"include_regex": "e", "reductions": ""}},
      {"CollectionName": "metrics", "CollectionParameters": {"reductions": "min"}}]})");
  EXPECT_EQ(options.keep, KeepForm::reduced());
  EXPECT_FALSE(find(options, "a").keep) << "as the hook's";
  EXPECT_EQ(find(options, "raw").keep, (KeepForm{.values = true, .statistics = true}));
  EXPECT_EQ(find(options, "shape").keep, (KeepForm{.values = false, .shape = true}));
  EXPECT_EQ(find(options, "empty").keep, (KeepForm{.values = false, .shape = true}));
  EXPECT_EQ(find(options, "metrics").keep, KeepForm::whole()) << "numbers are never reduced";
}

TEST(SmdebugOptions, TheS3PathIsTakenAndLeftOut) {
  EXPECT_TRUE(overlaid(R"({"S3Path": "s3://b"})").run_dir.empty());
}

// Statistics do not give it.
TEST(SmdebugOptions, ForAProductTheTensorIsKeptWhole) {
  const KeepForm whole{.values = true, .statistics = true};
  EXPECT_EQ(overlaid(R"({"HookParameters": {"reductions": "prod"}})").keep, whole);
  const HookOptions options = overlaid(R"({"CollectionConfigurations": [
    {"CollectionName": "a", "CollectionParameters": {"include_regex": "a", "reductions": "mean,abs_prod"}},
    {"CollectionName": "b", "CollectionParameters": {"include_regex": "b", "reductions": "mean"}}]})");
  EXPECT_EQ(find(options, "a").keep, whole);
  EXPECT_EQ(find(options, "b").keep, KeepForm::reduced());
}

TEST(SmdebugOptions, HistogramsAreKeptForTensorBoardAlone) {
  constexpr const char* kCollections = R"(, "CollectionConfigurations": [
    {"CollectionName": "with", "CollectionParameters": {"include_regex": "w", "save_histogram": true}},
    {"CollectionName": "without", "CollectionParameters": {"include_regex": "o", "save_histogram": "false"}}]})";
  const HookOptions off = overlaid(R"({"HookParameters": {})" + std::string(kCollections));
  EXPECT_FALSE(off.keep.histogram || find(off, "with").keep || find(off, "without").keep);
  const HookOptions on = overlaid(R"({"HookParameters": {"export_tensorboard": true})" + std::string(kCollections));
  EXPECT_TRUE(on.keep.histogram);
  EXPECT_FALSE(find(on, "with").keep) << "as the hook's";
  EXPECT_EQ(find(on, "without").keep, KeepForm::whole());
}

TEST(SmdebugOptions, PatternsAddToTheCollectionsThatSmdebugFilledItself) {
  const HookOptions options = overlaid(R"({"CollectionConfigurations": [
    {"CollectionName": "weights", "CollectionParameters": {"include_regex": "kernel"}},
    {"CollectionName": "biases"}, {"CollectionName": "optimizer_variables"}, {"CollectionName": "layers"},
    {"CollectionName": "outputs", "CollectionParameters": {"include_regex": "relu"}}]})");
  EXPECT_EQ(find(options, "weights").include.size(), 2u);
  EXPECT_EQ(find(options, "outputs").include, (Names{"relu"}));
  const auto plan = smdebug_plan(options);
  for (const char* tensor : {"a.kernel", "a.weight", "a.bias", "optimizer_state/a/exp_avg", "relu"}) {
    EXPECT_NE(plan->membership_of(tensor).form_now(), 0) << tensor;
  }
}

TEST(SmdebugOptions, ACollectionWithoutMembersIsAnError) {
  const auto plan = CapturePlan::resolve(overlaid(R"({"CollectionConfigurations": [{"CollectionName": "mine"}]})"));
  EXPECT_EQ(plan.status().code(), Code::kInvalidArgument);
  EXPECT_NE(plan.status().message().find("mine"), std::string::npos);
}

TEST(SmdebugOptions, TheCallersRunDirStays) {
  EXPECT_EQ(overlaid(R"({"LocalPath": "/tmp/theirs"})", {.run_dir = "ours"}).run_dir, "ours");
  EXPECT_EQ(overlaid(R"({"LocalPath": "/tmp/theirs"})").run_dir, "/tmp/theirs");
}

TEST(SmdebugOptions, VariablesLeadToTheFileAndComeAfterIt) {
  const TemporaryFile config("hook.json", R"({"LocalPath": "/tmp/theirs", "HookParameters": {
    "save_interval": "4", "export_tensorboard": "True"}})");
  Variables variables = {{"SMDEBUG_CONFIG_FILE_PATH", config.path()}};
  const auto options = options_for_attach(smdebug_environment(variables));
  ASSERT_TRUE(options.ok()) << options.status().to_string();
  EXPECT_EQ(options->run_dir, "/tmp/theirs");
  EXPECT_EQ(options->save, SavePolicy::every(4));
  EXPECT_EQ(options->budget, 0) << "the environment says what to capture";
  EXPECT_EQ(options->tensorboard_dir, "/tmp/theirs/tensorboard");

  variables["TRAINWARDEN_RUN_DIR"] = "runs/ours";
  EXPECT_EQ(options_for_attach(smdebug_environment(variables))->run_dir, "runs/ours");
  EXPECT_EQ(options_for_attach(smdebug_environment(variables))->tensorboard_dir, "runs/ours/tensorboard");
  variables["TRAINWARDEN_TENSORBOARD_DIR"] = "tb";
  EXPECT_EQ(options_for_attach(smdebug_environment(variables))->tensorboard_dir, "tb");

  const TemporaryFile ours("ours.json", R"({"save": {"save_interval": 9}})");
  variables["TRAINWARDEN_CONFIG"] = ours.path();
  EXPECT_EQ(options_for_attach(smdebug_environment(variables))->save, SavePolicy::every(9));
}

TEST(SmdebugOptions, AMissingFileNamesTheVariable) {
  const Variables variables = {{"SMDEBUG_CONFIG_FILE_PATH", "/nowhere/hook.json"}};
  const Status status = options_for_attach(smdebug_environment(variables)).status();
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_EQ(status.message().rfind("SMDEBUG_CONFIG_FILE_PATH", 0), 0u) << status.message();
}

TEST(SmdebugOptions, TheTensorBoardFileTurnsHistogramsOn) {
  const TemporaryFile config("hook2.json", R"({"HookParameters": {"save_interval": 4}})");
  const TemporaryFile tensorboard("tb.json", R"({"LocalPath": "/tmp/tb"})");
  Variables variables = {{"SMDEBUG_CONFIG_FILE_PATH", config.path()},
                         {"TENSORBOARD_CONFIG_FILE_PATH", tensorboard.path()}};
  const auto options = options_for_attach(smdebug_environment(variables));
  ASSERT_TRUE(options.ok()) << options.status().to_string();
  EXPECT_EQ(options->tensorboard_dir, "/tmp/tb");
  EXPECT_TRUE(options->keep.histogram);
  variables["TENSORBOARD_CONFIG_FILE_PATH"] = "/nowhere/tb.json";
  EXPECT_EQ(options_for_attach(smdebug_environment(variables))->tensorboard_dir, "");
}

TEST(SmdebugOptions, TheirSwitchTurnsTheHookOff) {
  for (const char* word : {"0", "false", "False"}) {
    EXPECT_TRUE(switched_off(smdebug_environment({{"USE_SMDEBUG", word}}))) << word;
  }
  EXPECT_FALSE(switched_off(smdebug_environment({{"USE_SMDEBUG", "1"}, {"TRAINWARDEN", "1"}})));
}

TEST(SmdebugOptions, AnEditedFileCountsAsAWhole) {
  const TemporaryFile config("edited.json", R"({"HookParameters": {"save_interval": 4}})");
  const Variables variables = {{"SMDEBUG_CONFIG_FILE_PATH", config.path()}, {"TRAINWARDEN_RUN_DIR", "runs/r"}};
  const auto options = options_for_attach(smdebug_environment(variables));
  ASSERT_TRUE(options.ok() && options->config_source != nullptr);
  const auto edited = options->config_source->options_with(R"({"HookParameters": {"save_interval": "6"}})");
  ASSERT_TRUE(edited.ok()) << edited.status().to_string();
  EXPECT_EQ(edited->save, SavePolicy::every(6));
  EXPECT_EQ(edited->run_dir, "runs/r");
  EXPECT_FALSE(options->config_source->options_with(R"({"HookParameters": {"save": 1}})").ok());
}

}  // namespace
}  // namespace trainwarden::capture
