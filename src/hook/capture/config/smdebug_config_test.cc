// smdebug's hook configuration as it is read: values, precedence, mistakes.
#include "hook/capture/config/smdebug_config.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hook/capture/config/json_text.h"

namespace trainwarden::capture {
namespace {

using Steps = std::vector<std::int64_t>;
using Names = std::vector<std::string>;

SmdebugConfig read(std::string_view text) {
  const auto config = read_smdebug_config(*parse_json(text), SavePolicy());
  EXPECT_TRUE(config.ok()) << config.status().to_string();
  return config.value_or(SmdebugConfig());
}

std::string smdebug_error(std::string_view text) {
  const auto config = read_smdebug_config(*parse_json(text), SavePolicy());
  EXPECT_EQ(config.status().code(), Code::kInvalidArgument) << text;
  return config.status().message();
}

// Below 30, in mode train.
Steps wanted_steps(std::string_view hook_parameters) {
  const SmdebugConfig config = read(R"({"HookParameters": )" + std::string(hook_parameters) + "}");
  Steps steps;
  for (std::int64_t step = 0; step < 30; ++step) {
    if (config.save[Mode::kTrain]->wants(step)) steps.push_back(step);
  }
  return steps;
}

TEST(SmdebugConfig, TheTruthTableOfSaveConfig) {
  EXPECT_EQ(wanted_steps(R"({"save_interval": "3", "start_step": "4", "end_step": "10"})"), (Steps{6, 9}));
  EXPECT_EQ(wanted_steps(R"({"save_interval": 3, "start_step": 4, "end_step": 10, "save_steps": [1, 20]})"),
            (Steps{1, 6, 9, 20}));
  EXPECT_EQ(wanted_steps(R"({"save_interval": 3, "end_step": "0"})"), Steps());
  EXPECT_EQ(wanted_steps(R"({"save_interval": 3, "end_step": "0", "save_steps": "2"})"), (Steps{2}));
  EXPECT_EQ(wanted_steps(R"({"train.save_steps": "1, 2,", "train.end_step": 0, "save_interval": 1})"), (Steps{1, 2}));
  EXPECT_EQ(wanted_steps("{}"), (Steps{0})) << "every 500th";
}

TEST(SmdebugConfig, ACollectionsBaseBeatsTheHooksMode) {
  const SmdebugConfig config = read(R"({
    "HookParameters": {"save_interval": 100, "train.save_interval": 10, "predict.start_step": 3},
    "CollectionConfigurations": [
      {"CollectionName": "relu", "CollectionParameters": {"save_interval": 5, "eval.save_interval": 2}},
      {"CollectionName": "losses"}]})");
  EXPECT_EQ(config.save[Mode::kTrain]->save_interval, 10);
  EXPECT_EQ(config.save[Mode::kEval]->save_interval, 100);
  const auto& [relu, losses] = std::tie(config.collections->at(0), config.collections->at(1));
  EXPECT_EQ(relu.save[Mode::kTrain]->save_interval, 5);
  EXPECT_EQ(relu.save[Mode::kEval]->save_interval, 2);
  EXPECT_EQ(relu.save[Mode::kPredict]->save_interval, 5);
  EXPECT_EQ(relu.save[Mode::kPredict]->start_step, 3) << "each key by itself";
  EXPECT_EQ(losses.save, config.save);
}

TEST(SmdebugConfig, TextsAndNativeValuesMeanTheSame) {
  const SmdebugConfig texts = read(R"({"HookParameters": {
    "save_interval": "7", "save_steps": "1,2", "end_step": "9", "save_all": "True", "export_tensorboard": "true",
    "include_regex": "a, b", "reductions": "min, abs_l1_norm", "save_raw_tensor": "True", "save_shape": "false"}})");
  const SmdebugConfig native = read(R"({"HookParameters": {
    "save_interval": 7, "save_steps": [1, "2"], "end_step": 9, "save_all": true, "export_tensorboard": 1,
    "include_regex": ["a", "b"], "reductions": ["min", "abs_l1_norm"], "save_raw_tensor": true,
    "save_shape": false}})");
  EXPECT_EQ(to_json(texts), to_json(native));
  EXPECT_EQ(native.save[Mode::kGlobal]->save_steps, (Steps{1, 2}));
  EXPECT_TRUE(native.save_all.value_or(false) && native.export_tensorboard);
  EXPECT_EQ(native.reductions->names, (Names{"min", "abs_l1_norm"}));
  EXPECT_TRUE(native.reductions->save_raw_tensor);
  EXPECT_FALSE(native.reductions->save_shape);
}

