// The program `bert` as a user runs it: it learns, goes on after it was killed, and says what is wrong.
#include <signal.h>

#include <chrono>
#include <thread>

#include "cli/bert_testing.h"

namespace bert {
namespace {

class BertTraining : public BertProgram {
 protected:
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
};

TEST_F(BertTraining, LearnsAndLeavesAModelThatAnswersTheSame) {
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

TEST_F(BertTraining, OneThatIsKilledGoesOnToTheSameEnd) {
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

TEST_F(BertTraining, WhatIsWrongIsSaid) {
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
