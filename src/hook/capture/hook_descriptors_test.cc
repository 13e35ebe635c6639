// A training that closes all descriptors which it has not opened itself, and opens files of its own: nothing of ours
// gets into them, and the run goes on.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "core/base/descriptor_testing.h"
#include "core/base/folder_testing.h"
#include "core/base/log.h"
#include "hook/capture/capture_testing.h"
#include "hook/capture/requests/checkpoint_file.h"
#include "store/storage/local_storage.h"

namespace trainwarden::capture {
namespace {

class HookDescriptorsTest : public testing::Test {
 protected:
  void SetUp() override {
    set_log_sink([](LogLevel, std::string_view) {});
    HookOptions options = keep_all_of("x");
    options.run_dir = run_;
    options.when_full = WhenFull::kBlock;
    auto opened = Hook::open(options);
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    hook_ = *std::move(opened);
  }
  void TearDown() override { set_log_sink(nullptr); }

  void train(int steps) {
    for (int i = 0; i < steps; ++i) {
      hook_->save_tensor("x", view_of(values_));
      hook_->save_scalar("loss", i);
      hook_->end_step();
    }
  }

  TestFolder folder_;
  const std::filesystem::path run_ = folder_.path() / "run";
  const std::vector<float> values_ = {1, 2, 3};
  std::unique_ptr<Hook> hook_;
};

TEST_F(HookDescriptorsTest, NothingIsLostAndNothingGetsIntoItsFiles) {
  train(30);
  ASSERT_TRUE(hook_->flush().ok());
  const TakenNumbers taken(run_);
  EXPECT_GE(taken.size(), 2u) << "the segment, and the writer's lock";
  train(300);
  ASSERT_TRUE(hook_->flush().ok());
  const TakenNumbers also_taken(run_);
  EXPECT_GE(also_taken.size(), 2u);
  train(30);
  ASSERT_TRUE(hook_->close().ok());
  EXPECT_TRUE(hook_->report().losses.empty());
  hook_.reset();
  EXPECT_EQ(taken.touched(), "");
  EXPECT_EQ(also_taken.touched(), "");
  EXPECT_TRUE(numbers_of(run_).empty());
  const ReadRun run = read_run(*storage::open_local_storage(run_));
  ASSERT_EQ(run.steps.size(), 360u);
  for (const ReadStep& step : run.steps) EXPECT_EQ(floats_of(step.values.at("x")), values_);
  EXPECT_TRUE(run.losses.empty());
}

TEST_F(HookDescriptorsTest, ARunThatCannotGoOnCountsItsLosses) {
  train(3);
  ASSERT_TRUE(hook_->flush().ok());
  const TakenNumbers taken(run_);
  std::filesystem::remove_all(run_);
  train(3);
  EXPECT_FALSE(hook_->close().ok());
  EXPECT_EQ(lost(hook_->report(), LossCause::kWriteFailed), 6u);
  hook_.reset();
  EXPECT_EQ(taken.touched(), "");
}

// Without a hook, whose threads would open files of the run meanwhile.
TEST(CheckpointDescriptorsTest, NoneOfOursIsOpenWhileTheProgramSaves) {
  const TestFolder folder;
  const std::filesystem::path run = folder.path() / "run";
  bool has_saved = false;
  const auto saved = write_checkpoint_file({run, 7, 0, ".pt"}, [&](const std::filesystem::path& path) {
    has_saved = true;
    EXPECT_TRUE(numbers_of(run).empty());
    std::filesystem::copy_file("/proc/self/stat", path);
    return Status();
  });
  EXPECT_TRUE(saved.ok()) << saved.status().to_string();
  EXPECT_TRUE(has_saved);
}

}  // namespace
}  // namespace trainwarden::capture
