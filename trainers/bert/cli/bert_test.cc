// The program `bert` as a user runs it, on a model of two small layers that the test writes.
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include <nlohmann/json.hpp>

#include "model/heads.h"
#include "weights/exporting.h"

namespace bert {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  int code = -1;
  std::string text;  // both streams
};

class BertProgram : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "bert-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    write_vocabulary(folder_ / "vocab.txt");
    write_questions(folder_ / "questions.json");
    ModelConfig config{.vocab_size = 40,
                       .hidden_size = 32,
                       .num_hidden_layers = 2,
                       .num_attention_heads = 2,
                       .intermediate_size = 64,
                       .max_position_embeddings = 64};
    torch::manual_seed(1);
    export_model(folder_ / "model", *BertForSpans(config), config,
                 {.head = Head::kSpan, .vocabulary = folder_ / "vocab.txt"});
  }
  void TearDown() override { fs::remove_all(folder_); }

  Outcome bert(const std::string& arguments) const {
    const std::string command = std::string(BERT_PROGRAM) + " " + arguments + " 2>&1";
    Outcome outcome;
    FILE* const pipe = ::popen(command.c_str(), "r");
    std::array<char, 4096> buffer{};
    while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
      outcome.text.append(buffer.data(), count);
    }
    outcome.code = WEXITSTATUS(::pclose(pipe));
    return outcome;
  }

  std::string train_command(const std::string& more = "") const {
    const std::string questions = (folder_ / "questions.json").string();
    return "train-spans --model " + (folder_ / "model").string() + " --train " + questions + " --dev " + questions +
           " --out " + (folder_ / "out").string() +
           " --max-length 48 --batch-size 4 --threads 1 --learning-rate 0.01 " + more;
  }

  void kill_at_first_checkpoint(const std::string& arguments) const {
    const std::string command = "exec " + std::string(BERT_PROGRAM) + " " + arguments + " > /dev/null 2>&1";
    const pid_t child = ::fork();
    if (child == 0) {
      ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      ::_exit(127);
    }
    while (!has_checkpoint()) {
      ASSERT_EQ(::waitpid(child, nullptr, WNOHANG), 0) << "it ended before its first checkpoint";
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }

  bool has_checkpoint() const {
    const fs::path checkpoints = folder_ / "out/checkpoints";
    if (!fs::exists(checkpoints)) return false;
    for (const auto& entry : fs::directory_iterator(checkpoints)) {
      if (entry.path().filename().string().starts_with("step-")) return true;
    }
    return false;
  }

  static std::string bytes_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  nlohmann::json result() const { return nlohmann::json::parse(std::ifstream(folder_ / "out/result.json")); }

  fs::path folder_;

 private:
  static void write_vocabulary(const fs::path& file) {
    std::ofstream out(file);
    for (const char* piece : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "where", "is", "the", "?", "in"})
      out << piece << "\n";
    for (int i = 0; i < 24; ++i) out << static_cast<char>('a' + i) << "word\n";
  }

  // What is asked for stands behind the word that the question names.
  static void write_questions(const fs::path& file) {
    nlohmann::json questions = nlohmann::json::array();
    for (int i = 0; i < 24; ++i) {
      const auto word = [](int n) { return std::string(1, static_cast<char>('a' + n % 24)) + "word"; };
      const std::string context = word(i) + " " + word(i + 7) + " in " + word(i + 3) + " the " + word(i + 11);
      questions.push_back({{"id", std::to_string(i)},
                           {"title", "t" + std::to_string(i % 3)},
                           {"question", "where is " + word(i) + " ?"},
                           {"context", context},
                           {"answers", {{"text", {word(i + 7)}}, {"answer_start", {6}}}}});
    }
    std::ofstream(file) << questions;
  }
};

TEST_F(BertProgram, LearnsAndLeavesAModelThatAnswersTheSame) {
  const Outcome trained = bert(train_command("--epochs 40 --no-hook"));
  ASSERT_EQ(trained.code, 0) << trained.text;
  EXPECT_GT(result().at("after").at("f1").get<double>(), result().at("before").at("f1").get<double>() + 30)
      << trained.text;
  const Outcome answered =
      bert("answer --json --max-length 48 --model " + (folder_ / "out/model").string() + " --data " +
           (folder_ / "questions.json").string() + " --answers " + (folder_ / "answers.json").string());
  ASSERT_EQ(answered.code, 0) << answered.text;
  EXPECT_NEAR(nlohmann::json::parse(answered.text).at("f1").get<double>(), result().at("after").at("f1").get<double>(),
              1e-9);
  const Outcome scored =
      bert("score " + (folder_ / "questions.json").string() + " " + (folder_ / "answers.json").string());
  EXPECT_EQ(nlohmann::json::parse(scored.text).at("f1"), nlohmann::json::parse(answered.text).at("f1"));
}

TEST_F(BertProgram, OneThatIsKilledGoesOnToTheSameEnd) {
  const std::string command = train_command("--epochs 40 --no-hook --deterministic --checkpoint-interval 20");
  ASSERT_EQ(bert(command).code, 0);
  const std::string whole = bytes_of(folder_ / "out/model/model.safetensors");
  fs::remove_all(folder_ / "out");
  kill_at_first_checkpoint(command);
  ASSERT_FALSE(fs::exists(folder_ / "out/model"));
  const Outcome resumed = bert(command);
  ASSERT_EQ(resumed.code, 0) << resumed.text;
  EXPECT_NE(resumed.text.find("going on after step"), std::string::npos) << resumed.text;
  EXPECT_EQ(bytes_of(folder_ / "out/model/model.safetensors"), whole);
}

TEST_F(BertProgram, WhatIsWrongIsSaid) {
  EXPECT_EQ(bert("").code, 2);
  const std::string model =
      " --model " + (folder_ / "model").string() + " --data " + (folder_ / "questions.json").string();
  const Outcome long_windows = bert("answer --max-length 100" + model);
  EXPECT_EQ(long_windows.code, 2);
  EXPECT_NE(long_windows.text.find("reads at most 64 pieces"), std::string::npos) << long_windows.text;
  const Outcome half = bert(train_command("--no-hook --device cpu --precision float16"));
  EXPECT_EQ(half.code, 2);
  EXPECT_NE(half.text.find("float16 is for CUDA devices"), std::string::npos) << half.text;
  std::ofstream(folder_ / "model/vocab.txt", std::ios::app) << "x1\nx2\nx3\nx4\nx5\nx6\nx7\n";
  const Outcome vocabulary = bert("answer --max-length 48" + model);
  EXPECT_EQ(vocabulary.code, 1);
  EXPECT_NE(vocabulary.text.find("the vocabulary of another model"), std::string::npos) << vocabulary.text;
}

}  // namespace
}  // namespace bert
