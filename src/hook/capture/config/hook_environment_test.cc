#include "hook/capture/config/hook_environment.h"

#include <gtest/gtest.h>

#include <test_paths.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "core/base/folder_testing.h"
#include "hook/capture/config/config_source.h"
#include "hook/capture/config/hook_options_json.h"

namespace trainwarden::capture {
namespace {

using Variables = std::map<std::string, std::string>;

Environment environment_of(const Variables& variables) {
  return [&variables](const char* variable) -> const char* {
    const auto found = variables.find(variable);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

const Variables& every_variable() {
  static const Variables variables = {
      {"TRAINWARDEN_RUN_DIR", "runs/e"},
      {"TRAINWARDEN_RANK", "1"},
      {"TRAINWARDEN_WORLD_SIZE", "2"},
      {"TRAINWARDEN_SAVE_INTERVAL", "7"},
      {"TRAINWARDEN_SAVE_ALL", "1"},
      {"TRAINWARDEN_INCLUDE_COLLECTIONS", "weights, gradients"},
      {"TRAINWARDEN_INCLUDE", "a{1,2}"},
      {"TRAINWARDEN_STAGING_BYTES", "1MiB"},
      {"TRAINWARDEN_SEGMENT_BYTES", "2MiB"},
      {"TRAINWARDEN_MAX_RUN_BYTES", "20GB"},
      {"TRAINWARDEN_COMPRESS", "0"},
      {"TRAINWARDEN_MIN_FREE_BYTES", "0"},
      {"TRAINWARDEN_WHEN_FULL", "statistics"},
      {"TRAINWARDEN_DURABILITY", "interval"},
      {"TRAINWARDEN_DRY_RUN", "true"},
      {"TRAINWARDEN_CODE_VERSION", "v1"},
      {"TRAINWARDEN_BUDGET", "2.5%"},
      {"TRAINWARDEN_INCLUDE_WORKERS", "one"},
      {"TRAINWARDEN_CHECKPOINT_ON_REQUEST", "off"},
  };
  return variables;
}

TEST(HookEnvironment, EveryVariable) {
  HookOptions options;
  const Status status = overlay_environment(environment_of(every_variable()), options);
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(options.run_dir, "runs/e");
  EXPECT_EQ(options.rank, 1);
  EXPECT_EQ(options.world_size, 2);
  for (const Mode mode : kAllModes) EXPECT_EQ(options.save[mode]->save_interval, 7);
  EXPECT_TRUE(options.save_all);
  EXPECT_EQ(options.include_collections, (std::vector<std::string>{"weights", "gradients"}));
  EXPECT_EQ(options.include, (std::vector<std::string>{"a{1,2}"}));
  EXPECT_EQ(options.staging_bytes, std::size_t{1} << 20);
  EXPECT_EQ(options.segment_bytes, std::size_t{2} << 20);
  EXPECT_FALSE(options.compress);
  EXPECT_EQ(options.max_run_bytes, 20'000'000'000u);
  EXPECT_EQ(options.min_free_bytes, 0u);
  EXPECT_EQ(options.when_full, WhenFull::kStatistics);
  EXPECT_EQ(options.durability, Durability::kInterval);
  EXPECT_TRUE(options.dry_run);
  EXPECT_FALSE(options.checkpoint_on_request);
  EXPECT_EQ(options.code_version, "v1");
  EXPECT_EQ(options.budget, 0.025);
  EXPECT_EQ(options.include_workers, IncludeWorkers::kOne);
}

TEST(HookEnvironment, AProgramThatKnowsNothingGetsStatisticsUnderABudget) {
  const Variables nothing_said = {{"TRAINWARDEN_INCLUDE_WORKERS", "one"}, {"TRAINWARDEN_RUN_DIR", "runs/e"}};
  const auto options = options_for_attach(environment_of(nothing_said));
  ASSERT_TRUE(options.ok()) << options.status().to_string();
  EXPECT_EQ(options->run_dir, "runs/e");
  EXPECT_EQ(options->include_collections,
            (std::vector<std::string>{"weights", "biases", "gradients", "outputs", "signals"}));
  EXPECT_EQ(options->keep, KeepForm::reduced());
  EXPECT_EQ(options->save, SavePolicy::every(1));
  EXPECT_EQ(options->budget, 0.01);
  const Variables no_budget = {{"TRAINWARDEN_BUDGET", "0"}};
  EXPECT_EQ(options_for_attach(environment_of(no_budget)).value_or({}).budget, 0);
  const Variables rarely = {{"TRAINWARDEN_SAVE_INTERVAL", "20"}};
  const auto of_some_steps = options_for_attach(environment_of(rarely));
  ASSERT_TRUE(of_some_steps.ok()) << of_some_steps.status().to_string();
  EXPECT_EQ(of_some_steps->include_collections, options->include_collections);
  EXPECT_EQ(of_some_steps->keep, options->keep);
  EXPECT_EQ(of_some_steps->budget, options->budget);
  EXPECT_EQ(of_some_steps->save.by_mode[index_of(Mode::kTrain)]->save_interval, 20);
}

TEST(HookEnvironment, WhatTheEnvironmentSaysIsAllThatIsAttached) {
  for (const char* variable : {"TRAINWARDEN_INCLUDE", "TRAINWARDEN_INCLUDE_COLLECTIONS"}) {
    const Variables said = {{variable, "gradients"}};
    const auto options = options_for_attach(environment_of(said));
    ASSERT_TRUE(options.ok()) << options.status().to_string();
    EXPECT_EQ(options->keep, KeepForm::whole()) << variable;
    EXPECT_EQ(options->save, SavePolicy()) << variable;
    EXPECT_EQ(options->budget, 0) << variable;
    EXPECT_EQ(options->include.size() + options->include_collections.size(), 1u) << variable;
  }
}

TEST(HookEnvironment, OperatorsAreRecordedWhereWeAttachUnlessSomebodySaysOtherwise) {
  const auto attached = options_for_attach(environment_of({}));
  ASSERT_TRUE(attached.ok());
  EXPECT_EQ(attached->operators, (OperatorWindow{.first_step = 5, .steps = 10, .max_calls = kDefaultOperatorCalls}));
  const auto off = options_for_attach(environment_of({{"TRAINWARDEN_PROFILE_STEPS", "off"}}));
  ASSERT_TRUE(off.ok());
  EXPECT_EQ(off->operators.steps, 0);
  HookOptions own;
  ASSERT_TRUE(overlay_environment(environment_of({}), own).ok());
  EXPECT_EQ(own.operators.steps, 0);
  ASSERT_TRUE(overlay_environment(environment_of({{"TRAINWARDEN_PROFILE_STEPS", "100:103"}}), own).ok());
  EXPECT_EQ(own.operators, (OperatorWindow{.first_step = 100, .steps = 3}));
  ASSERT_TRUE(overlay_environment(environment_of({{"TRAINWARDEN_PROFILE_STEPS", "auto"}}), own).ok());
  EXPECT_EQ(own.operators, attached->operators);
  for (const char* wrong : {"5", "5:5", "7:5", "-1:5", "5:x", "5:15:20", ":"}) {
    const Status status = overlay_environment(environment_of({{"TRAINWARDEN_PROFILE_STEPS", wrong}}), own);
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << wrong;
    EXPECT_NE(status.message().find("TRAINWARDEN_PROFILE_STEPS: expected steps such as 5:15"), std::string::npos);
  }
}

TEST(HookEnvironment, StacksOfPythonAreSampledSoOften) {
  HookOptions options;
  EXPECT_EQ(options.python_stacks_hz, 100);
  const std::pair<const char*, int> right[] = {{"250", 250}, {"off", 0}, {"on", 100}, {"0", 0}, {"1000", 1000}};
  for (const auto& [text, hz] : right) {
    ASSERT_TRUE(overlay_environment(environment_of({{"TRAINWARDEN_PYTHON_STACKS", text}}), options).ok()) << text;
    EXPECT_EQ(options.python_stacks_hz, hz) << text;
  }
  for (const char* wrong : {"1001", "-1", "often", "1.5"}) {
    const Status status = overlay_environment(environment_of({{"TRAINWARDEN_PYTHON_STACKS", wrong}}), options);
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << wrong;
    EXPECT_NE(status.message().find("expected samples a second up to 1000"), std::string::npos);
  }
  ASSERT_TRUE(overlay_json(R"({"python_stacks": 50})", "test", options).ok());
  EXPECT_EQ(options.python_stacks_hz, 50);
  ASSERT_TRUE(overlay_json(R"({"python_stacks": "off"})", "test", options).ok());
  EXPECT_EQ(options.python_stacks_hz, 0);
  EXPECT_FALSE(overlay_json(R"({"python_stacks": 5000})", "test", options).ok());
}

TEST(HookEnvironment, WhatRulesNeedIsAllThatIsAttached) {
  const auto options = options_for_attach(environment_of(
      {{"TRAINWARDEN_NEEDS",
        R"([{"name": "gradients", "save": {"save_interval": 1}, "keep": {"values": false, "statistics": true}},
            {"name": "gradients", "save": {"save_interval": 100}}])"}}));
  ASSERT_TRUE(options.ok()) << options.status().to_string();
  ASSERT_EQ(options->needs.size(), 2U);
  EXPECT_EQ(options->needs[0].save->by_mode[index_of(Mode::kTrain)]->save_interval, 1);
  EXPECT_EQ(options->needs[1].save->by_mode[index_of(Mode::kTrain)]->save_interval, 100);
  EXPECT_EQ(options->include_collections, std::vector<std::string>{"signals"});
  EXPECT_EQ(options->budget, 0.01);

  const auto bad = options_for_attach(environment_of({{"TRAINWARDEN_NEEDS", "[{}]"}}));
  EXPECT_NE(bad.status().message().find("TRAINWARDEN_NEEDS: needs[0]"), std::string::npos) << bad.status().message();
}

TEST(HookEnvironment, LaunchersAreAskedInOrder) {
  const Variables torchrun = {{"RANK", "3"}, {"WORLD_SIZE", "8"}, {"SLURM_PROCID", "5"}};
  HookOptions options;
  ASSERT_TRUE(overlay_environment(environment_of(torchrun), options).ok());
  EXPECT_EQ(options.rank, 3);
  EXPECT_EQ(options.world_size, 8);
  const Variables mpi = {{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "4"}};
  ASSERT_TRUE(overlay_environment(environment_of(mpi), options).ok());
  EXPECT_EQ(options.rank, 1);
  EXPECT_EQ(options.world_size, 4);
  const Variables horovodrun = {{"HOROVOD_RANK", "2"}, {"HOROVOD_SIZE", "3"}, {"SLURM_PROCID", "0"}};
  ASSERT_TRUE(overlay_environment(environment_of(horovodrun), options).ok());
  EXPECT_EQ(options.rank, 2);
  EXPECT_EQ(options.world_size, 3);
  const Variables ours = {{"TRAINWARDEN_RANK", "0"}, {"RANK", "3"}, {"SLURM_STEP_NUM_TASKS", "2"}};
  ASSERT_TRUE(overlay_environment(environment_of(ours), options).ok());
  EXPECT_EQ(options.rank, 0);
  EXPECT_EQ(options.world_size, 2);
}

TEST(HookEnvironment, SetToNothingIsNotSet) {
  HookOptions options;
  options.run_dir = "base";
  const Variables variables = {{"TRAINWARDEN_RUN_DIR", ""}, {"TRAINWARDEN_RANK", ""}};
  ASSERT_TRUE(overlay_environment(environment_of(variables), options).ok());
  EXPECT_EQ(options.run_dir, "base");
}

TEST(HookEnvironment, ErrorsNameTheVariable) {
  const auto error_of = [](const Variables& variables) {
    HookOptions options;
    return overlay_environment(environment_of(variables), options).message();
  };
  EXPECT_EQ(error_of({{"TRAINWARDEN_SAVE_INTERVAL", "0"}}),
            "TRAINWARDEN_SAVE_INTERVAL: expected an integer of at least 1, found \"0\"");
  EXPECT_EQ(error_of({{"RANK", "-1"}}), "RANK: expected an integer of at least 0, found \"-1\"");
  EXPECT_EQ(error_of({{"TRAINWARDEN_SAVE_ALL", "perhaps"}}),
            "TRAINWARDEN_SAVE_ALL: expected 1 or 0, found \"perhaps\"");
  EXPECT_TRUE(error_of({{"TRAINWARDEN_STAGING_BYTES", "x"}}).starts_with("TRAINWARDEN_STAGING_BYTES: expected"));
  EXPECT_TRUE(error_of({{"TRAINWARDEN_CONFIG", "/nowhere/x.json"}}).starts_with("TRAINWARDEN_CONFIG: "));
}

TEST(HookEnvironment, SingleVariablesWinOverTheFile) {
  const TestFolder folder;
  const std::filesystem::path file = folder.path() / "hook.json";
  std::ofstream(file) << R"({"run_dir": "from_file", "code_version": "from_file"})";
  const Variables variables = {{"TRAINWARDEN_CONFIG", file.string()}, {"TRAINWARDEN_RUN_DIR", "from_variable"}};
  HookOptions options;
  ASSERT_TRUE(overlay_environment(environment_of(variables), options).ok());
  std::filesystem::remove(file);
  EXPECT_EQ(options.run_dir, "from_variable");
  EXPECT_EQ(options.code_version, "from_file");
}

TEST(HookEnvironment, AnEditedFileIsReadAsTheFirstOneWas) {
  const TestFolder folder;
  const std::filesystem::path file = folder.path() / "hook.json";
  std::ofstream(file) << R"({"include": ["a"]})";
  HookOptions options;
  options.code_version = "base";
  {
    const Variables variables = {{"TRAINWARDEN_CONFIG", file.string()}, {"TRAINWARDEN_SAVE_INTERVAL", "7"}};
    ASSERT_TRUE(overlay_environment(environment_of(variables), options).ok());
  }
  std::filesystem::remove(file);
  ASSERT_NE(options.config_source, nullptr);
  EXPECT_EQ(options.config_source->text, R"({"include": ["a"]})");
  const auto edited = options.config_source->options_with(R"({"save": {"save_interval": 3}, "budget": 0.5})");
  ASSERT_TRUE(edited.ok()) << edited.status().to_string();
  EXPECT_TRUE(edited->include.empty());
  EXPECT_EQ(edited->budget, 0.5);
  EXPECT_EQ(edited->code_version, "base");
  EXPECT_EQ(edited->save[Mode::kTrain]->save_interval, 7) << "variables still win, though the environment is gone";
}

TEST(HookEnvironment, TheReferenceHasEveryVariable) {
  std::ifstream file(std::filesystem::path(TW_SOURCE_DIR) / "docs/reference/config.md");
  const std::string reference((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (const auto& [variable, value] : every_variable()) {
    EXPECT_NE(reference.find("`" + variable + "`"), std::string::npos) << variable;
  }
}

TEST(HookEnvironment, SwitchedOffOnlyByAClearNo) {
  EXPECT_TRUE(switched_off(environment_of({{"TRAINWARDEN", "0"}})));
  EXPECT_TRUE(switched_off(environment_of({{"TRAINWARDEN", "off"}})));
  EXPECT_FALSE(switched_off(environment_of({{"TRAINWARDEN", "1"}})));
  EXPECT_FALSE(switched_off(environment_of({{"TRAINWARDEN", "what"}})));
  EXPECT_FALSE(switched_off(environment_of({})));
}

}  // namespace
}  // namespace trainwarden::capture
