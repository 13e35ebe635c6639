// Many processes of one job: each writes its own journal, and a step is complete when all that live have ended it.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/folder_testing.h"
#include "store/journal/run_folder.h"
#include "trainwarden/trial.h"

extern char** environ;

namespace trainwarden {
namespace {

using Variables = std::map<std::string, std::string>;

// One worker_program. It ends with the object.
class Worker {
 public:
  Worker(const Variables& variables, const std::filesystem::path& errors) {
    int to_child[2];
    int from_child[2];
    EXPECT_EQ(::pipe2(to_child, O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(from_child, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, to_child[0], STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, from_child[1], STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    std::vector<std::string> words;
    for (const auto& [name, value] : variables) words.push_back(name + "=" + value);
    std::vector<char*> environment;
    for (std::string& word : words) environment.push_back(word.data());
    environment.push_back(nullptr);
    char program[] = TW_WORKER_PROGRAM;
    char* arguments[] = {program, nullptr};
    EXPECT_EQ(::posix_spawn(&pid_, program, &actions, nullptr, arguments, environment.data()), 0);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(to_child[0]);
    ::close(from_child[1]);
    orders_ = to_child[1];
    answers_ = from_child[0];
  }
  ~Worker() {
    ::close(orders_);
    ::close(answers_);
    if (pid_ > 0) end();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  bool answers(char expected) const {
    char letter = 0;
    return ::read(answers_, &letter, 1) == 1 && letter == expected;
  }
  bool obeys(char letter) const { return ::write(orders_, &letter, 1) == 1 && answers(letter); }
  void kill() {
    ::kill(pid_, SIGKILL);
    EXPECT_TRUE(WIFSIGNALED(end()));
  }
  int exit_code() { return WEXITSTATUS(end()); }

 private:
  int end() {
    int state = 0;
    ::waitpid(pid_, &state, 0);
    pid_ = -1;
    return state;
  }
  pid_t pid_ = -1;
  int orders_ = -1;
  int answers_ = -1;
};

class Workers : public testing::Test {
 protected:
  // Started, its hook perhaps not open yet.
  std::unique_ptr<Worker> launch(int rank, int world_size, Variables variables = {}) const {
    ::signal(SIGPIPE, SIG_IGN);
    variables.insert({{"TRAINWARDEN_RUN_DIR", run_.string()},
                      {"RANK", std::to_string(rank)},
                      {"WORLD_SIZE", std::to_string(world_size)},
                      {"TRAINWARDEN_LOG_LEVEL", "error"}});
    return std::make_unique<Worker>(variables, errors_of(rank));
  }
  std::unique_ptr<Worker> start(int rank, int world_size) const {
    auto worker = launch(rank, world_size);
    EXPECT_TRUE(worker->answers('r')) << said(rank);
    return worker;
  }
  std::filesystem::path errors_of(int rank) const { return root_ / (std::to_string(rank) + ".err"); }
  std::string said(int rank) const {
    std::ifstream file(errors_of(rank));
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  std::unique_ptr<Trial> open() const {
    auto trial = Trial::open(run_);
    EXPECT_TRUE(trial.ok()) << trial.status().to_string();
    return *std::move(trial);
  }

  const TestFolder folder_;
  const std::filesystem::path root_ = folder_.path();
  const std::filesystem::path run_ = root_ / "run";
};

using Steps = std::vector<std::int64_t>;

TEST_F(Workers, AllStartAtTheSameInstant) {
  constexpr int kWorkers = 6;
  for (int round = 0; round < 3; ++round) {
    std::vector<std::unique_ptr<Worker>> workers;
    for (int rank = 0; rank < kWorkers; ++rank) workers.push_back(launch(rank, kWorkers));
    for (int rank = 0; rank < kWorkers; ++rank) {
      ASSERT_TRUE(workers[static_cast<std::size_t>(rank)]->answers('r')) << rank << ": " << said(rank);
    }
    for (const auto& worker : workers) ASSERT_TRUE(worker->obeys('s'));
    const auto trial = open();
    EXPECT_EQ(trial->world_size(), kWorkers);
    EXPECT_EQ(trial->workers().size(), std::size_t{kWorkers});
    EXPECT_EQ(trial->steps(), Steps{0});
    EXPECT_EQ(trial->workers_of("rank", 0).size(), std::size_t{kWorkers});
    EXPECT_EQ(trial->scalar("rank", 0, Mode::kGlobal, "rank-00005").value_or(-1), 5);
    for (const auto& worker : workers) ASSERT_TRUE(worker->obeys('c'));
    ASSERT_TRUE(trial->refresh().ok());
    EXPECT_EQ(trial->state(), RunState::kCompleted);
    std::filesystem::remove_all(run_);
  }
}

TEST_F(Workers, AStepIsCompleteWhenTheLastHasEndedIt) {
  const auto first = start(0, 2);
  const auto second = start(1, 2);
  ASSERT_TRUE(first->obeys('s'));
  const auto trial = open();
  EXPECT_EQ(trial->step_state(0), StepState::kNotYetAvailable);
  EXPECT_EQ(trial->last_complete_step(), -1);
  ASSERT_TRUE(second->obeys('s'));
  ASSERT_TRUE(trial->refresh().ok());
  EXPECT_EQ(trial->step_state(0), StepState::kAvailable);
}

TEST_F(Workers, AKilledOneDoesNotHoldTheOthers) {
  std::vector<std::unique_ptr<Worker>> workers;
  for (int rank = 0; rank < 3; ++rank) workers.push_back(start(rank, 3));
  for (const auto& worker : workers) ASSERT_TRUE(worker->obeys('s'));
  workers[1]->kill();
  ASSERT_TRUE(workers[0]->obeys('s'));
  const auto trial = open();
  EXPECT_EQ(trial->step_state(1), StepState::kNotYetAvailable) << "the third still lives";
  ASSERT_TRUE(workers[2]->obeys('s'));
  ASSERT_TRUE(trial->refresh().ok());
  EXPECT_EQ(trial->steps(), (Steps{0, 1}));
  EXPECT_EQ(trial->workers_of("rank", 1), (std::vector<std::string>{"rank-00000", "rank-00002"}));
  EXPECT_EQ(trial->state(), RunState::kRunning);
}

TEST_F(Workers, AKilledOneMayComeBack) {
  const auto first = start(0, 2);
  const auto second = start(1, 2);
  second->kill();
  const auto again = start(1, 2);
  for (const Worker* worker : {first.get(), again.get()}) ASSERT_TRUE(worker->obeys('s'));
  EXPECT_EQ(open()->workers_of("rank", 0).size(), 2u);
}

TEST_F(Workers, ALateOneIsWaitedFor) {
  const auto first = start(0, 2);
  for (int step = 0; step < 3; ++step) ASSERT_TRUE(first->obeys('s'));
  const auto trial = open();
  EXPECT_TRUE(trial->steps().empty());
  EXPECT_EQ(trial->steps(Mode::kGlobal, true), (Steps{0, 1, 2}));
  const auto late = start(1, 2);
  for (int step = 0; step < 2; ++step) ASSERT_TRUE(late->obeys('s'));
  ASSERT_TRUE(trial->refresh().ok());
  EXPECT_EQ(trial->steps(), (Steps{0, 1}));
}

TEST_F(Workers, OneOfAnotherWorldSizeIsToldWhy) {
  const auto first = start(0, 2);
  const auto stranger = launch(2, 3);
  EXPECT_FALSE(stranger->answers('r'));
  EXPECT_EQ(stranger->exit_code(), 9);
  EXPECT_NE(said(2).find("is a run of 2 workers and this one was started as one of 3; give every worker the same world "
                         "size, or use a new folder"),
            std::string::npos)
      << said(2);
}

TEST_F(Workers, TwoOfTheSameRankAreToldWhy) {
  const auto first = start(0, 1);
  const auto twin = launch(0, 1);
  EXPECT_FALSE(twin->answers('r'));
  EXPECT_EQ(twin->exit_code(), 9);
  EXPECT_NE(said(0).find("writer.lock"), std::string::npos) << said(0);
}

TEST_F(Workers, LaunchersAndIncludeWorkersAreRead) {
  const Variables one = {{"TRAINWARDEN_INCLUDE_WORKERS", "one"}};
  const auto second = launch(1, 2, one);
  ASSERT_TRUE(second->answers('r'));
  ASSERT_TRUE(second->obeys('s'));
  EXPECT_FALSE(std::filesystem::exists(run_));
  const auto first = launch(0, 2, one);
  ASSERT_TRUE(first->answers('r'));
  ASSERT_TRUE(first->obeys('s'));
  const auto trial = open();
  EXPECT_EQ(trial->world_size(), 1);
  EXPECT_EQ(trial->steps(), Steps{0});
}

}  // namespace
}  // namespace trainwarden
