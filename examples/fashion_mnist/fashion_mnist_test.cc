// The example on a data set of noise: what it captures, and how it ends.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "trainwarden/trial.h"

namespace {

using trainwarden::Mode;
using trainwarden::Trial;

// Bytes of no meaning, the same in each run.
std::vector<std::uint8_t> noise(std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  std::uint32_t state = 1;
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  return bytes;
}

void write_idx(const std::filesystem::path& path, const std::vector<std::uint32_t>& sizes, std::uint8_t modulo) {
  std::vector<std::uint8_t> bytes = {0, 0, 8, static_cast<std::uint8_t>(sizes.size())};
  std::size_t count = 1;
  for (const std::uint32_t size : sizes) {
    count *= size;
    for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<std::uint8_t>(size >> shift));
  }
  for (const std::uint8_t byte : noise(count)) bytes.push_back(modulo == 0 ? byte : byte % modulo);
  const gzFile file = gzopen(path.c_str(), "wb");
  ASSERT_EQ(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())), static_cast<int>(bytes.size()));
  ASSERT_EQ(gzclose(file), Z_OK);
}

class FashionMnistTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string test = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ("trainwarden-fashion-mnist-" + test + "-" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ / "data");
    for (const auto& [part, count] : {std::pair<std::string, std::uint32_t>{"train", 32}, {"t10k", 8}}) {
      write_idx(folder_ / "data" / (part + "-images-idx3-ubyte.gz"), {count, 28, 28}, 0);
      write_idx(folder_ / "data" / (part + "-labels-idx1-ubyte.gz"), {count}, 10);
    }
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // The exit status; what it printed is in output().
  int run_example(const std::string& arguments) {
    const std::string command = std::string("OMP_NUM_THREADS=1 ") + FASHION_MNIST_PROGRAM +
                                " --batch-size 8 --run-dir " + run_dir().string() + " " + arguments + " > " +
                                (folder_ / "output").string() + " 2>&1";
    return WEXITSTATUS(std::system(command.c_str()));
  }
  std::string data_option() const { return " --data " + (folder_ / "data").string(); }
  std::filesystem::path run_dir() const { return folder_ / "run"; }
  std::string output() const {
    std::ifstream file(folder_ / "output");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::filesystem::path folder_;
};

TEST_F(FashionMnistTest, CapturesWhatItSays) {
  ASSERT_EQ(run_example("--steps 3" + data_option()), 0) << output();
  const auto trial = Trial::open(run_dir());
  ASSERT_TRUE(trial.ok()) << trial.status().to_string();

  EXPECT_EQ((*trial)->steps(Mode::kTrain), (std::vector<std::int64_t>{0, 1, 2}));
  const std::vector<std::int64_t> first_step = {0};
  const std::vector<std::int64_t> every_step = {0, 1, 2};
  for (const char* name : {"conv0_input_0", "conv0_output_0", "conv0_relu_input_0", "conv0_relu_output_0"}) {
    EXPECT_EQ((*trial)->steps_of(name), first_step) << name;
  }
  for (const char* name : {"conv0.weight", "conv0.bias", "gradient/conv0.weight", "fc1.weight", "fc1.bias",
                           "gradient/fc1.weight", "CrossEntropyLoss_output_0"}) {
    EXPECT_EQ((*trial)->steps_of(name, Mode::kTrain, trainwarden::Kept::kAny), every_step) << name;
  }
  EXPECT_EQ(*(*trial)->shape("conv0_output_0", 0), (trainwarden::Shape{8, 20, 24, 24}));
  EXPECT_TRUE((*trial)->value("conv0.weight", 0).ok());
  EXPECT_GT(*(*trial)->reduction("gradient/fc1.weight", 2, trainwarden::Reduction::kMean, true), 0);
  EXPECT_EQ((*trial)->labels().at("learning_rate"), "0.1");
}

// What was asked for before the first step is there when it has ended.
TEST_F(FashionMnistTest, SavesItsStateOnRequest) {
  std::filesystem::create_directories(run_dir() / "control");
  std::ofstream(run_dir() / "control/checkpoint-k.json")
      << R"({"type":"checkpoint","key":"k","reason":"r","rule":"","global_step":-1,"requested_by":"user","unix_ns":1})";
  ASSERT_EQ(run_example("--steps 3" + data_option()), 0) << output();
  std::ifstream file(run_dir() / "checkpoints/step-000000-rank-00000.pt", std::ios::binary);
  std::string magic(2, ' ');
  file.read(magic.data(), 2);
  EXPECT_EQ(magic, "PK") << "an archive of LibTorch's";
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(run_dir() / "checkpoints"), {}), 1);
}

