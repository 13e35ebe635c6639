// The program `bert` as a user runs it, on a model of two small layers and questions that the test writes.
#pragma once

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <nlohmann/json.hpp>

#include "model/heads.h"
#include "weights/exporting.h"

namespace bert {

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
    change(config);
    torch::manual_seed(1);
    export_model(folder_ / "model", *BertForSpans(config), config,
                 {.head = Head::kSpan, .vocabulary = folder_ / "vocab.txt"});
  }
  // What a test wants of the model.
  virtual void change(ModelConfig& /*config*/) const {}
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

}  // namespace bert
