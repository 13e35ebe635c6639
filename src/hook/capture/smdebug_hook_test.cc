// End to end: a hook that SMDEBUG_CONFIG_FILE_PATH configures captures what the document says.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "hook/capture/capture_testing.h"
#include "store/storage/local_storage.h"

namespace trainwarden::capture {
namespace {

namespace fs = std::filesystem;

class SmdebugHookTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::path(testing::TempDir()) / "smdebug-hook-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    ::unsetenv("SMDEBUG_CONFIG_FILE_PATH");
    fs::remove_all(folder_);
  }

  // `parameters` and `collections` are JSON.
  void configure(const std::string& parameters, const std::string& collections) {
    const fs::path file = folder_ / "debughookconfig.json";
    std::ofstream(file) << R"({"S3Path": "s3://bucket/prefix", "LocalPath": ")" << run_dir().string()
                        << R"(", "HookParameters": )" << parameters << R"(, "CollectionConfigurations": )"
                        << collections << "}";
    ::setenv("SMDEBUG_CONFIG_FILE_PATH", file.c_str(), 1);
  }

  fs::path run_dir() const { return folder_ / "run"; }

  fs::path folder_;
};

// Each tensor once a step.
void train(Hook& hook, Mode mode, int steps) {
  const std::vector<float> values = {3, -4};
  hook.set_mode(mode);
  for (int step = 0; step < steps; ++step) {
    for (const char* tensor : {"Net_conv.weight", "gradient/Net_conv.weight", "relu_output_0", "fc_output_0"}) {
      hook.save_tensor(tensor, view_of(values));
    }
    hook.end_step();
  }
}

std::vector<std::int64_t> steps_with(const ReadRun& run, Mode mode, const std::string& tensor) {
  std::vector<std::int64_t> steps;
  for (const ReadStep& step : run.steps) {
    const bool here = step.values.contains(tensor) || step.statistics.contains(tensor);
    if (here && step.entry.mode == mode) steps.push_back(step.entry.mode_step);
  }
  return steps;
}

TEST_F(SmdebugHookTest, CapturesWhatTheDocumentSays) {
  configure(R"({"save_interval": "4", "eval.save_interval": "2", "include_workers": "all"})",
            R"([{"CollectionName": "weights"},
                {"CollectionName": "gradients", "CollectionParameters":
                  {"reductions": "abs_mean,l2_norm", "train.save_interval": "3", "save_raw_tensor": "false"}},
                {"CollectionName": "relu", "CollectionParameters":
                  {"include_regex": ".*relu_output", "save_steps": "0,1,2", "end_step": "0"}}])");
  const auto options = hook_options_from_environment();
  ASSERT_TRUE(options.ok()) << options.status().to_string();
  auto hook = Hook::open(*options);
  ASSERT_TRUE(hook.ok()) << hook.status().to_string();
  train(**hook, Mode::kTrain, 8);
  train(**hook, Mode::kEval, 4);
  ASSERT_TRUE((*hook)->close().ok());

  using StepNumbers = std::vector<std::int64_t>;
  const ReadRun run = read_run(*storage::open_local_storage(run_dir()));
  EXPECT_EQ(steps_with(run, Mode::kTrain, "Net_conv.weight"), (StepNumbers{0, 4}));
  EXPECT_EQ(steps_with(run, Mode::kEval, "Net_conv.weight"), (StepNumbers{0, 2}));
  EXPECT_EQ(steps_with(run, Mode::kTrain, "gradient/Net_conv.weight"), (StepNumbers{0, 3, 6}));
  EXPECT_EQ(steps_with(run, Mode::kEval, "gradient/Net_conv.weight"), StepNumbers());
  EXPECT_EQ(steps_with(run, Mode::kTrain, "relu_output_0"), (StepNumbers{0, 1, 2}));
  EXPECT_EQ(steps_with(run, Mode::kTrain, "fc_output_0"), StepNumbers());
  const ReadStep& first = run.steps.at(0);
  EXPECT_EQ(first.statistics.at("gradient/Net_conv.weight").statistics.reduction(Reduction::kL2), 5);
  EXPECT_FALSE(first.values.contains("gradient/Net_conv.weight"));
  EXPECT_EQ(floats_of(first.values.at("relu_output_0")), (std::vector<float>{3, -4}));
}

TEST_F(SmdebugHookTest, AMistakeIsAnErrorThatNamesTheFile) {
  configure(R"({"save_intervall": 4})", "[]");
  const Status status = hook_options_from_environment().status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("debughookconfig.json: HookParameters: unknown key"), std::string::npos)
      << status.message();
}

}  // namespace
}  // namespace trainwarden::capture
