// The example on a few sentences: what it captures, and that attention is what queries and keys say.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainwarden/trial.h"

namespace {

using trainwarden::Mode;
using trainwarden::Shape;
using trainwarden::TensorValue;
using trainwarden::Trial;

constexpr std::int64_t kItems = 2, kHeads = 2, kLength = 16, kHeadSize = 8;

class TinyBertTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = std::filesystem::path(testing::TempDir()) / ("tiny-bert-" + std::to_string(getpid()) + "-" + test);
    std::filesystem::create_directories(folder_);
    std::ofstream text(folder_ / "text.txt");
    for (int i = 0; i < 40; ++i) text << "The cat number " << i << " sat on the mat, and a dog looked at it. Why? ";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // The exit status; what it printed is in output().
  int run_example(const std::string& arguments) const {
    const std::string command =
        "cd " + folder_.string() + " && OMP_NUM_THREADS=1 " + TINY_BERT_PROGRAM + " " + arguments + " > output 2>&1";
    return WEXITSTATUS(std::system(command.c_str()));
  }
  int train(const std::string& arguments) const {
    return run_example(
        "--text text.txt --run-dir run --layers 2 --heads 2 --hidden 16 --length 16 --batch-size 4 "
        "--eval-items 2 --threads 1 --vocab-size 100 " +
        arguments);
  }
  std::string output() const {
    std::ifstream file(folder_ / "output");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::unique_ptr<Trial> open_trial() const {
    auto trial = Trial::open(folder_ / "run");
    EXPECT_TRUE(trial.ok()) << trial.status().to_string();
    return std::move(*trial);
  }

  std::filesystem::path folder_;
};

bool has(const std::vector<std::string>& strings, const std::string& text) {
  return std::find(strings.begin(), strings.end(), text) != strings.end();
}

std::string tensor(int layer, const std::string& part) {
  return "encoder.layer." + std::to_string(layer) + ".attention.self." + part;
}

// Elements of one head of one item: rows of a packed [B, H, T, n].
std::vector<double> head_of(const TensorValue& value, std::int64_t item, std::int64_t head) {
  const std::vector<double> all = value.to_doubles();
  const std::int64_t size = value.shape[2] * value.shape[3];
  const auto begin = all.begin() + (item * value.shape[1] + head) * size;
  return {begin, begin + size};
}

// A row of softmax(q kᵀ / √d).
std::vector<double> attention_row(const std::vector<double>& query, const std::vector<double>& key, std::int64_t row) {
  std::vector<double> weights;
  double sum = 0;
  for (std::int64_t column = 0; column < kLength; ++column) {
    double dot = 0;
    for (std::int64_t i = 0; i < kHeadSize; ++i) dot += query[row * kHeadSize + i] * key[column * kHeadSize + i];
    weights.push_back(std::exp(dot / std::sqrt(static_cast<double>(kHeadSize))));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

TEST_F(TinyBertTest, CapturesAttentionThatItsQueriesAndKeysGive) {
  ASSERT_EQ(train("--steps 3 --eval-interval 2"), 0) << output();
  const auto trial = open_trial();
  EXPECT_EQ(trial->steps(Mode::kTrain), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(trial->steps(Mode::kEval), (std::vector<std::int64_t>{0, 1, 2})) << "before, in between and after";
  for (const std::int64_t step : trial->steps(Mode::kEval)) {
    for (const int layer : {0, 1}) {
      const TensorValue query = *trial->value(tensor(layer, "query"), step, Mode::kEval);
      const TensorValue key = *trial->value(tensor(layer, "key"), step, Mode::kEval);
      const TensorValue probabilities = *trial->value(tensor(layer, "probs"), step, Mode::kEval);
      ASSERT_EQ(query.shape, (Shape{kItems, kHeads, kLength, kHeadSize}));
      ASSERT_EQ(probabilities.shape, (Shape{kItems, kHeads, kLength, kLength}));
      for (std::int64_t item = 0; item < kItems; ++item) {
        for (std::int64_t head = 0; head < kHeads; ++head) {
          const auto q = head_of(query, item, head), k = head_of(key, item, head);
          const auto p = head_of(probabilities, item, head);
          for (std::int64_t row = 0; row < kLength; ++row) {
            const auto expected = attention_row(q, k, row);
            double sum = 0;
            for (std::int64_t column = 0; column < kLength; ++column) {
              EXPECT_NEAR(p[row * kLength + column], expected[column], 1e-5);
              sum += p[row * kLength + column];
            }
            EXPECT_NEAR(sum, 1, 1e-5);
          }
        }
      }
    }
  }
}

TEST_F(TinyBertTest, LearnsBetweenEvaluations) {
  ASSERT_EQ(train("--steps 40 --eval-interval 40 --learning-rate 0.01"), 0) << output();
  const auto trial = open_trial();
  EXPECT_LT(*trial->scalar("MaskedLanguageLoss_output_0", 1, Mode::kEval),
            *trial->scalar("MaskedLanguageLoss_output_0", 0, Mode::kEval));
  EXPECT_NE(trial->value(tensor(0, "probs"), 0, Mode::kEval)->to_doubles(),
            trial->value(tensor(0, "probs"), 1, Mode::kEval)->to_doubles());
}

TEST_F(TinyBertTest, CapturesTheTokensOfEachItem) {
  ASSERT_EQ(train("--steps 1"), 0) << output();
  const auto trial = open_trial();
  const TensorValue tokens = *trial->value("tokens", 0, Mode::kEval);
  EXPECT_EQ(tokens.shape, (Shape{kItems, kLength}));
  ASSERT_EQ(tokens.strings.size(), static_cast<std::size_t>(kItems * kLength));
  for (std::int64_t item = 0; item < kItems; ++item) {
    EXPECT_EQ(tokens.strings[item * kLength], "[CLS]");
    EXPECT_EQ(tokens.strings[(item + 1) * kLength - 1], "[SEP]");
  }
  EXPECT_TRUE(has(tokens.strings, "[MASK]"));
}

TEST_F(TinyBertTest, KeepsAttentionOutOfTraining) {
  ASSERT_EQ(train("--steps 2"), 0) << output();
  const auto trial = open_trial();
  EXPECT_EQ(trial->steps_of(tensor(0, "probs"), Mode::kTrain), std::vector<std::int64_t>());
  EXPECT_EQ(trial->steps_of("gradient/" + tensor(0, "query.weight"), Mode::kTrain), std::vector<std::int64_t>{0});
  EXPECT_EQ(trial->steps_of("MaskedLanguageLoss_output_0", Mode::kTrain), (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(trial->labels().at("total_steps"), "2");
}

TEST_F(TinyBertTest, TakesAVocabularyOfBertsForm) {
  {
    std::ofstream file(folder_ / "vocab.txt");
    for (const char* piece : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "sat", "##s"})
      file << piece << '\n';
  }
  ASSERT_EQ(train("--steps 1 --vocab vocab.txt"), 0) << output();
  EXPECT_NE(output().find("9 pieces in the vocabulary"), std::string::npos) << output();
  EXPECT_TRUE(has(open_trial()->value("tokens", 0, Mode::kEval)->strings, "[UNK]"));
}

TEST_F(TinyBertTest, TrainsWithoutAHook) {
  EXPECT_EQ(train("--steps 1 --no-hook"), 0) << output();
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run"));
}

TEST_F(TinyBertTest, SaysWhatIsMissing) {
  EXPECT_EQ(run_example("--steps 1"), 2);
  EXPECT_NE(output().find("rajpurkar.github.io/SQuAD-explorer"), std::string::npos) << output();
  EXPECT_EQ(run_example("--text nowhere.txt"), 2);
  EXPECT_EQ(run_example("--text text.txt --hidden 30 --heads 4"), 2);
  EXPECT_NE(output().find("multiple of --heads"), std::string::npos) << output();
  std::ofstream(folder_ / "short.txt") << "Too short.";
  EXPECT_EQ(run_example("--text short.txt"), 1);
  EXPECT_NE(output().find("name more with --text"), std::string::npos) << output();
}

}  // namespace
