#include "hook/capture/config/hook_options_json.h"

#include <gtest/gtest.h>

#include <test_paths.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "core/base/folder_testing.h"
#include "core/base/text.h"

namespace trainwarden {
namespace {

std::string error_of(std::string_view json) {
  const auto options = parse_hook_options(json, "hook.json");
  if (options.ok()) return "";
  EXPECT_EQ(options.status().code(), Code::kInvalidArgument);
  return options.status().message();
}

const SaveSchedule& schedule_of(const SavePolicy& policy, Mode mode) {
  return *policy[mode];
}

TEST(HookOptionsJson, EveryKey) {
  const auto options = parse_hook_options(R"({
    "run_dir": "runs/x", "save_all": true, "include": ["relu", "conv"], "include_collections": ["weights"],
    "save": {"save_interval": 100, "start_step": 5, "end_step": 1000, "save_steps": [1, 2]},
    "keep": {"values": false, "statistics": true, "histogram": true, "hash": true, "shape": true},
    "collections": [{"name": "relu", "include": ["relu_output"], "tensor_names": ["a"],
                     "save": {"save_interval": 7}, "keep": {"values": true}}],
    "rank": 2, "world_size": 4, "staging_bytes": "64MiB", "segment_bytes": 1048576, "max_run_bytes": "20GB", "compress": false,
    "min_free_bytes": "2GiB", "when_full": "block",
    "durability": "step", "dry_run": true, "code_version": "abc", "labels": {"lr": "0.1"},
    "checkpoint_on_request": false,
    "budget": "2%", "include_workers": "one", "tensorboard_dir": "tb", "first_global_step": 9,
    "first_mode_steps": {"train": 5, "eval": 4}})",
                                          "hook.json");
  ASSERT_TRUE(options.ok()) << options.status().to_string();
  EXPECT_EQ(options->run_dir, "runs/x");
  EXPECT_TRUE(options->save_all);
  EXPECT_EQ(options->budget, 0.02);
  EXPECT_EQ(options->include_workers, IncludeWorkers::kOne);
  EXPECT_EQ(options->include, (std::vector<std::string>{"relu", "conv"}));
  EXPECT_EQ(options->include_collections, (std::vector<std::string>{"weights"}));
  const SaveSchedule base{.save_interval = 100, .start_step = 5, .end_step = 1000, .save_steps = {1, 2}};
  for (const Mode mode : kAllModes) EXPECT_EQ(schedule_of(options->save, mode), base);
  EXPECT_EQ(options->keep,
            (KeepForm{.values = false, .statistics = true, .histogram = true, .hash = true, .shape = true}));
  ASSERT_EQ(options->collections.size(), 1u);
  const Collection& relu = options->collections[0];
  EXPECT_EQ(relu.name, "relu");
  EXPECT_EQ(relu.include, (std::vector<std::string>{"relu_output"}));
  EXPECT_EQ(relu.tensor_names, (std::vector<std::string>{"a"}));
  EXPECT_EQ(schedule_of(*relu.save, Mode::kTrain).save_interval, 7);
  EXPECT_EQ(schedule_of(*relu.save, Mode::kTrain).start_step, 5) << "what it does not say comes from the hook";
  EXPECT_TRUE(relu.keep->values);
  EXPECT_EQ(options->rank, 2);
  EXPECT_EQ(options->world_size, 4);
  EXPECT_EQ(options->staging_bytes, std::size_t{64} << 20);
  EXPECT_EQ(options->segment_bytes, std::size_t{1} << 20);
  EXPECT_FALSE(options->compress);
  EXPECT_EQ(options->max_run_bytes, 20'000'000'000u);
  EXPECT_EQ(options->min_free_bytes, std::size_t{2} << 30);
  EXPECT_EQ(options->when_full, WhenFull::kBlock);
  EXPECT_EQ(options->durability, Durability::kStep);
  EXPECT_TRUE(options->dry_run);
  EXPECT_FALSE(options->checkpoint_on_request);
  EXPECT_EQ(options->code_version, "abc");
  EXPECT_EQ(options->labels.at("lr"), "0.1");
  EXPECT_EQ(options->tensorboard_dir, "tb");
  EXPECT_EQ(options->first_global_step, 9);
  EXPECT_EQ(options->first_mode_steps, (std::array<std::int64_t, 4>{5, 4, 0, 0}));
}

TEST(HookOptionsJson, EmptyObjectIsTheDefaults) {
  const auto options = parse_hook_options("{}", "hook.json");
  ASSERT_TRUE(options.ok());
  const HookOptions defaults;
  EXPECT_EQ(options->save, defaults.save);
  EXPECT_EQ(options->keep, defaults.keep);
  EXPECT_EQ(options->staging_bytes, defaults.staging_bytes);
  EXPECT_TRUE(options->collections.empty());
}

// Low to high: hook, hook's mode, collection, collection's mode.
TEST(HookOptionsJson, PrecedenceOfSchedules) {
  const auto options = parse_hook_options(R"({
    "collections": [{"name": "weights", "save": {"save_interval": 5, "eval": {"save_interval": 2}}},
                    {"name": "biases", "save": {"end_step": 50}}],
    "save": {"save_interval": 100, "train": {"save_interval": 10, "start_step": 3}}})",
                                          "hook.json");
  ASSERT_TRUE(options.ok()) << options.status().to_string();
  EXPECT_EQ(schedule_of(options->save, Mode::kTrain).save_interval, 10);
  EXPECT_EQ(schedule_of(options->save, Mode::kEval).save_interval, 100);
  const SavePolicy& weights = *options->collections[0].save;
  EXPECT_EQ(schedule_of(weights, Mode::kTrain).save_interval, 5);
  EXPECT_EQ(schedule_of(weights, Mode::kTrain).start_step, 3);
  EXPECT_EQ(schedule_of(weights, Mode::kEval).save_interval, 2);
  const SavePolicy& biases = *options->collections[1].save;
  EXPECT_EQ(schedule_of(biases, Mode::kTrain).save_interval, 10);
  EXPECT_EQ(schedule_of(biases, Mode::kEval).save_interval, 100);
  EXPECT_EQ(schedule_of(biases, Mode::kEval).end_step, 50);
}

