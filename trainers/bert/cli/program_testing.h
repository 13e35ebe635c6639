// The program `bert` as a user runs it, on a model of two small layers and 24 questions that are written for each test.
#pragma once

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
#include <vector>

#include <nlohmann/json.hpp>

#include "model/heads.h"
#include "weights/exporting.h"

namespace bert {

namespace fs = std::filesystem;

inline std::string word(int number) {
  return std::string(1, static_cast<char>('a' + number % 24)) + "word";
}

inline void put_lines(const fs::path& file, const std::vector<std::string>& lines) {
  fs::create_directories(file.parent_path());
  std::ofstream out(file);
  for (const std::string& line : lines) out << line << "\n";
}

inline nlohmann::json json_in(const fs::path& file) {
  return nlohmann::json::parse(std::ifstream(file));
}

// Of a model of two small layers, with room for the vocabulary of the tests.
inline ModelConfig small_config(ModelType type = ModelType::kBert) {
  ModelConfig config{.type = type,
                     .vocab_size = 40,
                     .hidden_size = 32,
                     .num_hidden_layers = 2,
                     .num_attention_heads = 2,
                     .intermediate_size = 64,
                     .max_position_embeddings = 64};
  if (type == ModelType::kDistilBert) config.type_vocab_size = 0;
  return config;
}

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
    put_model<BertForSpans>("model", ModelType::kBert, Head::kSpan);
  }
  void TearDown() override { fs::remove_all(folder_); }
  // What a test wants of the model.
  virtual void change(ModelConfig& /*config*/) const {}

  Outcome bert(const std::string& arguments) const { return run(std::string(BERT_PROGRAM) + " " + arguments); }

  static Outcome run(const std::string& command) {
    Outcome outcome;
    FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
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

  // Writes a folder with a model of random weights.
  template <class Model>
  void put_model(const std::string& name, ModelType type, Head head) const {
    ModelConfig config = small_config(type);
    change(config);
    torch::manual_seed(1);
    export_model(folder_ / name, *Model(config), config, {.head = head, .vocabulary = folder_ / "vocab.txt"});
  }

  // What is asked for stands behind the word that the question names.
  static void write_questions(const fs::path& file, int count = 24) {
    nlohmann::json questions = nlohmann::json::array();
    for (int i = 0; i < count; ++i) {
      const std::string context = word(i) + " " + word(i + 7) + " in " + word(i + 3) + " the " + word(i + 11);
      questions.push_back({{"id", std::to_string(i)},
                           {"title", "t" + std::to_string(i % 3)},
                           {"question", "where is " + word(i) + " ?"},
                           {"context", context},
                           {"answers", {{"text", {word(i + 7)}}, {"answer_start", {6}}}}});
    }
    std::ofstream(file) << questions;
  }

  fs::path folder_;

 private:
  static void write_vocabulary(const fs::path& file) {
    std::ofstream out(file);
    for (const char* piece : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "where", "is", "the", "?", "in"})
      out << piece << "\n";
    for (int i = 0; i < 24; ++i) out << word(i) << "\n";
  }
};

}  // namespace bert
