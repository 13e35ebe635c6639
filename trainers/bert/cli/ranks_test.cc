// The program `bert` as several ranks: equal to one process, equal to itself, and not stopped by the death of one.
#include <signal.h>

#include <chrono>
#include <cmath>
#include <regex>
#include <thread>
#include <utility>
#include <vector>

#include "cli/program_testing.h"
#include "parallel/free_port.h"
#include "parallel/group.h"
#include "trainwarden/trial.h"
#include "weights/safetensors.h"

namespace bert {
namespace {

using trainwarden::Mode;
using trainwarden::Trial;

// Largest difference of two models' weights, in units of the largest. Biases that move all logits of a softmax alike
// change nothing: their gradients are rounding errors, which Adam makes as large as those of others.
double difference(const fs::path& a, const fs::path& b) {
  double most = 0, size = 0;
  const auto right = read_safetensors(b / "model.safetensors");
  for (const auto& [name, tensor] : read_safetensors(a / "model.safetensors")) {
    if (name.ends_with("bias")) continue;
    const at::Tensor other = right.at(name);
    most = std::max(most, (tensor - other).abs().max().item<double>());
    size = std::max(size, other.abs().max().item<double>());
  }
  return most / size;
}

class BertRanks : public BertProgram {
 protected:
  void change(ModelConfig& config) const override {
    // Each rank draws its own.
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = config.classifier_dropout_prob = 0;
  }

  // The command with another value for an option that it has.
  static std::string with(std::string command, const std::string& option, const std::string& value) {
    const std::size_t begin = command.find(option + " ") + option.size() + 1;
    return command.replace(begin, command.find(' ', begin) - begin, value);
  }

  // A rank of a training, with a file for what it prints.
  struct Rank {
    pid_t process = 0;
    fs::path output;
  };

  std::vector<Rank> start(int count, const std::string& arguments, std::string of_last_rank = "") const {
    if (of_last_rank.empty()) of_last_rank = arguments;
    const int port = free_port();
    std::vector<Rank> ranks;
    for (int rank = 0; rank < count; ++rank) {
      const fs::path output = folder_ / ("output" + std::to_string(rank));
      const std::string place = "RANK=" + std::to_string(rank) + " LOCAL_RANK=" + std::to_string(rank) +
                                " WORLD_SIZE=" + std::to_string(count) +
                                " MASTER_ADDR=127.0.0.1 MASTER_PORT=" + std::to_string(port);
      const std::string command = place + " exec " + BERT_PROGRAM + " " +
                                  (rank + 1 == count ? of_last_rank : arguments) + " > " + output.string() + " 2>&1";
      const pid_t child = ::fork();
      if (child == 0) {
        ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
        ::_exit(127);
      }
      ranks.push_back({child, output});
    }
    return ranks;
  }