TEST(HookOptionsJson, NullEndStepIsNoEnd) {
  const auto options = parse_hook_options(R"({"save": {"end_step": 9, "train": {"end_step": null}}})", "hook.json");
  ASSERT_TRUE(options.ok());
  EXPECT_FALSE(schedule_of(options->save, Mode::kTrain).end_step.has_value());
  EXPECT_EQ(schedule_of(options->save, Mode::kEval).end_step, 9);
}

TEST(HookOptionsJson, UnknownKeysNamePlaceAndNearest) {
  EXPECT_EQ(error_of(R"({"save": {"train": {"save_intervall": 3}}})"),
            "hook.json: save.train: unknown key \"save_intervall\"; did you mean \"save_interval\"? "
            "(known here: save_interval, start_step, end_step, save_steps)");
  EXPECT_NE(
      error_of(R"({"collections": [{"name": "a", "includ": []}]})").find("collections[0]: unknown key \"includ\""),
      std::string::npos);
  EXPECT_NE(error_of(R"({"staging": 1})").find("hook.json: unknown key \"staging\""), std::string::npos);
}

TEST(HookOptionsJson, WrongTypesSayExpectedAndFound) {
  EXPECT_EQ(error_of(R"({"save": {"save_interval": "ten"}})"),
            "hook.json: save.save_interval: expected an integer of at least 1, found the text \"ten\"");
  EXPECT_EQ(error_of(R"({"save": {"save_interval": 0}})"),
            "hook.json: save.save_interval: expected an integer of at least 1, found the number 0");
  EXPECT_EQ(error_of(R"({"save": {"save_steps": [1, -2]}})"),
            "hook.json: save.save_steps[1]: expected an integer of at least 0, found the number -2");
  EXPECT_EQ(error_of(R"({"save": 5})"), "hook.json: save: expected an object, found the number 5");
  EXPECT_EQ(error_of(R"({"keep": {"values": "yes"}})"),
            "hook.json: keep.values: expected true or false, found the text \"yes\"");
  EXPECT_EQ(error_of(R"({"include": "conv"})"),
            "hook.json: include: expected an array of texts, found the text \"conv\"");
  EXPECT_EQ(error_of(R"({"labels": {"lr": 0.1}})"), "hook.json: labels.lr: expected a text, found the number 0.1");
  EXPECT_EQ(error_of(R"({"collections": {}})"),
            "hook.json: collections: expected an array of objects, found an object");
  EXPECT_EQ(error_of(R"({"run_dir": null})"), "hook.json: run_dir: expected a text, found null");
  EXPECT_EQ(error_of(R"({"rank": 99999999999})"), "hook.json: rank: 99999999999 is too large");
  EXPECT_EQ(error_of("[]"), "hook.json: expected an object, found an array");
  EXPECT_NE(error_of(R"({"when_full": "dropp"})").find("when_full: expected one of"), std::string::npos);
  EXPECT_NE(error_of(R"({"staging_bytes": "many"})").find("staging_bytes: expected a number of bytes"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"staging_bytes": -5})").find("staging_bytes: expected a number of bytes"), std::string::npos);
}

TEST(HookOptionsJson, FormsAndNamesThatMakeNoSense) {
  EXPECT_NE(error_of(R"({"keep": {"values": false}})").find("keep: keeps nothing"), std::string::npos);
  EXPECT_NE(error_of(R"({"collections": [{"include": ["a"]}]})").find("collections[0].name: expected"),
            std::string::npos);
}

