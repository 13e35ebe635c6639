#include <fmt/format.h>

#include "core/base/bytes.h"
#include "judge/rules/builtin/training/silence_testing.h"

namespace trainwarden::rules {
namespace {

// `count` steps, so many seconds apart, of each worker.
void add_steps(TestRun& run, std::int64_t first, std::int64_t count, std::int64_t seconds, int workers = 1) {
  for (std::int64_t step = first; step < first + count; ++step) {
    for (int worker = 0; worker < workers; ++worker) run.add({.step = step, .worker = worker});
    run.clock().advance_ns(seconds * kSecondNs);
  }
}

TEST(Hang, IsANoteAfterTheLimitAndAnErrorAfterTenMinutes) {
  TestRun run;
  add_steps(run, 0, 20, 1);
  SilentRun silent(run, "Hang");
  EXPECT_EQ(silent.last_outcome(), Outcome::kOk);
  EXPECT_FALSE(silent.after(58));  // the last step lies one second and a millisecond back already
  const auto note = silent.after(59.5);
  ASSERT_TRUE(note);
  EXPECT_EQ(note->outcome, Outcome::kFired);
  EXPECT_EQ(note->severity, Severity::kInfo);
  const auto error = silent.after(600);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->severity, Severity::kError);
  ASSERT_EQ(error->evidence.size(), 1u);
  EXPECT_EQ(error->evidence[0].worker, "");
  EXPECT_EQ(error->evidence[0].quantity, "seconds_without_step");
  EXPECT_EQ(error->evidence[0].threshold, 600);
  EXPECT_EQ(error->evidence[0].global_step, 19);
  EXPECT_NE(error->message.find("since step 19"), std::string::npos) << error->message;
}

void report_groups(const TestRun& run, int worker, const std::string& groups) {
  const std::string text = fmt::format(
      R"({{"version":1,"step":20,"seconds":60,"written_unix_ns":{},"is_idle":true,"collective":null,"threads":[],)"
      R"("groups":{}}})",
      run.clock().unix_ns() + 55 * kSecondNs, groups);
  ASSERT_TRUE(run.storage()->create_folder("stalls").ok());
  ASSERT_TRUE(run.storage()->replace(fmt::format("stalls/rank-{:05}.json", worker), as_bytes(text)).ok());
}

void report_stall(const TestRun& run, std::int64_t unix_ns, bool is_idle) {
  const std::string text = fmt::format(
      R"({{"version":1,"step":20,"seconds":60,"written_unix_ns":{},"is_idle":{},"collective":"all_reduce",)"
      R"("threads":[{{"name":"MainThread","frames":["distributed_c10d.py:9 in all_reduce","* train.py:42 in main"]}}]}})",
      unix_ns, is_idle);
  ASSERT_TRUE(run.storage()->create_folder("stalls").ok());
  ASSERT_TRUE(run.storage()->replace("stalls/rank-00000.json", as_bytes(text)).ok());
}

TEST(Hang, OfWorkersThatDoNothingIsAnErrorAtOnceAndSaysWhereTheyWait) {
  for (const bool is_idle : {true, false}) {
    TestRun run;
    add_steps(run, 0, 20, 1);
    SilentRun silent(run, "Hang");
    report_stall(run, run.clock().unix_ns() + 55 * kSecondNs, is_idle);
    const auto verdict = silent.after(61);
    ASSERT_TRUE(verdict);
    EXPECT_EQ(verdict->severity, is_idle ? Severity::kError : Severity::kInfo);
    EXPECT_NE(verdict->message.find("at train.py:42 in main, in all_reduce"), std::string::npos) << verdict->message;
  }
}

TEST(Hang, SaysWhichWorkerHasBegunFewerCollectiveOperations) {
  TestRun run(2);
  add_steps(run, 0, 20, 1, 2);
  SilentRun silent(run, "Hang");
  report_groups(run, 0, R"([{"group":"0","ranks":"0-1","number":41}])");
  // What is not as the format says is left out.
  report_groups(run, 1,
                R"([7,{"group":"0","number":"many"},{"group":"0","ranks":"0-1","number":42,"operation":"all_reduce",)"
                R"("sizes":[4,"x"],"state":"started"}])");
  const auto verdict = silent.after(61);
  ASSERT_TRUE(verdict);
  EXPECT_NE(
      verdict->message.find("rank-00001 is at all_reduce of [4] (number 42), and behind it are rank-00000 (1 fewer)"),
      std::string::npos)
      << verdict->message;
}

TEST(Hang, HeedsNoReportOfAnEarlierStall) {
  TestRun run;
  add_steps(run, 0, 20, 1);
  SilentRun silent(run, "Hang");
  report_stall(run, run.clock().unix_ns() - 300 * kSecondNs, true);
  EXPECT_EQ(silent.after(61)->severity, Severity::kInfo);
}

TEST(Hang, TheLimitFollowsThePaceOfTheRun) {
  TestRun slow;
  add_steps(slow, 0, 20, 100);
  SilentRun steady(slow, "Hang");
  EXPECT_FALSE(steady.after(890));  // 10 × 100 s; the clock already stands 100 s after the last step
  EXPECT_TRUE(steady.after(910));
  TestRun uneven;
  add_steps(uneven, 0, 10, 1);
  add_steps(uneven, 10, 1, 500);
  add_steps(uneven, 11, 10, 1);
  SilentRun pausing(uneven, "Hang");
  EXPECT_FALSE(pausing.after(1490));  // 3 × 500 s
  const auto verdict = pausing.after(1510);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->severity, Severity::kError);
}

