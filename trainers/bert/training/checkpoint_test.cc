// Checkpoints that come back as they were, and damaged ones that are refused.
#include "training/checkpoint.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace bert {
namespace {

namespace fs = std::filesystem;

class CheckpointTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("bert_checkpoint_test_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  Checkpoint example(std::int64_t step) const {
    Checkpoint checkpoint{.step = step};
    checkpoint.sections["model"] = {{"weight", at::arange(12, at::kFloat).view({3, 4}) + static_cast<double>(step)},
                                    {"half", at::ones({5}, at::kBFloat16)},
                                    {"empty", at::empty({0, 3})}};
    checkpoint.sections["bytes"] = {{"one", at::arange(7, at::kByte)}};
    checkpoint.counters["epochs"] = 2;
    checkpoint.texts["optimizer"] = "adamw \"ü\"";
    return checkpoint;
  }

  // The reason for which a checkpoint is refused; empty where it is read.
  static std::string refusal(const fs::path& path) {
    try {
      read_checkpoint(path);
      return "";
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  }

  static std::string contents(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

  fs::path folder_;
};

TEST_F(CheckpointTest, ComesBackAsItWas) {
  Checkpoint saved = example(17);
  saved.sections["model"][0].second = saved.sections["model"][0].second.t();  // strided
  const fs::path path = save_checkpoint(saved, folder_);
  const FoundCheckpoint found = find_newest_checkpoint(folder_);
  ASSERT_TRUE(found.checkpoint);
  EXPECT_EQ(found.path, path);
  EXPECT_EQ(found.checkpoint->step, 17);
  EXPECT_EQ(found.checkpoint->counters.at("epochs"), 2);
  EXPECT_EQ(found.checkpoint->texts, saved.texts);
  for (const auto& [name, tensors] : saved.sections) {
    const NamedTensors& read = found.checkpoint->section(name);
    ASSERT_EQ(read.size(), tensors.size());
    for (std::size_t i = 0; i < read.size(); ++i) {
      EXPECT_EQ(read[i].first, tensors[i].first);
      EXPECT_EQ(read[i].second.scalar_type(), tensors[i].second.scalar_type());
      EXPECT_TRUE(at::equal(read[i].second, tensors[i].second)) << read[i].first;
    }
  }
  EXPECT_THROW(found.checkpoint->section("scaler"), std::runtime_error);
}

TEST_F(CheckpointTest, TheNewestStayAndOneOfTheSameStepIsReplaced) {
  for (const std::int64_t step : {1, 2, 10, 9}) save_checkpoint(example(step), folder_, 2);
  Checkpoint again = example(10);
  again.counters["epochs"] = 99;
  save_checkpoint(again, folder_, 2);
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"step-0000000009", "step-0000000010"}));
  EXPECT_EQ(find_newest_checkpoint(folder_).checkpoint->counters.at("epochs"), 99);
}

TEST_F(CheckpointTest, WhatADeadProcessLeftIsNoCheckpoint) {
  save_checkpoint(example(1), folder_);
  fs::create_directory(folder_ / ".partial-step-0000000002");
  write(folder_ / ".partial-step-0000000002" / "tensors.bin", "half");
  EXPECT_EQ(find_newest_checkpoint(folder_).checkpoint->step, 1);
  EXPECT_NO_THROW(save_checkpoint(example(2), folder_));
  EXPECT_EQ(find_newest_checkpoint(folder_).checkpoint->step, 2);
}

TEST_F(CheckpointTest, EachDamagedByteIsSeenAndTheOneBeforeIsTaken) {
  save_checkpoint(example(1), folder_);
  const fs::path newest = save_checkpoint(example(2), folder_);
  for (const char* file : {"tensors.bin", "manifest.json"}) {
    const std::string whole = contents(newest / file);
    for (std::size_t i = 0; i < whole.size(); i += 3) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ 4);
      write(newest / file, damaged);
      ASSERT_NE(refusal(newest), "") << file << " at " << i;
      const FoundCheckpoint found = find_newest_checkpoint(folder_);
      ASSERT_EQ(found.checkpoint->step, 1);
      ASSERT_EQ(found.refused.size(), 1u);
      ASSERT_NE(found.refused[0].second.find(file), std::string::npos) << found.refused[0].second;
    }
    for (const std::size_t length : {std::size_t{0}, std::size_t{5}, whole.size() - 1}) {
      write(newest / file, whole.substr(0, length));
      ASSERT_NE(refusal(newest), "") << file << " cut to " << length;
    }
    write(newest / file, whole + "x");
    ASSERT_NE(refusal(newest), "");
    write(newest / file, whole);
    ASSERT_EQ(refusal(newest), "");
  }
}

TEST_F(CheckpointTest, MissingFilesLinksAndOtherNamesAreRefused) {
  const fs::path path = save_checkpoint(example(3), folder_);
  fs::copy(path, folder_ / "step-0000000004", fs::copy_options::recursive);
  EXPECT_NE(refusal(folder_ / "step-0000000004").find("another step"), std::string::npos);
  fs::rename(path / "tensors.bin", folder_ / "elsewhere");
  EXPECT_NE(refusal(path).find("tensors.bin"), std::string::npos);
  fs::create_symlink(folder_ / "elsewhere", path / "tensors.bin");
  EXPECT_NE(refusal(path).find("tensors.bin"), std::string::npos);
}

TEST_F(CheckpointTest, AFolderThatIsNotThereHasNone) {
  const FoundCheckpoint found = find_newest_checkpoint(folder_ / "nowhere");
  EXPECT_FALSE(found.checkpoint);
  EXPECT_TRUE(found.refused.empty());
}

TEST_F(CheckpointTest, JobsSayWhereCheckpointsBelong) {
  ::unsetenv("TRAINWARDEN_CHECKPOINT_DIR");
  EXPECT_FALSE(checkpoint_folder_of_job());
  ::setenv("TRAINWARDEN_CHECKPOINT_DIR", "/somewhere", 1);
  EXPECT_EQ(checkpoint_folder_of_job(), fs::path("/somewhere"));
  ::unsetenv("TRAINWARDEN_CHECKPOINT_DIR");
}

TEST(CopyByNameTest, NothingIsCopiedUnlessAllFits) {
  const at::Tensor a = at::zeros({2}), b = at::zeros({3});
  try {
    copy_by_name({{"a", at::ones({2})}, {"b", at::ones({4})}}, {{"a", a}, {"b", b}}, "The model");
    FAIL() << "a tensor of another shape was taken";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("b (expected float [3], found float [4])"), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(a.sum().item<double>(), 0);
  copy_by_name({{"b", at::ones({3})}, {"a", at::ones({2})}}, {{"a", a}, {"b", b}}, "The model");
  EXPECT_EQ(a.sum().item<double>() + b.sum().item<double>(), 5);
}

}  // namespace
}  // namespace bert