  // -1: a signal ended it. One that hangs is killed: the test is to say so, not to hang too.
  static Outcome collect(const Rank& rank) {
    int status = 0;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    while (::waitpid(rank.process, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > deadline) ::kill(rank.process, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, bytes_of(rank.output)};
  }

  // All ranks end well; the model is moved to `name`.
  void train(int count, const std::string& arguments, const std::string& name) const {
    for (const Rank& rank : start(count, arguments)) {
      const Outcome outcome = collect(rank);
      ASSERT_EQ(outcome.code, 0) << outcome.text;
    }
    keep(name);
  }
  void keep(const std::string& name) const {
    fs::rename(folder_ / "out/model", folder_ / name);
    fs::copy_file(folder_ / "out/result.json", folder_ / name / "result.json");
    fs::remove_all(folder_ / "out");
  }

  // Until the first checkpoint is there; all ranks live then.
  void await_checkpoint(const std::vector<Rank>& ranks) const {
    while (!has_checkpoint()) {
      for (const Rank& rank : ranks) ASSERT_EQ(::waitpid(rank.process, nullptr, WNOHANG), 0) << bytes_of(rank.output);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

  bool says_in_run(const std::string& signal) const {
    const auto trial = Trial::open(folder_ / "out/run");
    EXPECT_TRUE(trial.ok()) << trial.status().to_string();
    return trial.ok() && (*trial)->has_tensor(signal);
  }

  static std::vector<double> numbers_of(const std::string& pattern, const std::string& text) {
    const std::regex number(pattern);
    std::vector<double> found;
    for (std::sregex_iterator it(text.begin(), text.end(), number), end; it != end; ++it)
      found.push_back(std::stod((*it)[1]));
    EXPECT_GT(found.size(), 10u) << text;
    return found;
  }

  static std::string line_of(const std::string& text, int label) {
    return nlohmann::json{{"text", text}, {"label", std::to_string(label)}}.dump();
  }
  // A training of the model "words", with what all kinds of them need.
  std::string of_words(const std::string& command) const {
    return command + " --model " + (folder_ / "words").string() + " --out " + (folder_ / "out").string() +
           " --max-length 16 --threads 1 --deterministic --learning-rate 0.01 --no-hook --checkpoint-interval 0";
  }

  double f1_of(const std::string& name) const {
    return nlohmann::json::parse(std::ifstream(folder_ / name / "result.json")).at("after").at("f1");
  }
};

// 24 examples in batches of 7: ranks have unequal parts, and in the last step of an epoch one of four has none.
TEST_F(BertRanks, AreOneProcessWithTheSameGlobalBatch) {
  const std::string command = train_command("--epochs 4 --no-hook --deterministic --global-batch 7");
  const Outcome one = bert(command);
  ASSERT_EQ(one.code, 0) << one.text;
  keep("one");
  for (const int ranks : {2, 4}) {
    const std::string name = std::to_string(ranks);
    train(ranks, command, name);
    EXPECT_LT(difference(folder_ / name, folder_ / "one"), 1e-5) << ranks << " ranks";
    EXPECT_NEAR(f1_of(name), f1_of("one"), 1e-9) << ranks << " ranks";
  }
  train(2, command, "again");
  EXPECT_EQ(bytes_of(folder_ / "again/model.safetensors"), bytes_of(folder_ / "2/model.safetensors"));
  train(4, with(command, "--batch-size", "1") + " --embedding-rows", "rows");
  EXPECT_LT(difference(folder_ / "rows", folder_ / "one"), 1e-5);
  train(2, command + " --gradients float16", "half");
  EXPECT_LT(difference(folder_ / "half", folder_ / "one"), 0.05);
  EXPECT_NE(bytes_of(folder_ / "half/model.safetensors"), bytes_of(folder_ / "2/model.safetensors"));
}

TEST_F(BertRanks, OneThatIsKilledIsNamedAndFewerGoOnFromTheCheckpoint) {
  const std::string command = train_command("--epochs 30 --deterministic --global-batch 8 --checkpoint-interval 20");
  ASSERT_EQ(bert(command + " --no-hook").code, 0);
  keep("one");
  const std::vector<Rank> ranks = start(3, command);
  await_checkpoint(ranks);
  ::kill(ranks[2].process, SIGKILL);
  for (const std::size_t rank : {0, 1}) {
    const Outcome outcome = collect(ranks[rank]);
    EXPECT_EQ(outcome.code, kStartAgainExitCode) << outcome.text;
    EXPECT_NE(outcome.text.find("rank 2 has died or was stopped"), std::string::npos) << outcome.text;
  }
  EXPECT_EQ(collect(ranks[2]).code, -1);
  ASSERT_FALSE(fs::exists(folder_ / "out/model"));
  EXPECT_TRUE(says_in_run("trainwarden/rank_lost"));
  const std::vector<Rank> fewer = start(2, command);
  const Outcome first = collect(fewer[0]);
  ASSERT_EQ(first.code, 0) << first.text;
  EXPECT_NE(first.text.find("going on after step"), std::string::npos) << first.text;
  EXPECT_EQ(collect(fewer[1]).text, "") << "ranks but the first print what is wrong only";
  const auto trial = Trial::open(folder_ / "out/run");
  ASSERT_TRUE(trial.ok()) << trial.status().to_string();
  EXPECT_EQ((*trial)->state(), trainwarden::RunState::kCompleted);
  EXPECT_EQ((*trial)->steps(Mode::kTrain).size(), 90u) << "each is there once";
  keep("fewer");
  EXPECT_LT(difference(folder_ / "fewer", folder_ / "one"), 1e-4);
  EXPECT_NEAR(f1_of("fewer"), f1_of("one"), 1e-9);
}

// Trainings of other kinds, whose evaluations and means are shared as well; the encoder of one is frozen. In the last
// step of an epoch of 23 windows one rank has none.
TEST_F(BertRanks, OfClassesAndWordsAreOneProcessToo) {
  std::vector<std::string> texts, labelled;
  for (int i = 0; i < 30; ++i) {
    texts.push_back(word(i) + " " + word(i) + " in " + word(i + 5) + " " + word(i + 5));
    labelled.push_back(line_of(word(i % 3) + " " + word(i), i % 3));
  }
  put_lines(folder_ / "texts.txt", texts);
  put_lines(folder_ / "texts.jsonl", labelled);
  put_model<BertForMaskedWords>("words", ModelType::kBert, Head::kMaskedWords);
  const std::string words =
      "train-words --held-out 0.23 --eval-batch-size 2 --texts " + (folder_ / "texts.txt").string();
  const std::string classes = "train-classes --train " + (folder_ / "texts.jsonl").string() + " --validation " +
                              (folder_ / "texts.jsonl").string() +
                              " --validation_batch_size 8 --freeze_bert_layer True";
  for (const auto& [kind, ranks] : {std::pair(words, 3), std::pair(classes, 2)}) {
    const std::string command = of_words(kind) + " --epochs 3 --global-batch 7";
    const Outcome one = bert(command);
    ASSERT_EQ(one.code, 0) << one.text;
    keep("one");
    train(ranks, command, "several");
    EXPECT_LT(difference(folder_ / "several", folder_ / "one"), 1e-5) << command;
    const std::vector<double> means = numbers_of("(?:loss|accuracy): ([0-9.]+)", bytes_of(folder_ / "output0"));
    const std::vector<double> expected = numbers_of("(?:loss|accuracy): ([0-9.]+)", one.text);
    ASSERT_EQ(means.size(), expected.size());
    for (std::size_t i = 0; i < means.size(); ++i) EXPECT_NEAR(means[i], expected[i], 1e-4) << command;
    EXPECT_EQ(json_in(folder_ / "several/result.json").at("ranks"), ranks);
    fs::remove_all(folder_ / "one"), fs::remove_all(folder_ / "several");
  }
}

// Each rank is given a file in which only those texts are right that it is to judge: the first four, the next four, ...
TEST_F(BertRanks, TakeTurnsAtWhatIsJudged) {
  std::vector<std::string> right, of_rank[2];
  for (int i = 0; i < 14; ++i) {
    right.push_back(line_of(word(i) + " " + word(i + 7), i % 3));
    for (const int rank : {0, 1})
      of_rank[rank].push_back(i / 4 % 2 == rank ? right.back() : line_of("where is", i % 3));
  }
  put_lines(folder_ / "right.jsonl", right);
  for (const int rank : {0, 1}) put_lines(folder_ / (std::to_string(rank) + ".jsonl"), of_rank[rank]);
  put_model<BertForMaskedWords>("words", ModelType::kBert, Head::kMaskedWords);
  const auto judging_by = [&](const char* file) {
    return of_words("train-classes --train " + (folder_ / "right.jsonl").string() + " --validation " +
                    (folder_ / file).string() + " --validation_batch_size 4 --global-batch 7 --max-steps 1");
  };
  const auto found_before = [&] {
    nlohmann::json before = json_in(folder_ / "out/result.json").at("before");
    before.erase("texts_per_second");
    return before;
  };
  ASSERT_EQ(bert(judging_by("right.jsonl")).code, 0);
  const nlohmann::json expected = found_before();
  for (const Rank& rank : start(2, judging_by("0.jsonl"), judging_by("1.jsonl"))) {
    const Outcome outcome = collect(rank);
    ASSERT_EQ(outcome.code, 0) << outcome.text;
  }
  EXPECT_EQ(found_before(), expected) << "by bits: each batch is that of one process";
}

TEST_F(BertRanks, AreWorkersOfOneRunThatSaysHowGradientsTravelled) {
  for (const Rank& rank : start(2, train_command("--max-steps 8 --checkpoint-interval 0 --compare-ranks 4"))) {
    const Outcome outcome = collect(rank);
    ASSERT_EQ(outcome.code, 0) << outcome.text;
  }
  const auto opened = Trial::open(folder_ / "out/run");
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  Trial& trial = **opened;
  EXPECT_EQ(trial.workers(), (std::vector<std::string>{"rank-00000", "rank-00001"}));
  EXPECT_EQ(trial.steps(Mode::kTrain).size(), 8u);
  for (const std::string& worker : trial.workers()) {
    const auto scalar = [&](const std::string& name, std::int64_t step) {
      const auto found = trial.scalar(name, step, Mode::kTrain, worker);
      EXPECT_TRUE(found.ok()) << name << " of " << worker << ": " << found.status().to_string();
      return found.value_or(NAN);
    };
    double sum = 0;
    for (const char* phase :
         {"zero_grad", "forward", "backward", "gradient_sync", "clip", "optimizer", "capture", "rest"})
      sum += scalar(std::string("phase/") + phase, 5);
    EXPECT_NEAR(sum, scalar("phase/step", 5), 1e-9);
    EXPECT_GE(scalar("trainwarden/gradient_sync/travelled_seconds", 5),
              scalar("trainwarden/gradient_sync/hidden_seconds", 5));
    EXPECT_EQ(scalar("trainwarden/replica_differs", 3), 0);
    const auto buckets = trial.value("trainwarden/gradient_sync/buckets", 5, Mode::kTrain, worker);
    ASSERT_TRUE(buckets.ok()) << buckets.status().to_string();
    EXPECT_EQ(buckets->shape[1], 5);
  }
  const auto loss = [&](const char* worker) {
    return trial.value("SpanLoss_output_0", 5, Mode::kTrain, worker)->to_doubles().at(0);
  };
  EXPECT_EQ(loss("rank-00000"), loss("rank-00001")) << "both know that of the whole batch";
}

// A rank with another learning rate stands for one with faulty memory.
TEST_F(BertRanks, OnesThatDifferAreTold) {
  const std::string command = train_command("--epochs 4 --eval-interval 100 --checkpoint-interval 8");
  const std::vector<Rank> ranks = start(2, command, with(command, "--learning-rate", "0.02"));
  for (const Rank& rank : ranks) {
    const Outcome outcome = collect(rank);
    EXPECT_EQ(outcome.code, kStartAgainExitCode) << outcome.text;
    EXPECT_NE(outcome.text.find("After step 8 these ranks have other weights than rank 0, by bits: 1"),
              std::string::npos)
        << outcome.text;
  }
  EXPECT_FALSE(has_checkpoint());
  const auto trial = Trial::open(folder_ / "out/run");
  ASSERT_TRUE(trial.ok()) << trial.status().to_string();
  EXPECT_EQ((*trial)->scalar("trainwarden/replica_differs", 7, Mode::kTrain, "rank-00001").value_or(NAN), 1);
}

TEST_F(BertRanks, WhatCannotBeIsSaid) {
  const std::vector<Rank> ranks = start(2, train_command("--no-hook --global-batch 1"));
  for (const Rank& rank : ranks) {
    const Outcome outcome = collect(rank);
    EXPECT_EQ(outcome.code, 2) << outcome.text;
    EXPECT_NE(outcome.text.find("an item or more for each of 2 ranks"), std::string::npos) << outcome.text;
  }
  EXPECT_EQ(bert(train_command("--no-hook --global-batch 8 --accumulate 2")).code, 2);
}

}  // namespace
}  // namespace bert