TEST(SmdebugConfig, OnlyAListCanHoldPatternsWithCommas) {
  EXPECT_EQ(*read(R"({"HookParameters": {"include_regex": "a{1,2}"}})").include_regex, (Names{"a{1", "2}"}));
  EXPECT_EQ(*read(R"({"HookParameters": {"include_regex": ["a{1,2}", ""]}})").include_regex, (Names{"a{1,2}"}));
}

TEST(SmdebugConfig, NullIsNothing) {
  const SmdebugConfig config =
      read(R"({"S3Path": null, "LocalPath": null, "HookParameters": null, "CollectionConfigurations": null})");
  EXPECT_FALSE(config.collections || config.reductions || config.has_s3_path);
  EXPECT_EQ(config.include_workers, IncludeWorkers::kOne);
  EXPECT_EQ(config.save, SavePolicy::of(SaveSchedule()));
  const auto bare = read(R"({"CollectionConfigurations": [{"CollectionName": "a", "CollectionParameters": null}]})");
  EXPECT_EQ(bare.collections->at(0).name, "a");
  EXPECT_FALSE(read(R"({"HookParameters": {"end_step": null}})").save[Mode::kTrain]->end_step.has_value());
}

TEST(SmdebugConfig, ShapesAreKeptWithoutReductions) {
  const auto alone = read(R"({"HookParameters": {"save_shape": "true"}})").reductions;
  ASSERT_TRUE(alone);
  EXPECT_TRUE(alone->save_shape && alone->save_raw_tensor && alone->names.empty());
  EXPECT_FALSE(
      read(R"({"HookParameters": {"save_shape": true, "save_raw_tensor": "false"}})").reductions->save_raw_tensor);
  EXPECT_FALSE(read(R"({"HookParameters": {"save_raw_tensor": false}})").reductions) << "nothing else would be kept";
  EXPECT_FALSE(read(R"({"HookParameters": {"reductions": "mean"}})").reductions->save_raw_tensor);
}

TEST(SmdebugConfig, TheSameCollectionTwiceIsOne) {
  const SmdebugConfig config = read(R"({"CollectionConfigurations": [
    {"CollectionName": "a", "CollectionParameters": {"include_regex": "x", "save_interval": 3}},
    {"CollectionName": "a", "CollectionParameters": {"include_regex": "y", "save_histogram": "False"}}]})");
  ASSERT_EQ(config.collections->size(), 1u);
  EXPECT_EQ(config.collections->at(0).include_regex, (Names{"x", "y"}));
  EXPECT_EQ(config.collections->at(0).save[Mode::kTrain]->save_interval, 500);
  EXPECT_FALSE(config.collections->at(0).save_histogram);
}