TEST_F(FashionMnistTest, EvaluatesAfterAnEpoch) {
  ASSERT_EQ(run_example("--epochs 1" + data_option()), 0) << output();
  EXPECT_NE(output().find("accuracy"), std::string::npos);
  const auto trial = Trial::open(run_dir());
  ASSERT_TRUE(trial.ok()) << trial.status().to_string();
  EXPECT_EQ((*trial)->steps(Mode::kTrain).size(), 4u);
  EXPECT_EQ((*trial)->steps(Mode::kEval), std::vector<std::int64_t>{0});
  EXPECT_TRUE((*trial)->scalar("accuracy", 0, Mode::kEval).ok());
  EXPECT_TRUE((*trial)->scalar("CrossEntropyLoss_output_0", 0, Mode::kEval).ok());
}

// The loss of each step, bit for bit.
std::vector<double> losses(const std::filesystem::path& run, Mode mode) {
  const auto trial = Trial::open(run);
  EXPECT_TRUE(trial.ok()) << trial.status().to_string();
  std::vector<double> values;
  for (const std::int64_t step : (*trial)->steps(mode)) {
    values.push_back((*trial)->scalar("CrossEntropyLoss_output_0", step, mode).value_or(-1));
  }
  return values;
}

// Ended in the middle of its second epoch, and begun again: nothing of it differs from one that was left alone.
TEST_F(FashionMnistTest, GoesOnFromItsCheckpoint) {
  const std::filesystem::path checkpoints = folder_ / "checkpoints";
  std::filesystem::create_directories(checkpoints);
  const std::string whole = " --epochs 3" + data_option();
  ASSERT_EQ(run_example(whole), 0) << output();
  const std::vector<double> train = losses(run_dir(), Mode::kTrain);
  const std::vector<double> eval = losses(run_dir(), Mode::kEval);
  ASSERT_EQ(train.size(), 12u);
  ASSERT_EQ(eval.size(), 3u);
  std::filesystem::remove_all(run_dir());

  const std::string resumed = whole + " --checkpoint-interval 2 --checkpoints " + checkpoints.string();
  ASSERT_EQ(run_example(resumed + " --steps 7"), 0) << output();
  ::setenv("TRAINWARDEN_RESUME", "1", 1);
  const int status = run_example(resumed);
  ::unsetenv("TRAINWARDEN_RESUME");
  ASSERT_EQ(status, 0) << output();
  EXPECT_NE(output().find("going on after 6 steps"), std::string::npos) << output();
  EXPECT_EQ(losses(run_dir(), Mode::kTrain), train);
  EXPECT_EQ(losses(run_dir(), Mode::kEval), eval);
}

TEST_F(FashionMnistTest, RefusesACheckpointThatIsNone) {
  const std::filesystem::path checkpoints = folder_ / "checkpoints";
  std::filesystem::create_directories(checkpoints);
  std::ofstream(checkpoints / "last.pt") << "no archive";
  EXPECT_EQ(run_example("--checkpoints " + checkpoints.string() + data_option()), 1);
}

TEST_F(FashionMnistTest, WritesTheTrainedNetwork) {
  const std::filesystem::path models = folder_ / "model";
  std::filesystem::create_directories(models);
  ASSERT_EQ(run_example("--epochs 1 --model " + models.string() + data_option()), 0) << output();
  EXPECT_TRUE(std::filesystem::exists(models / "model.pt"));
}

TEST_F(FashionMnistTest, TrainsWithoutAHook) {
  EXPECT_EQ(run_example("--steps 2 --no-hook" + data_option()), 0) << output();
  EXPECT_FALSE(std::filesystem::exists(run_dir()));
}

TEST_F(FashionMnistTest, SaysWhereDataShouldBe) {
  EXPECT_EQ(run_example("--data " + (folder_ / "nowhere").string()), 1);
  EXPECT_NE(output().find("dataset-fashion-mnist"), std::string::npos) << output();
}

TEST_F(FashionMnistTest, RefusesWrongUsage) {
  EXPECT_EQ(run_example("--epochs none"), 2);
}

}  // namespace
