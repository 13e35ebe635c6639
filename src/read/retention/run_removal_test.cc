#include "read/retention/run_removal.h"

#include <fstream>

#include "read/retention/retention_testing.h"
#include "read/retention/stored_run.h"
#include "store/storage/lease.h"

namespace trainwarden::retention {
namespace {

namespace fs = std::filesystem;

class RunRemoval : public RunsFolderTest {
 protected:
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
};

TEST_F(RunRemoval, RemovesARunAndNothingElse) {
  make_run("a", 2);
  make_run("b", 2);
  const auto changes = storage::open_local_edits(folder_.path());
  EXPECT_TRUE(remove_run(runs(), *changes, "a", info_of("a"), clock_).ok());
  EXPECT_EQ(names(), std::vector<std::string>{"b"});
}

TEST_F(RunRemoval, LeavesARunThatIsWritten) {
  make_run("a", 2);
  const storage::Location run = runs().beneath("a");
  const auto lease = storage::take_lease(run.storage(), journal::writer_lease("rank-00000"), clock_);
  ASSERT_TRUE(lease.ok());
  const auto changes = storage::open_local_edits(folder_.path());
  EXPECT_EQ(remove_run(runs(), *changes, "a", info_of("a"), clock_).code(), Code::kFailedPrecondition);
  EXPECT_EQ(open("a")->steps().size(), 2U);
}

// Its lock cannot be seen from here, and this machine's clock has jumped: what the file system says of the time counts.
TEST_F(RunRemoval, LeavesARunThatAnotherMachineWritesThoughThisClockIsWrong) {
  make_run("a", 2);
  const storage::Location run = runs().beneath("a");
  const std::string promise = journal::writer_lease("rank-00000") + ".lease";
  const std::string next = std::to_string(clock_.unix_ns());
  const std::string text = R"({"holder":"x","boot":"another","locked":true,"next_unix_ns":)" + next + "}";
  ASSERT_TRUE(run.storage().replace(promise, as_bytes(text)).ok());
  clock_.advance_ns(400 * std::int64_t{86'400'000'000'000});
  EXPECT_EQ(who_writes(run.storage(), clock_), "") << "by the clock it would be over";
  const auto changes = storage::open_local_edits(folder_.path());
  EXPECT_EQ(remove_run(runs(), *changes, "a", info_of("a"), clock_).code(), Code::kFailedPrecondition);
  EXPECT_EQ(open("a")->steps().size(), 2U);
  fs::last_write_time(folder_.path() / "a" / promise, fs::file_time_type::clock::now() - std::chrono::seconds(70));
  EXPECT_TRUE(remove_run(runs(), *changes, "a", info_of("a"), clock_).ok());
  EXPECT_TRUE(names().empty());
}

TEST_F(RunRemoval, LeavesAnotherRunThatHasItsNameByNow) {
  make_run("a", 2);
  journal::RunInfo planned = info_of("a");
  planned.id = std::string(32, '0');
  const auto changes = storage::open_local_edits(folder_.path());
  EXPECT_EQ(remove_run(runs(), *changes, "a", planned, clock_).code(), Code::kFailedPrecondition);
  EXPECT_EQ(open("a")->steps().size(), 2U);
}

TEST_F(RunRemoval, FollowsNoLink) {
  make_run("a", 2);
  fs::create_directories(folder_.path() / "outside/inner");
  std::ofstream(folder_.path() / "outside/inner/precious") << "x";
  fs::create_directory_symlink(folder_.path() / "outside", folder_.path() / "a/blackbox");
  fs::create_directory_symlink(folder_.path() / "outside/inner", folder_.path() / "a/journal/rank-00001");
  const auto changes = storage::open_local_edits(folder_.path());
  EXPECT_TRUE(remove_run(runs(), *changes, "a", info_of("a"), clock_).ok());
  EXPECT_EQ(names(), std::vector<std::string>{"outside"});
  EXPECT_TRUE(fs::exists(folder_.path() / "outside/inner/precious"));
}

// Whatever call is the last one: the run is there whole, or it is none any more, and the next time finishes.
TEST_F(RunRemoval, IsSafeWhereverItIsInterrupted) {
  for (int calls = 0; calls < 40; ++calls) {
    make_run("a", 2);
    DyingEdits changes(folder_.path(), calls);
    const Status status = remove_run(runs(), changes, "a", info_of("a"), clock_);
    if (fs::exists(folder_.path() / "a")) {
      EXPECT_EQ(open("a")->steps().size(), 2U) << calls;
    } else if (!status.ok()) {
      const auto unfinished = unfinished_removals(runs().storage());
      ASSERT_TRUE(unfinished.ok());
      ASSERT_EQ(unfinished->size(), 1U) << calls;
    }
    const auto whole = storage::open_local_edits(folder_.path());
    for (const std::string& name : unfinished_removals(runs().storage()).value_or({})) {
      EXPECT_TRUE(finish_removal(runs().storage(), *whole, name).ok());
    }
    if (status.ok()) {
      EXPECT_TRUE(names().empty());
      return;
    }
    fs::remove_all(folder_.path() / "a");
    EXPECT_TRUE(names().empty()) << calls;
  }
  FAIL() << "it never came to its end";
}

}  // namespace
}  // namespace trainwarden::retention
