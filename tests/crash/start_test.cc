// Many workers that start at once on one volume, all with the same process id: every hook opens, every run is whole.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <test_paths.h>
#include <filesystem>
#include <string>
#include <vector>

#include "hook/capture/capture_testing.h"
#include "store/storage/local_storage.h"

extern char** environ;

namespace trainwarden::crash {
namespace {

constexpr int kRuns = 60;
constexpr int kWorkers = 4;

class StartTest : public testing::Test {
 protected:
  StartTest() {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
    EXPECT_EQ(::pipe2(start_, O_CLOEXEC), 0);
  }
  ~StartTest() override { std::filesystem::remove_all(root_); }

  std::string folder(int run) const { return root_ / std::to_string(run); }

  // It waits until start_all().
  void spawn(int run, int rank) {
    std::vector<std::string> words = {TW_START_CHILD, folder(run), std::to_string(rank), std::to_string(kWorkers), "3"};
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, start_[0], 3);
    pid_t pid = -1;
    EXPECT_EQ(::posix_spawn(&pid, TW_START_CHILD, &actions, nullptr, pointers.data(), environ), 0);
    ::posix_spawn_file_actions_destroy(&actions);
    children_.push_back(pid);
  }

  void start_all() {
    ::close(start_[0]);
    ::close(start_[1]);
  }

  // How many have not ended well.
  int failures() {
    int count = 0;
    for (const pid_t pid : children_) {
      int state = 0;
      ::waitpid(pid, &state, 0);
      if (!WIFEXITED(state) || WEXITSTATUS(state) != 0) ++count;
    }
    return count;
  }

 private:
  const std::filesystem::path root_ = std::filesystem::path(TW_BINARY_DIR) / "start_test";
  int start_[2] = {-1, -1};
  std::vector<pid_t> children_;
};

TEST_F(StartTest, SixtyRunsOfFourWorkersWithTheSameProcessId) {
  for (int run = 0; run < kRuns; ++run) {
    for (int rank = 0; rank < kWorkers; ++rank) spawn(run, rank);
  }
  start_all();
  EXPECT_EQ(failures(), 0) << "of " << kRuns * kWorkers << " hooks";
  for (int run = 0; run < kRuns; ++run) {
    SCOPED_TRACE(run);
    const auto storage = storage::open_local_storage(folder(run));
    EXPECT_EQ(storage->list("").value_or({}), (std::vector<std::string>{"control", "journal", "run.json"}));
    for (int rank = 0; rank < kWorkers; ++rank) {
      const capture::ReadRun worker = capture::read_run(*storage, rank);
      ASSERT_EQ(worker.steps.size(), 1u);
      EXPECT_EQ(worker.steps[0].scalars.at("rank"), rank);
      EXPECT_TRUE(worker.losses.empty());
    }
  }
}

}  // namespace
}  // namespace trainwarden::crash