TEST(SmdebugConfig, MistakesNameTheirPlaceAndTheNearestKey) {
  EXPECT_NE(smdebug_error(R"({"HookParameter": {}})").find(R"("HookParameter"; did you mean "HookParameters"?)"),
            std::string::npos);
  EXPECT_NE(smdebug_error(R"({"HookParameters": {"train.save_intervall": 1}})")
                .find(R"(HookParameters: unknown key "train.save_intervall"; did you mean "train.save_interval"?)"),
            std::string::npos);
  EXPECT_NE(smdebug_error(
                R"({"CollectionConfigurations": [{"CollectionName": "a", "CollectionParameters": {"include": 1}}]})")
                .find("CollectionConfigurations[0].CollectionParameters: unknown key"),
            std::string::npos);
  EXPECT_NE(smdebug_error(R"({"CollectionConfigurations": [{}]})").find("[0].CollectionName"), std::string::npos);
  EXPECT_EQ(smdebug_error(R"({"HookParameters": {"save_interval": "ten"}})"),
            "HookParameters.save_interval: expected an integer of at least 1, as a number or a text, found the text "
            "\"ten\"");
  EXPECT_NE(smdebug_error(R"({"HookParameters": {"save_all": "maybe"}})").find("expected true or false"),
            std::string::npos);
  EXPECT_NE(smdebug_error(R"({"HookParameters": {"save_steps": "1,x"}})").find("save_steps"), std::string::npos);
  EXPECT_NE(smdebug_error(R"({"HookParameters": {"include_workers": "some"}})").find("include_workers"),
            std::string::npos);
  EXPECT_NE(smdebug_error(R"({"HookParameters": [1]})").find("expected an object"), std::string::npos);
}

TEST(SmdebugConfig, AnUnknownReductionNamesTheNearest) {
  EXPECT_NE(smdebug_error(R"({"HookParameters": {"reductions": "min,abs_l1"}})").find(R"(did you mean "abs_l1_norm"?)"),
            std::string::npos);
  EXPECT_NE(smdebug_error(R"({"HookParameters": {"reductions": "median"}})").find("unknown reduction \"median\""),
            std::string::npos);
  EXPECT_EQ(read(R"({"HookParameters": {"reductions": "abs_prod"}})").reductions->names, (Names{"abs_prod"}));
}

TEST(SmdebugConfig, IsKnownByItsKeys) {
  for (const char* key : {"S3Path", "LocalPath", "HookParameters", "CollectionConfigurations", "HookParameter"}) {
    EXPECT_TRUE(is_smdebug_config({{key, nullptr}})) << key;
  }
  EXPECT_FALSE(is_smdebug_config({{"run_dir", "x"}, {"collections", 1}, {"include_collections", 1}}));
  EXPECT_FALSE(is_smdebug_config(nlohmann::json::array({"LocalPath"})));
}

TEST(SmdebugConfig, IsShownAsJson) {
  const auto shown = nlohmann::json::parse(*parse_smdebug_config(
      R"({"LocalPath": "/tmp/run", "HookParameters": {"eval.end_step": "4", "tensorboard_dir": "tb"},
          "CollectionConfigurations": [
            {"CollectionName": "g", "CollectionParameters": {"reductions": "min,l2_norm"}}]})",
      "hook.json"));
  EXPECT_EQ(shown.at("out_dir"), "/tmp/run");
  EXPECT_EQ(shown.at("tensorboard_dir"), "tb");
  EXPECT_EQ(shown.at("include_workers"), "one");
  EXPECT_EQ(shown.at("include_collections"), Names({"g"}));
  EXPECT_EQ(shown.at("save_config").at("EVAL"),
            nlohmann::json::parse(R"({"save_interval": 500, "start_step": 0, "end_step": 4, "save_steps": []})"));
  EXPECT_TRUE(shown.at("save_config").at("TRAIN").at("end_step").is_null());
  EXPECT_TRUE(shown.at("reduction_config").is_null());
  EXPECT_EQ(shown.at("collections").at("g").at("reduction_config"),
            nlohmann::json::parse(R"({"reductions": "min,l2_norm", "save_raw_tensor": false, "save_shape": false})"));
  EXPECT_EQ(parse_smdebug_config("{", "hook.json").status().message().rfind("hook.json: line 1", 0), 0u);
}

}  // namespace
}  // namespace trainwarden::capture
