// Runs that smdebug 1.0.34 recorded, against what its own reader made of them (the *.expected.json beside each).
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <test_paths.h>
#include <nlohmann/json.hpp>

#include "read/trial/smdebug/sha256_testing.h"
#include "trainwarden/trial.h"

namespace trainwarden {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Steps = std::vector<std::int64_t>;

fs::path recorded_runs() {
  const char* named = std::getenv("TRAINWARDEN_SHARED_DATA");
  const fs::path data = named != nullptr ? fs::path(named) : fs::path(TW_SOURCE_DIR) / "../shared/data";
  return data / "smdebug_trials";
}

// A number as NumPy prints it, which is to eight digits behind the point.
struct PrintedNumber {
  double value = 0;
  double tolerance = 0;  // of the last digit
};
using Reductions = std::map<std::pair<std::string, bool>, PrintedNumber>;

PrintedNumber parse_number(const std::string& text) {
  const std::size_t exponent = std::min(text.find('e'), text.size());
  const std::size_t point = std::min(text.find('.'), exponent);
  const std::size_t digits = exponent - std::min(point + 1, exponent);
  const int power = exponent < text.size() ? std::stoi(text.substr(exponent + 1)) : 0;
  return {std::stod(text), 0.51 * std::pow(10.0, power - static_cast<int>(digits))};
}

// "{('min', False): array(-0.3214773, dtype=float32), ...".
Reductions parse_reductions(const std::string& text) {
  static const std::regex kEntry(R"(\('(\w+)', (True|False)\): array\(([^,]+), dtype=float32\))");
  Reductions reductions;
  for (std::sregex_iterator entry(text.begin(), text.end(), kEntry), end; entry != end; ++entry) {
    reductions[{(*entry)[1], (*entry)[2] == "True"}] = parse_number((*entry)[3]);
  }
  return reductions;
}

class RecordedRun : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const fs::path folder = recorded_runs() / GetParam();
    if (!fs::exists(folder)) GTEST_SKIP() << "no recorded runs at " << recorded_runs() << " (TRAINWARDEN_SHARED_DATA)";
    std::ifstream(folder.string() + ".expected.json") >> expected_;
    auto trial = Trial::open(folder);
    ASSERT_TRUE(trial.ok()) << trial.status().to_string();
    trial_ = *std::move(trial);
  }

  void expect_value(const std::string& tensor, std::int64_t step, const Json& expected) {
    const auto value = trial_->value(tensor, step);
    ASSERT_TRUE(value.ok()) << value.status().to_string();
    EXPECT_EQ(name(value->dtype), expected["dtype"]);
    const auto sizes = value->shape.sizes();
    EXPECT_EQ(Steps(sizes.begin(), sizes.end()), expected["shape"].get<Steps>());
    EXPECT_EQ(sha256(value->data).substr(0, 16), expected["sha256"]);
    EXPECT_EQ(trial_->shape(tensor, step).value_or({}), value->shape);
  }

  void expect_reductions(const std::string& tensor, std::int64_t step, const std::string& expected) {
    const auto saved = trial_->saved_reductions(tensor, step);
    ASSERT_TRUE(saved.ok()) << saved.status().to_string();
    const Reductions numbers = parse_reductions(expected);
    EXPECT_EQ(saved->size(), numbers.size());
    for (const SavedReduction& one : *saved) {
      const auto number = numbers.find({std::string(name(one.reduction)), one.abs});
      ASSERT_NE(number, numbers.end()) << name(one.reduction);
      EXPECT_NEAR(one.value, number->second.value, number->second.tolerance) << name(one.reduction);
    }
    EXPECT_FALSE(numbers.empty());
    EXPECT_EQ(trial_->value(tensor, step).status().code(), Code::kOutOfRange);
  }

  Json expected_;
  std::unique_ptr<Trial> trial_;
};

TEST_P(RecordedRun, TellsOfItself) {
  EXPECT_EQ(trial_->recorder(), "smdebug");
  EXPECT_EQ(trial_->state(), RunState::kCompleted);
  EXPECT_TRUE(trial_->loaded_all_steps());
  EXPECT_EQ(trial_->workers(), std::vector<std::string>{"worker_0"});
  EXPECT_TRUE(trial_->losses().empty());
  EXPECT_GT(trial_->created_unix_ns(), 1'500'000'000'000'000'000);
  EXPECT_GE(trial_->last_unix_ns(), trial_->created_unix_ns());
  EXPECT_EQ(trial_->run_id().size(), 32u);
}

TEST_P(RecordedRun, HasTheStepsAndModes) {
  EXPECT_EQ(trial_->steps(), expected_["steps"].get<Steps>());
  std::vector<std::string> modes;
  for (const Mode mode : trial_->modes()) {
    if (mode != Mode::kGlobal) modes.push_back(mode == Mode::kTrain ? "ModeKeys.TRAIN" : "ModeKeys.EVAL");
  }
  EXPECT_EQ(modes, expected_["modes"].get<std::vector<std::string>>());
}

TEST_P(RecordedRun, HasTheNamesAndCollections) {
  std::vector<std::string> names;
  for (const auto& [name, steps] : expected_["tensors"].items()) names.push_back(name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(*trial_->tensor_names(), names);
  for (const auto& [collection, members] : expected_["collections"].items()) {
    // What was recorded is what the manifest lists; the pattern of `all`, where it has one, also finds what was saved
    // after the manifest was written.
    const bool everything = collection == "all" && !members.empty();
    const auto expected = everything ? names : members.get<std::vector<std::string>>();
    EXPECT_EQ(*trial_->tensor_names({.collection = collection}), expected) << collection;
  }
}

TEST_P(RecordedRun, HasEveryValueAndReduction) {
  for (const auto& [tensor, steps] : expected_["tensors"].items()) {
    Steps found;
    for (const auto& [text, expected] : steps.items()) {
      const std::int64_t step = std::stoll(text);
      SCOPED_TRACE(fmt::format("{} at step {}", tensor, step));
      found.push_back(step);
      if (expected.contains("sha256")) expect_value(tensor, step, expected);
      if (expected.contains("reductions")) expect_reductions(tensor, step, expected["reductions"]);
    }
    std::sort(found.begin(), found.end());
    EXPECT_EQ(trial_->steps_of(tensor), found) << tensor;
  }
}

INSTANTIATE_TEST_SUITE_P(Smdebug, RecordedRun,
                         testing::Values("cnn_save_all", "cnn_reductions", "cnn_wgl_every_step", "mlp_modes_scalar"),
                         [](const auto& run) { return std::string(run.param); });

TEST(Sha256, OfKnownTexts) {
  EXPECT_EQ(sha256(as_bytes("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256({}), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

}  // namespace
}  // namespace trainwarden