TEST(Hang, ParametersSetBothLimits) {
  TestRun run;
  add_steps(run, 0, 20, 0);
  SilentRun silent(run, "Hang:floor_seconds=0.5,hang_seconds=2");
  EXPECT_FALSE(silent.after(0.4));
  EXPECT_EQ(silent.after(1)->severity, Severity::kInfo);
  EXPECT_EQ(silent.after(2.1)->severity, Severity::kError);
}

TEST(Hang, SaysNothingBeforeThePaceIsKnown) {
  TestRun run;
  add_steps(run, 0, 10, 1);  // nine times between steps
  SilentRun early(run, "Hang");
  EXPECT_EQ(early.last_outcome(), Outcome::kInsufficientData);
  EXPECT_FALSE(early.after(10'000));
  add_steps(run, 10, 1, 1);
  SilentRun known(run, "Hang");
  EXPECT_EQ(known.last_outcome(), Outcome::kOk);
  EXPECT_TRUE(known.after(10'000));
}

TEST(Hang, SaysWhoIsBehind) {
  TestRun run(2);
  add_steps(run, 0, 20, 1, 2);
  run.add({.step = 20, .worker = 0});
  SilentRun silent(run, "Hang");
  const auto verdict = silent.after(700);
  ASSERT_TRUE(verdict);
  EXPECT_NE(verdict->message.find("Behind step 20 of the others: rank-00001 (step 19)."), std::string::npos)
      << verdict->message;
  ASSERT_EQ(verdict->evidence.size(), 2u);
  EXPECT_EQ(verdict->evidence[0].worker, "rank-00001");
}

TEST(Hang, AWorkerThatStandsStillWhileAnotherGoesOnHangs) {
  TestRun run(2);
  add_steps(run, 0, 20, 1, 2);
  add_steps(run, 20, 700, 1);
  SilentRun silent(run, "Hang");
  const auto verdict = silent.after(0);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->severity, Severity::kError);
  ASSERT_EQ(verdict->evidence.size(), 1u);
  EXPECT_EQ(verdict->evidence[0].worker, "rank-00001");
}

TEST(Hang, WhoHasLeftDoesNotHang) {
  TestRun run(2);
  add_steps(run, 0, 20, 1, 2);
  run.end(1);
  add_steps(run, 20, 700, 1);
  EXPECT_FALSE(SilentRun(run, "Hang").after(0));
  run.kill(0);
  EXPECT_FALSE(SilentRun(run, "Hang").after(10'000));
}

TEST(Hang, BadParameters) {
  const auto rule = create_rule(*parse_rule_spec("Hang:floor_seconds=-1"));
  ASSERT_FALSE(rule.ok());
  EXPECT_NE(rule.status().message().find("floor_seconds"), std::string::npos);
}

}  // namespace
}  // namespace trainwarden::rules
