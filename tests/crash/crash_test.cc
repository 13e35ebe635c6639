// kill -9: whatever was acknowledged is in the run, nothing else is, and the next process can go on.
//
// A run lives through several children, one after the other; each is killed at a moment that a seed has chosen, or at a
// named point. After each death the whole journal is read back and compared with what the children can have written.
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <test_paths.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "crashing_storage.h"
#include "data/format/run_event.h"
#include "hook/capture/capture_testing.h"
#include "store/storage/local_storage.h"
#include "training_pattern.h"

extern char** environ;

namespace trainwarden::crash {
namespace {

using capture::ReadRun;
using capture::ReadStep;

// A child process and what it acknowledged.
class Child {
 public:
  explicit Child(const std::vector<std::string>& arguments) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    acknowledgements_ = ends[0];
    std::vector<std::string> words = {TW_CRASH_CHILD};
    words.insert(words.end(), arguments.begin(), arguments.end());
    words.insert(words.begin() + 4, std::to_string(ends[1]));
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    EXPECT_EQ(::posix_spawn(&pid_, TW_CRASH_CHILD, nullptr, nullptr, pointers.data(), environ), 0);
    ::close(ends[1]);
  }
  ~Child() { ::close(acknowledgements_); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void kill() const { ::kill(pid_, SIGKILL); }

  // Waits for the next acknowledgement. False when there will be none.
  bool acknowledges() { return ::read(acknowledgements_, &last_acknowledged_, sizeof(std::int64_t)) > 0; }

  // Waits for its end. The last step that it acknowledged, -1 when there is none.
  std::int64_t last_acknowledged() {
    while (acknowledges()) continue;
    ::waitpid(pid_, &state_, 0);
    return last_acknowledged_;
  }
  bool was_killed() const { return WIFSIGNALED(state_) && WTERMSIG(state_) == SIGKILL; }

 private:
  pid_t pid_ = -1;
  int acknowledgements_ = -1;
  std::int64_t last_acknowledged_ = -1;
  int state_ = 0;
};

class CrashTest : public testing::Test {
 protected:
  CrashTest() { std::filesystem::remove_all(root_); }
  ~CrashTest() override { std::filesystem::remove_all(root_); }

  std::filesystem::path folder(const std::string& name) const { return root_ / name; }

