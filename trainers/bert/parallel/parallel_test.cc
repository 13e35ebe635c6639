// Many processes as one training: equal to one process, equal to each other, and told who is lost.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "parallel/free_port.h"
#include "parallel/group.h"

namespace bert {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Ended {
  int code = -1;  // exit code, or -1 where a signal ended it
  std::string output, weights;
};

class ParallelTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("bert_parallel_test_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::vector<Ended> run(const std::string& mode, int ranks) {
    const int port = free_port();
    std::vector<pid_t> children;
    for (int rank = 0; rank < ranks; ++rank) children.push_back(start(mode, rank, ranks, port));
    const bool never_ends = mode == "stop" || mode == "hang";  // rank 1
    std::vector<Ended> ended(static_cast<std::size_t>(ranks));
    for (int rank = ranks - 1; rank >= 0; --rank) {
      const auto place = static_cast<std::size_t>(rank);
      if (never_ends && rank == 1) continue;
      ended[place] = collect(children[place], rank);
    }
    if (never_ends) {
      ::kill(children[1], SIGKILL);
      ended[1] = collect(children[1], 1);
    }
    return ended;
  }

 private:
  fs::path file(const char* kind, int rank) const { return folder_ / (kind + std::to_string(rank)); }

  pid_t start(const std::string& mode, int rank, int ranks, int port) {
    fs::remove(file("weights", rank));
    const std::string output = file("output", rank), weights = file("weights", rank);
    const pid_t child = ::fork();
    if (child != 0) return child;
    const auto set = [](const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); };
    set("RANK", std::to_string(rank));
    set("LOCAL_RANK", std::to_string(rank));
    set("WORLD_SIZE", std::to_string(ranks));
    set("MASTER_ADDR", "127.0.0.1");
    set("MASTER_PORT", std::to_string(port));
    set("OMP_NUM_THREADS", "1");
    if (std::freopen(output.c_str(), "w", stdout) == nullptr || ::dup2(::fileno(stdout), 2) < 0) ::_exit(126);
    ::execl(BERT_PARALLEL_RANK, BERT_PARALLEL_RANK, mode.c_str(), weights.c_str(), nullptr);
    ::_exit(127);
  }

  // A rank that hangs is killed: the test is to say so, not to hang too.
  Ended collect(pid_t child, int rank) {
    int status = 0;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    while (::waitpid(child, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > deadline) ::kill(child, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(file("output", rank)),
            contents(file("weights", rank))};
  }

  fs::path folder_;
};

// Largest difference of two files of float32, in units of the largest number.
double difference(const std::string& a, const std::string& b) {
  if (a.size() != b.size() || a.empty()) return INFINITY;
  double most = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); i += sizeof(float)) {
    float x = 0, y = 0;
    std::memcpy(&x, a.data() + i, sizeof x);
    std::memcpy(&y, b.data() + i, sizeof y);
    most = std::max(most, std::abs(static_cast<double>(x) - y));
    size = std::max(size, std::abs(static_cast<double>(y)));
  }
  return most / size;
}

void expect_all_well(const std::vector<Ended>& ranks) {
  for (const Ended& rank : ranks) {
    ASSERT_EQ(rank.code, 0) << rank.output;
    ASSERT_FALSE(rank.weights.empty());
    ASSERT_EQ(rank.weights, ranks[0].weights);
  }
}

TEST_F(ParallelTest, RanksEqualOneProcessAndRepeatBitForBit) {
  const std::vector<Ended> one = run("train", 1);
  expect_all_well(one);
  for (const int ranks : {2, 4}) {
    const std::vector<Ended> many = run("train", ranks);
    expect_all_well(many);
    EXPECT_LT(difference(many[0].weights, one[0].weights), 2e-6) << ranks << " ranks";
    EXPECT_EQ(run("train", ranks)[0].weights, many[0].weights) << ranks << " ranks";
    EXPECT_NE(many[0].output.find("first last.bias"), std::string::npos) << many[0].output;
  }
}

TEST_F(ParallelTest, AccumulationSendsOnceAndGivesTheSame) {
  const std::vector<Ended> one = run("train", 1);
  const std::vector<Ended> many = run("accumulate", 2);
  expect_all_well(many);
  EXPECT_LT(difference(many[0].weights, one[0].weights), 2e-6);
}

TEST_F(ParallelTest, Float16IsNearAndEqualOnAllRanks) {
  const std::vector<Ended> one = run("train", 1);
  const std::vector<Ended> many = run("float16", 2);
  expect_all_well(many);
  EXPECT_LT(difference(many[0].weights, one[0].weights), 2e-3);
  EXPECT_NE(many[0].weights, run("train", 2)[0].weights);
}

TEST_F(ParallelTest, SparseGradientsAsDenseOrAsRowsGiveTheSame) {
  const std::vector<Ended> one = run("train", 1);
  for (const char* mode : {"sparse", "rows"}) {
    const std::vector<Ended> many = run(mode, 4);
    expect_all_well(many);
    EXPECT_LT(difference(many[0].weights, one[0].weights), 2e-6) << mode;
  }
}

TEST_F(ParallelTest, UnusedParametersCountAsZerosAndThoseOfNoRankStay) {
  const std::vector<Ended> many = run("unused", 2);
  expect_all_well(many);
  EXPECT_EQ(run("unused", 2)[0].weights, many[0].weights);
}

TEST_F(ParallelTest, ModelsThatDifferAreToldOnAllRanks) {
  for (const Ended& rank : run("other", 3)) {
    EXPECT_EQ(rank.code, 1);
    EXPECT_NE(rank.output.find("rank 1 differs from rank 0's"), std::string::npos) << rank.output;
  }
}

TEST_F(ParallelTest, AKilledRankIsNamedByAllOthers) {
  const std::vector<Ended> ranks = run("die", 3);
  EXPECT_EQ(ranks[1].code, -1);
  for (const std::size_t rank : {0, 2}) {
    EXPECT_EQ(ranks[rank].code, kStartAgainExitCode) << ranks[rank].output;
    EXPECT_NE(ranks[rank].output.find("rank 1 has died or was stopped"), std::string::npos) << ranks[rank].output;
  }
}

TEST_F(ParallelTest, AStoppedRankIsNamedAfterTheTimeout) {
  const std::vector<Ended> ranks = run("stop", 3);
  for (const std::size_t rank : {0, 2}) {
    EXPECT_EQ(ranks[rank].code, kStartAgainExitCode) << ranks[rank].output;
    EXPECT_NE(ranks[rank].output.find("rank 1 has died or was stopped"), std::string::npos) << ranks[rank].output;
  }
}

TEST_F(ParallelTest, ARankThatLivesButDoesNotJoinIsNamed) {
  const std::vector<Ended> ranks = run("hang", 2);
  EXPECT_EQ(ranks[0].code, kStartAgainExitCode) << ranks[0].output;
  EXPECT_NE(ranks[0].output.find("rank 1 lives but does not join"), std::string::npos) << ranks[0].output;
}

TEST_F(ParallelTest, ARankThatDoesNotComeIsNamed) {
  const std::vector<Ended> ranks = run("absent", 3);
  for (const std::size_t rank : {0, 2}) {
    EXPECT_EQ(ranks[rank].code, kStartAgainExitCode) << ranks[rank].output;
  }
  EXPECT_NE(ranks[0].output.find("did not come within 3000 ms: 1"), std::string::npos) << ranks[0].output;
}

}  // namespace
}  // namespace bert
