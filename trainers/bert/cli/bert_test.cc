// The program `bert`: what it trains, how it goes on, what it says of bad input.
#include "cli/program_testing.h"

namespace bert {
namespace {

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

TEST_F(BertProgram, TrainsSomeOfTheLayersWithAnotherDropout) {
  const Outcome trained = bert(train_command("--max-steps 1 --no-hook --num_hidden_layers 1 --dropout 0.25"));
  ASSERT_EQ(trained.code, 0) << trained.text;
  const nlohmann::json config = json_in(folder_ / "out/model/config.json");
  EXPECT_EQ(config.at("num_hidden_layers"), 1);
  EXPECT_EQ(config.at("hidden_dropout_prob"), 0.25);
  EXPECT_EQ(config.at("attention_probs_dropout_prob"), 0.25);
  const Outcome answered = bert("answer --max-length 48 --model " + (folder_ / "out/model").string() + " --data " +
                                (folder_ / "questions.json").string());
  EXPECT_EQ(answered.code, 0) << answered.text;
  const Outcome more = bert(train_command("--layers 3 --no-hook"));
  EXPECT_EQ(more.code, 2);
  EXPECT_NE(more.text.find("--layers 3: "), std::string::npos) << more.text;
  EXPECT_NE(more.text.find(" has 2"), std::string::npos) << more.text;
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
