#include "read/retention/gc_plan.h"

#include <fstream>

#include "read/retention/retention_testing.h"
#include "store/storage/lease.h"

namespace trainwarden::retention {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;
using Change = PlannedRun::Change;

constexpr std::int64_t kHourNs = 3'600'000'000'000;

class GcPlanTest : public RunsFolderTest {
 protected:
  GcPlan plan(const KeepRules& rules, const NeededRuns& needed = {}) const {
    auto plan = plan_gc(runs(), rules, needed, clock_);
    EXPECT_TRUE(plan.ok()) << plan.status().to_string();
    return plan.value_or({});
  }
  static std::map<std::string, std::string> changes(const GcPlan& plan) {
    std::map<std::string, std::string> changes;
    for (const PlannedRun& run : plan.runs) changes[run.run.name] = name(run.change);
    return changes;
  }
  static std::string reason(const GcPlan& plan, const std::string& name) {
    for (const PlannedRun& run : plan.runs) {
      if (run.run.name == name) return run.reason;
    }
    return "no such run";
  }
  // Three runs: "old", "middle" and "new", 100, 50 and 10 hours old.
  void make_three() {
    const std::map<std::string, int> ages = {{"old", 100}, {"middle", 50}, {"new", 10}};
    for (const auto& [name, age] : ages) {
      make_run(name, 4);
      set_age(name, hours(age));
    }
  }
  using Changes = std::map<std::string, std::string>;
};

TEST_F(GcPlanTest, RemovesWhatIsOlder) {
  make_three();
  KeepRules rules;
  rules.older_than_ns = 40 * kHourNs;
  const GcPlan planned = plan(rules);
  EXPECT_EQ(changes(planned), (Changes{{"old", "remove"}, {"middle", "remove"}, {"new", "none"}}));
  EXPECT_EQ(planned.freed_bytes, planned.bytes / 3 * 2);
  EXPECT_EQ(planned.runs.front().run.name, "old");
  EXPECT_EQ(planned.runs.front().freed_bytes, planned.runs.front().run.bytes);
}

// Where its training was when it saved, as a PyTorch program notes it.
TEST_F(GcPlanTest, RemovesARunWithPositions) {
  make_three();
  std::ofstream(folder_.path() / "old/positions.jsonl") << "{}\n";
  KeepRules rules;
  rules.older_than_ns = 0;
  EXPECT_EQ(changes(plan(rules))["old"], "remove") << reason(plan(rules), "old");
}

TEST_F(GcPlanTest, RemovesTheOldestUntilTheOthersFit) {
  make_three();
  KeepRules rules;
  rules.max_bytes = plan({}).bytes - 1;
  EXPECT_EQ(changes(plan(rules)), (Changes{{"old", "remove"}, {"middle", "none"}, {"new", "none"}}));
  rules.max_bytes = 0;
  rules.keep_last = 1;
  const GcPlan planned = plan(rules);
  EXPECT_EQ(changes(planned), (Changes{{"old", "remove"}, {"middle", "remove"}, {"new", "none"}}));
  EXPECT_EQ(planned.bytes_over, planned.bytes - planned.freed_bytes);
}

TEST_F(GcPlanTest, RemovesBeyondSoManyRuns) {
  make_three();
  KeepRules rules;
  rules.max_runs = 2;
  EXPECT_EQ(changes(plan(rules)), (Changes{{"old", "remove"}, {"middle", "none"}, {"new", "none"}}));
}

TEST_F(GcPlanTest, KeepsWhatIsNamedNeededAndNewest) {
  make_three();
  KeepRules rules;
  rules.older_than_ns = 0;
  rules.keep = {"mid*"};
  rules.keep_last = 1;
  const GcPlan planned = plan(rules, {{"old", "job bert reads it"}});
  EXPECT_EQ(changes(planned), (Changes{{"old", "none"}, {"middle", "none"}, {"new", "none"}}));
  EXPECT_NE(reason(planned, "old").find("job bert reads it"), std::string::npos);
  EXPECT_NE(reason(planned, "middle").find("a rule keeps mid*"), std::string::npos);
  EXPECT_NE(reason(planned, "new").find("newest"), std::string::npos);
}

TEST_F(GcPlanTest, LeavesWhatIsWrittenOrWasJustNow) {
  make_three();
  const storage::Location run = runs().beneath("old");
  const auto lease = storage::take_lease(run.storage(), journal::writer_lease("rank-00000"), clock_);
  ASSERT_TRUE(lease.ok());
  set_age("new", hours(-1));
  KeepRules rules;
  rules.older_than_ns = -2 * kHourNs;
  rules.thin_older_than_ns = 0;
  const GcPlan planned = plan(rules);
  EXPECT_EQ(changes(planned), (Changes{{"old", "none"}, {"middle", "remove"}, {"new", "none"}}));
  EXPECT_NE(reason(planned, "old").find("rank-00000 is being written"), std::string::npos);
  EXPECT_NE(reason(planned, "new").find("ten minutes"), std::string::npos);
}

TEST_F(GcPlanTest, LooksAtNothingThatIsNotOurs) {
  make_run("a", 4);
  set_age("a", hours(100));
  fs::create_directories(folder_.path() / "data");
  std::ofstream(folder_.path() / "data/precious") << "x";
  TestFolder elsewhere;
  fs::rename(folder_.path() / "a", elsewhere.path() / "a");
  fs::create_directory_symlink(elsewhere.path() / "a", folder_.path() / "a");
  KeepRules rules;
  rules.older_than_ns = 0;
  EXPECT_TRUE(plan(rules).runs.empty());
}

TEST_F(GcPlanTest, LeavesARunThatHoldsForeignFilesOrCheckpoints) {
  make_three();
  std::ofstream(folder_.path() / "old/notes.txt") << "mine";
  fs::create_directories(folder_.path() / "middle/checkpoints");
  std::ofstream(folder_.path() / "middle/checkpoints/step-000003-rank-00000.pt") << "model";
  KeepRules rules;
  rules.older_than_ns = 0;
  const GcPlan planned = plan(rules);
  EXPECT_EQ(changes(planned)["old"], "none");
  EXPECT_NE(reason(planned, "old").find("notes.txt"), std::string::npos);
  EXPECT_NE(reason(planned, "middle").find("checkpoints"), std::string::npos);
}

TEST_F(GcPlanTest, ThinsOutWhatIsOldAndNotRemoved) {
  make_three();
  KeepRules rules;
  rules.older_than_ns = 90 * kHourNs;
  rules.thin_older_than_ns = 40 * kHourNs;
  const GcPlan planned = plan(rules);
  EXPECT_EQ(changes(planned), (Changes{{"old", "remove"}, {"middle", "thin"}, {"new", "none"}}));
  for (const PlannedRun& run : planned.runs) {
    if (run.run.name != "middle") continue;
    EXPECT_EQ(run.thinning.steps, 2U);
    EXPECT_EQ(run.freed_bytes, 8000U);
  }
}

TEST_F(GcPlanTest, FinishesWhatWasBegun) {
  make_three();
  const std::string aside = storage::name_while_removed(std::string(32, 'b'));
  fs::rename(folder_.path() / "old", folder_.path() / aside);
  const GcPlan planned = plan({});
  EXPECT_EQ(changes(planned), (Changes{{aside, "finish"}, {"middle", "none"}, {"new", "none"}}));
  EXPECT_TRUE(planned.changes_anything());
}

TEST_F(GcPlanTest, ARunThatCannotBeReadStays) {
  fs::create_directories(folder_.path() / "broken");
  std::ofstream(folder_.path() / "broken/run.json") << "{";
  set_age("broken", hours(100));
  KeepRules rules;
  rules.older_than_ns = 0;
  const GcPlan planned = plan(rules);
  EXPECT_EQ(changes(planned), (Changes{{"broken", "none"}}));
}

}  // namespace
}  // namespace trainwarden::retention
