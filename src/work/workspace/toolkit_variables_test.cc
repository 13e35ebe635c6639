#include "work/workspace/toolkit_variables.h"

#include <gtest/gtest.h>

#include <fstream>

#include <nlohmann/json.hpp>

#include "core/base/folder_testing.h"

namespace trainwarden::workspace {
namespace {

jobs::JobSpec spec_of(const std::string& text) {
  document::Mistakes mistakes;
  const auto top = document::parse(text, "job.toml");
  EXPECT_TRUE(top.ok());
  jobs::JobSpec spec = jobs::read_job_spec(*top, mistakes);
  EXPECT_FALSE(mistakes.any());
  return spec;
}

constexpr const char* kSpec = R"(
entry_point = "train.py"
instance_type = "ml.p3.2xlarge"
network_interface = "eth7"
threads_per_rank = 3
[hyperparameters]
batch-size = 32
lr = 0.1
use_xla = true
name = "a b"
sagemaker_program = "hidden"
layers = [1, 2]
[inputs]
train = "data"
[inputs.test-set]
source = "data"
distribution = "ShardedByS3Key"
content_type = "text/csv"
)";

JobLayout layout_in(const std::filesystem::path& root) {
  JobLayout layout;
  layout.input = root / "input";
  layout.input_config = layout.input / "config";
  layout.input_data = layout.input / "data";
  layout.model = root / "model";
  layout.checkpoints = root / "checkpoints";
  return layout;
}

TEST(ToolkitVariables, AllThatTheToolkitSetsIsThere) {
  const auto variables = toolkit_variables(spec_of(kSpec), layout_in("/ml"), {});
  for (const char* name : {"SM_HOSTS",
                           "SM_NETWORK_INTERFACE_NAME",
                           "SM_HPS",
                           "SM_USER_ENTRY_POINT",
                           "SM_FRAMEWORK_PARAMS",
                           "SM_RESOURCE_CONFIG",
                           "SM_INPUT_DATA_CONFIG",
                           "SM_OUTPUT_DATA_DIR",
                           "SM_CHANNELS",
                           "SM_CURRENT_HOST",
                           "SM_CURRENT_INSTANCE_TYPE",
                           "SM_CURRENT_INSTANCE_GROUP",
                           "SM_CURRENT_INSTANCE_GROUP_HOSTS",
                           "SM_INSTANCE_GROUPS",
                           "SM_INSTANCE_GROUPS_DICT",
                           "SM_DISTRIBUTION_INSTANCE_GROUPS",
                           "SM_IS_HETERO",
                           "SM_MODULE_NAME",
                           "SM_LOG_LEVEL",
                           "SM_FRAMEWORK_MODULE",
                           "SM_INPUT_DIR",
                           "SM_INPUT_CONFIG_DIR",
                           "SM_OUTPUT_DIR",
                           "SM_NUM_CPUS",
                           "SM_NUM_GPUS",
                           "SM_NUM_NEURONS",
                           "SM_MODEL_DIR",
                           "SM_MODULE_DIR",
                           "SM_TRAINING_ENV",
                           "SM_USER_ARGS",
                           "SM_OUTPUT_INTERMEDIATE_DIR"}) {
    EXPECT_TRUE(variables.contains(name)) << name;
  }
}

TEST(ToolkitVariables, ValuesAreWrittenAsTheToolkitWritesThem) {
  const auto variables = toolkit_variables(spec_of(kSpec), layout_in("/ml"), {.cpus = 4, .gpus = 2});
  EXPECT_EQ(variables.at("SM_HP_BATCH-SIZE"), "32");
  EXPECT_EQ(variables.at("SM_HP_BATCH_SIZE"), "32");
  EXPECT_EQ(variables.at("SM_HP_USE_XLA"), "true");
  EXPECT_EQ(variables.at("SM_HP_NAME"), "a b");
  EXPECT_EQ(variables.at("SM_HP_LAYERS"), "[1,2]");
  EXPECT_FALSE(variables.contains("SM_HP_SAGEMAKER_PROGRAM"));
  EXPECT_EQ(variables.at("SM_HPS"), R"({"batch-size":32,"layers":[1,2],"lr":0.1,"name":"a b","use_xla":true})");
  EXPECT_EQ(variables.at("TRAINWARDEN_LABELS"),
            R"({"batch-size":"32","layers":"[1,2]","lr":"0.1","name":"a b","use_xla":"true"})")
      << "labels are texts";
  EXPECT_EQ(variables.at("SM_CHANNEL_TRAIN"), "/ml/input/data/train");
  EXPECT_EQ(variables.at("SM_CHANNEL_TEST_SET"), "/ml/input/data/test-set");
  EXPECT_EQ(variables.at("SM_CHANNELS"), R"(["test-set","train"])");
  EXPECT_EQ(variables.at("SM_NUM_GPUS"), "2");
  EXPECT_EQ(variables.at("SM_MODULE_NAME"), "train");
  EXPECT_EQ(variables.at("SM_CURRENT_INSTANCE_TYPE"), "ml.p3.2xlarge");
  EXPECT_EQ(variables.at("SM_NETWORK_INTERFACE_NAME"), "eth7");
  EXPECT_EQ(variables.at("NCCL_SOCKET_IFNAME"), "eth7");
  EXPECT_EQ(variables.at("OMP_NUM_THREADS"), "3");
  EXPECT_EQ(variables.at("TRAINWARDEN_CHECKPOINT_DIR"), "/ml/checkpoints");
  const auto all = nlohmann::json::parse(variables.at("SM_TRAINING_ENV"));
  EXPECT_EQ(all.at("channel_input_dirs").at("train"), "/ml/input/data/train");
  EXPECT_EQ(all.at("hyperparameters").at("lr"), 0.1);
}

TEST(ToolkitVariables, ConfigFilesHaveJsonWithinTexts) {
  const TestFolder folder;
  const JobLayout layout = layout_in(folder.path());
  ASSERT_TRUE(write_config_files(spec_of(kSpec), layout, {}).ok());
  const auto read = [&](const char* file) { return nlohmann::json::parse(std::ifstream(layout.input_config / file)); };
  EXPECT_EQ(read("hyperparameters.json").at("batch-size"), "32");
  EXPECT_EQ(read("hyperparameters.json").at("name"), "\"a b\"");
  EXPECT_EQ(read("inputdataconfig.json").at("test-set").at("S3DistributionType"), "ShardedByS3Key");
  EXPECT_EQ(read("inputdataconfig.json").at("test-set").at("ContentType"), "text/csv");
  EXPECT_EQ(read("inputdataconfig.json").at("train").at("TrainingInputMode"), "File");
  EXPECT_EQ(read("resourceconfig.json").at("current_host"), "algo-1");
}

}  // namespace
}  // namespace trainwarden::workspace
