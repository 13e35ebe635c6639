// kill -9 of who judges and of who delivers, at random moments and at named points: no event is lost, no delivery is
// begun again once it was recorded as done, and every action runs under one key.
//
// The test is the training: it writes a run while its children live and die beside it. In the end one child may finish;
// then the ledger is held against the journals, and the subscribers' logs against the ledger.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "act_oracle.h"
#include "act_process.h"
#include "act_scene.h"
#include "core/base/folder_testing.h"
#include "crashing_storage.h"
#include "trainwarden/hook.h"

namespace trainwarden::act {
namespace {

using std::chrono::microseconds;
using std::chrono::steady_clock;

// 1,000 in all. Under a sanitizer a process takes ten times as long to come up, and as many would take ten minutes.
#if defined(TW_SANITIZED)
constexpr int kRuns = 5;
constexpr microseconds kLongestLife{400'000};
#else
constexpr int kRuns = 50;
constexpr microseconds kLongestLife{60'000};
#endif
constexpr int kKillsOfARun = 20;
constexpr microseconds kStepTime{1'500};
constexpr int kFewestSteps = 60;  // every rule has had its say by then

// Trains without end or fault.
class Training {
 public:
  explicit Training(const std::filesystem::path& run) : hook_(Hook::open({.run_dir = run}).value()) {}

  void step() {
    hook_->save_scalar("loss", 1.0);
    hook_->end_step();
    ++steps_;
  }
  // Not to wait for anything: the moment of death is the experiment.
  void train_for(microseconds time) {
    const auto end = steady_clock::now() + time;
    while (steady_clock::now() < end) {
      step();
      std::this_thread::sleep_for(std::min(kStepTime, time));
    }
  }
  void finish() {
    while (steps_ < kFewestSteps) step();
    EXPECT_TRUE(hook_->close().ok());
  }

 private:
  std::unique_ptr<Hook> hook_;
  int steps_ = 0;
};

// Counts what makes the experiment worth its time.
struct Tally {
  int interrupted = 0;  // subscribers were killed while they were at work
  int repeated = 0;     // and told again
  int refused = 0;      // by a subscriber that was down
  int before_the_end = 0;
  int stops = 0;

  void add(const std::vector<LogLine>& log) {
    for (const LogLine& line : log) {
      if (line.outcome == "begun") ++interrupted;
      if (line.outcome == "done") --interrupted;
      if (line.outcome == "begun" && line.attempt > 1) ++repeated;
      if (line.outcome == "down") ++refused;
    }
  }
};

// Returns how many requests to stop were made.
int check_all(const ActScene& scene) {
  const events::LedgerContents ledger = read_ledger_of(scene);
  check_changes(scene, ledger);
  for (const char* subscription : {kEverything, kFlaky, kStopper}) check_deliveries(ledger, subscription);
  for (const char* subscription : {kEverything, kFlaky}) check_log(read_log(scene, subscription), ledger, subscription);
  return check_stop_requests(scene, ledger);
}

// One child judges, with what follows or without; beside it may be one that only delivers.
class Cast {
 public:
  Cast(const ActScene& scene, std::mt19937& random) : folder_(scene.run().parent_path().string()), random_(random) {}

  void fill() {
    if (!judge_) judge_.emplace(std::vector<std::string>{one_in(2) ? "watch" : "engine", folder_});
    if (!dispatcher_ && one_in(2)) dispatcher_.emplace(std::vector<std::string>{"dispatcher", folder_});
  }
  // Kills one of them. False when it had ended by itself.
  bool kill_one() {
    auto& victim = dispatcher_ && one_in(2) ? dispatcher_ : judge_;
    const bool killed = victim->kill();
    victim.reset();
    return killed;
  }

 private:
  bool one_in(int count) { return std::uniform_int_distribution<int>(1, count)(random_) == 1; }

  const std::string folder_;
  std::mt19937& random_;
  std::optional<ActProcess> judge_;
  std::optional<ActProcess> dispatcher_;
};

void set_down(const ActScene& scene, bool down) {
  if (down) {
    std::ofstream(scene.down()).put('\n');
  } else {
    std::filesystem::remove(scene.down());
  }
}

void live_and_die(const ActScene& scene, std::mt19937& random) {
  Training training(scene.run());
  training.step();
  {
    std::uniform_int_distribution<microseconds::rep> life(0, kLongestLife.count());
    Cast cast(scene, random);
    for (int kill = 0; kill < kKillsOfARun; ++kill) {
      set_down(scene, kill % 4 == 1);
      cast.fill();
      training.train_for(microseconds(life(random)));
      ASSERT_TRUE(cast.kill_one()) << "it ended by itself";
    }
  }
  set_down(scene, false);
  training.finish();
}

TEST(Kill, AtRandomMomentsLosesNoEventAndRepeatsNoDelivery) {
  std::mt19937 random(20261120);
  Tally tally;
  for (int run = 0; run < kRuns; ++run) {
    SCOPED_TRACE(testing::Message() << "run " << run);
    const TestFolder folder;
    const ActScene scene(folder.path());
    live_and_die(scene, random);
    for (const char* subscription : {kEverything, kFlaky})
      tally.before_the_end += static_cast<int>(read_log(scene, subscription).size());
    ASSERT_EQ(ActProcess({"finish", folder.path().string()}).wait(), 0);
    tally.stops += check_all(scene);
    for (const char* subscription : {kEverything, kFlaky}) tally.add(read_log(scene, subscription));
    if (testing::Test::HasFailure()) return;
  }
  RecordProperty("kills", kRuns * kKillsOfARun);
  RecordProperty("interrupted", tally.interrupted);
  RecordProperty("repeated", tally.repeated);
  RecordProperty("refused", tally.refused);
  RecordProperty("delivered_before_the_end", tally.before_the_end);
  RecordProperty("requests_to_stop", tally.stops);
  // Or the kills have hit nothing.
  EXPECT_GT(tally.before_the_end, kRuns * 10);
  EXPECT_GT(tally.interrupted, 0);
  EXPECT_GT(tally.repeated, 0);
  EXPECT_GT(tally.refused, 0);
  EXPECT_GT(tally.stops, kRuns / 2);
}

struct Point {
  std::string name;
  std::vector<int> counts;  // which time it is deadly
  friend void PrintTo(const Point& point, std::ostream* out) { *out << point.name; }
};

std::vector<Point> points() {
  std::vector<Point> points = {{"in_action", {1, 2, 20}}, {"after_action", {1, 2, 20}}};
  for (const std::string& name : crash::crash_points()) {
    const bool happens_often = name.find("append") != std::string::npos;
    points.push_back({name, happens_often ? std::vector<int>{1, 2, 3, 5, 8, 13, 21, 34, 55} : std::vector<int>{1, 2}});
  }
  return points;
}

class KillPoint : public testing::TestWithParam<Point> {};

TEST_P(KillPoint, LosesNoEventAndRepeatsNoDelivery) {
  for (const int count : GetParam().counts) {
    SCOPED_TRACE(count);
    const TestFolder folder;
    const ActScene scene(folder.path());
    Training(scene.run()).finish();
    ActProcess child({"parts", folder.path().string(), GetParam().name, std::to_string(count)});
    ASSERT_EQ(child.wait(), 128 + SIGKILL) << "the point was not reached";
    ASSERT_EQ(ActProcess({"finish", folder.path().string()}).wait(), 0);
    check_all(scene);
    // What was written in halves is told as damage; it was nothing that anybody had relied on.
    EXPECT_LE(read_ledger_of(scene).unreadable, GetParam().name == "torn_append" ? 1u : 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(AllPoints, KillPoint, testing::ValuesIn(points()),
                         [](const auto& point) { return point.param.name; });

}  // namespace
}  // namespace trainwarden::act