  const std::filesystem::path root_ =
      std::filesystem::path(TW_BINARY_DIR) /
      (std::string("crash_test_") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

// Every number of the step is what this life must have written at it.
void check_step(const ReadStep& step, std::int64_t life) {
  const std::vector<float> expected = values_at(life, step.entry.global_step);
  ASSERT_EQ(step.values.size(), 1u);
  EXPECT_EQ(capture::floats_of(step.values.at(kValues)), expected);
  ASSERT_EQ(step.statistics.size(), 1u);
  const Statistics& statistics = step.statistics.at(kReduced).statistics;
  EXPECT_EQ(statistics.count, expected.size());
  EXPECT_EQ(statistics.max, expected.back());
  EXPECT_EQ(step.scalars.size(), 1u);
}

// `acknowledged` has the last acknowledged step of each life so far.
void check_run(const std::filesystem::path& folder, const std::vector<std::int64_t>& acknowledged) {
  const auto storage = storage::open_local_storage(folder);
  if (!storage->exists(journal::kRunFile)) {  // killed before there was a run
    for (const std::int64_t last : acknowledged) EXPECT_EQ(last, -1);
    return;
  }
  const ReadRun run = capture::read_run(*storage);
  std::map<std::int64_t, std::int64_t> last_of_life;
  for (const ReadStep& step : run.steps) {
    ASSERT_TRUE(step.scalars.contains(kLife));
    const auto life = static_cast<std::int64_t>(step.scalars.at(kLife));
    ASSERT_GE(life, 0);
    ASSERT_LT(life, static_cast<std::int64_t>(acknowledged.size())) << "an invented life";
    const auto [entry, first] = last_of_life.try_emplace(life, -1);
    EXPECT_EQ(step.entry.global_step, entry->second + 1) << "a step is missing or invented in life " << life;
    entry->second = step.entry.global_step;
    check_step(step, life);
  }
  for (std::size_t life = 0; life < acknowledged.size(); ++life) {
    const auto found = last_of_life.find(static_cast<std::int64_t>(life));
    const std::int64_t last = found == last_of_life.end() ? -1 : found->second;
    EXPECT_GE(last, acknowledged[life]) << "acknowledged steps are missing in life " << life;
  }
  for (const RunLoss& loss : run.losses) EXPECT_FALSE(loss.by_writer) << loss.cause;
}

// The last process of a run is not killed: it must find the run fit to go on, and end it.
void finish_run(const std::filesystem::path& folder) {
  HookOptions options;
  options.run_dir = folder;
  auto hook = Hook::open(options);
  ASSERT_TRUE(hook.ok()) << hook.status().to_string();
  (*hook)->save_scalar("epilogue", 1);
  ASSERT_TRUE((*hook)->close().ok());
  const ReadRun run = capture::read_run(*storage::open_local_storage(folder));
  EXPECT_TRUE(run.steps.back().scalars.contains("epilogue"));
  ASSERT_EQ(run.events.size(), 2u) << "the bill, and the end, of this life alone";
  const auto end = format::decode_run_end(run.events.back());
  EXPECT_TRUE(end.ok() && end->has_value());
}

// 200, or as many as TRAINWARDEN_KILLS says.
int wanted_kills() {
  const char* const text = std::getenv("TRAINWARDEN_KILLS");
  const int wanted = text == nullptr ? 0 : std::atoi(text);
  return wanted > 0 ? wanted : 200;
}

// Half of the children are killed at a moment after their start, which may lie before the run exists, the others at a
// moment after their first acknowledged step.
TEST_F(CrashTest, KilledAtRandomMoments) {
  constexpr int kLives = 10;
  const int runs = (wanted_kills() + kLives - 1) / kLives;
  std::int64_t kept = 0;
  std::mt19937 random(20261120);
  std::uniform_int_distribution<int> delay_us(0, 40'000);
  for (int run = 0; run < runs; ++run) {
    const std::filesystem::path run_dir = folder(std::to_string(run));
    std::vector<std::int64_t> acknowledged;
    for (int life = 0; life < kLives; ++life) {
      SCOPED_TRACE(testing::Message() << "run " << run << ", life " << life);
      Child child({run_dir.string(), std::to_string(life), std::to_string(run * kLives + life)});
      ASSERT_TRUE(life % 2 == 1 || child.acknowledges());
      // Not to wait for anything: the moment of death is the experiment.
      std::this_thread::sleep_for(std::chrono::microseconds(delay_us(random)));
      child.kill();
      acknowledged.push_back(child.last_acknowledged());
      ASSERT_TRUE(child.was_killed()) << "it ended by itself";
      check_run(run_dir, acknowledged);
      if (HasFailure()) return;
    }
    for (const std::int64_t last : acknowledged) kept += last + 1;
    finish_run(run_dir);
    std::filesystem::remove_all(run_dir);
  }
  RecordProperty("kills", runs * kLives);
  RecordProperty("acknowledged_steps", std::to_string(kept));
  std::printf("%d kills, %lld acknowledged steps, none lost\n", runs * kLives, static_cast<long long>(kept));
}

class CrashPointTest : public CrashTest, public testing::WithParamInterface<std::string> {};

// Each point must be reached, or the child would train on for ever and the test would time out.
TEST_P(CrashPointTest, KilledThere) {
  const std::filesystem::path run_dir = folder(GetParam());
  std::vector<std::int64_t> acknowledged;
  for (int count = 1; count <= 6; ++count) {
    SCOPED_TRACE(count);
    const std::string life = std::to_string(count - 1);
    Child child({run_dir.string(), life, std::to_string(count), GetParam(), std::to_string(count)});
    acknowledged.push_back(child.last_acknowledged());
    ASSERT_TRUE(child.was_killed());
    check_run(run_dir, acknowledged);
  }
  finish_run(run_dir);
}

INSTANTIATE_TEST_SUITE_P(AllPoints, CrashPointTest, testing::ValuesIn(crash_points()),
                         [](const auto& point) { return point.param; });

}  // namespace
}  // namespace trainwarden::crash