TEST(HookOptionsJson, TextThatIsNotJsonHasLineAndColumn) {
  EXPECT_TRUE(error_of("{\n  \"rank\": 1,,\n}").starts_with("hook.json: line 2, column 13: not JSON: while parsing"))
      << error_of("{\n  \"rank\": 1,,\n}");
  EXPECT_TRUE(error_of("").starts_with("hook.json: line 1, column 1: not JSON")) << error_of("");
}

TEST(HookOptionsJson, OverlayMergesByName) {
  HookOptions options;
  options.run_dir = "before";
  options.rank = 3;
  options.collections = {{.name = "a", .include = {"x"}}, {.name = "b", .include = {"y"}}};
  options.labels = {{"kept", "1"}, {"changed", "1"}};
  const Status status = capture::overlay_json(
      R"({"run_dir": "after", "collections": [{"name": "b", "include": ["z"]}, {"name": "c", "include": ["w"]}],
          "labels": {"changed": "2"}})",
      "hook.json", options);
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(options.run_dir, "after");
  EXPECT_EQ(options.rank, 3);
  ASSERT_EQ(options.collections.size(), 3u);
  EXPECT_EQ(options.collections[0].include, (std::vector<std::string>{"x"}));
  EXPECT_EQ(options.collections[1].include, (std::vector<std::string>{"z"}));
  EXPECT_EQ(options.collections[2].name, "c");
  EXPECT_EQ(options.labels, (std::map<std::string, std::string>{{"kept", "1"}, {"changed", "2"}}));
}

// The reference's example must work, and have a word for every key that there is.
TEST(HookOptionsJson, TheReferenceIsComplete) {
  std::ifstream file(std::filesystem::path(TW_SOURCE_DIR) / "docs/reference/config.md");
  const std::string reference((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::string fence = "```";
  const std::size_t begin = reference.find(fence + "json\n") + fence.size() + 5;
  const std::string example = reference.substr(begin, reference.find(fence, begin) - begin);
  const auto options = parse_hook_options(example, "config.md");
  ASSERT_TRUE(options.ok()) << options.status().to_string();
  EXPECT_EQ(options->collections.size(), 2u);

  for (const char* place : {R"({"?": 0})", R"({"save": {"?": 0}})", R"({"keep": {"?": 0}})",
                            R"({"collections": [{"name": "a", "?": 0}]})", R"({"black_box": {"?": 0}})"}) {
    const std::string error = error_of(place);
    const std::size_t keys = error.find("(known here: ") + 13;
    for (const std::string& key : split_list(error.substr(keys, error.size() - keys - 1))) {
      EXPECT_NE(reference.find("`" + key + "`"), std::string::npos) << key;
    }
  }
}

TEST(HookOptionsJson, TheBlackBoxIsANumberOfStepsASwitchOrAnObject) {
  const auto box = [](std::string_view json) {
    const auto options = parse_hook_options(json, "hook.json");
    EXPECT_TRUE(options.ok()) << options.status().to_string();
    return options->black_box;
  };
  EXPECT_EQ(box("{}").steps, 0);
  EXPECT_EQ(box(R"({"black_box": true})").steps, kDefaultBlackBoxSteps);
  EXPECT_EQ(box(R"({"black_box": false})").steps, 0);
  EXPECT_EQ(box(R"({"black_box": 5})").steps, 5);
  EXPECT_EQ(box(R"({"black_box": "on"})").steps, kDefaultBlackBoxSteps);
  const BlackBoxOptions given = box(R"({"black_box": {"bytes": "1MiB", "collections": ["weights"]}})");
  EXPECT_EQ(given.steps, kDefaultBlackBoxSteps);
  EXPECT_EQ(given.bytes, 1u << 20);
  EXPECT_EQ(given.collections, std::vector<std::string>{"weights"});
  EXPECT_EQ(error_of(R"({"black_box": "often"})"),
            "hook.json: black_box: expected a number of steps, \"on\" or \"off\", found \"often\"");
}

TEST(HookOptionsJson, FilesAreReadAndTheirErrorsNameThem) {
  const TestFolder folder;
  const std::filesystem::path file = folder.path() / "hook.json";
  std::ofstream(file) << R"({"rank": 1, "world_size": 2})";
  const auto options = load_hook_options(file);
  ASSERT_TRUE(options.ok()) << options.status().to_string();
  EXPECT_EQ(options->rank, 1);
  std::ofstream(file) << R"({"rnk": 1})";
  EXPECT_TRUE(load_hook_options(file).status().message().starts_with(file.string()));
  std::filesystem::remove(file);
  EXPECT_EQ(load_hook_options(file).status().code(), Code::kNotFound);
}

TEST(HookOptionsJson, ANumberThatNoDoubleHoldsIsAnError) {
  const auto options = parse_hook_options(R"({"save": {"save_interval": 4e33333333}})", "hook.json");
  ASSERT_FALSE(options.ok());
  EXPECT_EQ(options.status().code(), Code::kInvalidArgument);
  EXPECT_NE(options.status().message().find("too large"), std::string::npos) << options.status().message();
}

}  // namespace
}  // namespace trainwarden
