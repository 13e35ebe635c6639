#include "read/retention/run_thinning.h"

#include <fstream>

#include "read/retention/retention_testing.h"
#include "store/storage/faulty_storage.h"
#include "store/storage/lease.h"

namespace trainwarden::retention {
namespace {

namespace fs = std::filesystem;

class RunThinning : public RunsFolderTest {
 protected:
  ThinningPlan plan(const std::string& name, std::uint64_t every) const {
    const storage::Location run = runs().beneath(name);
    auto plan = plan_thinning(run.storage(), info_of(name), every);
    EXPECT_TRUE(plan.ok()) << plan.status().to_string();
    return plan.value_or({});
  }
  Result<ThinnedSegment> thin(const std::string& name, std::uint64_t every) const {
    const storage::Location run = runs().beneath(name);
    const auto changes = storage::open_local_edits(folder_.path() / name);
    return thin_run(run.storage(), *changes, info_of(name), plan(name, every), clock_);
  }

  // All that is to stay is there, and every step says of each tensor what it said before, whole or as statistics.
  void expect_readable(const std::string& name, const std::set<std::int64_t>& whole) const {
    const auto trial = open(name);
    ASSERT_NE(trial, nullptr);
    ASSERT_EQ(trial->steps().size(), 21U);
    for (std::int64_t step = 0; step < 21; ++step) {
      const std::vector<float> values = wave(step, 1000);
      const auto value = trial->value("weight", step);
      if (whole.contains(step)) {
        ASSERT_TRUE(value.ok()) << step << ": " << value.status().to_string();
        EXPECT_EQ(value->to_doubles(), std::vector<double>(values.begin(), values.end()));
      }
      EXPECT_EQ(trial->reduction("weight", step, Reduction::kMax).value(), static_cast<double>(step) + 1.5);
      EXPECT_TRUE(trial->value("bias", step).ok());
      EXPECT_EQ(trial->value("words", step)->strings, (std::vector<std::string>{"a", "b"}));
      EXPECT_EQ(trial->scalar("loss", step).value(), static_cast<double>(step));
      EXPECT_TRUE(trial->statistics("gradient", step).ok());
    }
    for (const RunLoss& loss : trial->losses()) EXPECT_EQ(loss.cause, format::kThinnedCause);
  }
  static std::set<std::int64_t> multiples(std::int64_t every) {
    std::set<std::int64_t> steps;
    for (std::int64_t step = 0; step < 21; step += every) steps.insert(step);
    steps.insert(20);
    return steps;
  }
  std::string read_segment(const std::string& name) const {
    return runs().storage().read(name + "/journal/rank-00000/seg-00000000.tw").value();
  }
  void write_segment(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_.path() / name / "journal/rank-00000/seg-00000000.tw", std::ios::binary) << bytes;
  }
  bool has_value(const std::string& name, std::int64_t step) const { return open(name)->value("weight", step).ok(); }
};

TEST_F(RunThinning, KeepsEveryNthStepWholeAndStatisticsOfTheOthers) {
  make_run("a");
  const std::uint64_t before = fs::file_size(folder_.path() / "a/journal/rank-00000/seg-00000000.tw");
  const ThinningPlan planned = plan("a", 10);
  EXPECT_EQ(planned.steps, 18U);
  EXPECT_EQ(planned.whole_steps, 3U);
  EXPECT_EQ(planned.tensors, 18U);
  EXPECT_EQ(planned.bytes, 18U * 4000);
  const auto thinned = thin("a", 10);
  ASSERT_TRUE(thinned.ok()) << thinned.status().to_string();
  EXPECT_EQ(thinned->steps, 18U);
  EXPECT_EQ(thinned->tensors, 18U);
  EXPECT_EQ(thinned->bytes_before, before);
  EXPECT_EQ(thinned->bytes_after, fs::file_size(folder_.path() / "a/journal/rank-00000/seg-00000000.tw"));
  EXPECT_LT(thinned->bytes_after + 40'000, before);
  expect_readable("a", multiples(10));
  EXPECT_FALSE(has_value("a", 5));
  const std::vector<RunLoss> losses = open("a")->losses();
  ASSERT_EQ(losses.size(), 1U);
  EXPECT_EQ(losses[0].cause, format::kThinnedCause);
  EXPECT_EQ(losses[0].count, 18U);
  EXPECT_EQ(losses[0].bytes, 18U * 4000);
}

TEST_F(RunThinning, ASecondTimeHasNothingToDo) {
  make_run("a");
  ASSERT_TRUE(thin("a", 10).ok());
  EXPECT_EQ(plan("a", 10).tensors, 0U);
  const ThinningPlan further = plan("a", 20);  // of those that it began with
  EXPECT_EQ(further.tensors, 1U);
  EXPECT_TRUE(further.thinned_steps.contains(10));
}

TEST_F(RunThinning, TheEventsAndTimesOfTheOriginalStay) {
  make_run("a");
  std::vector<std::string> events;
  std::vector<std::int64_t> times;
  const auto look = [&](std::vector<std::string>& texts, std::vector<std::int64_t>& ends) {
    const auto trial = open("a");
    TrialAccess::visit_events(*trial, [&](const std::string&, const journal::EventEntry& event) {
      texts.push_back(event.json);
      ends.push_back(event.unix_ns);
    });
    for (std::int64_t step = 0; step < 21; ++step) ends.push_back(TrialAccess::step_unix_ns(*trial, step));
  };
  look(events, times);
  ASSERT_TRUE(thin("a", 5).ok());
  std::vector<std::string> events_after;
  std::vector<std::int64_t> times_after;
  look(events_after, times_after);
  EXPECT_EQ(events_after, events);
  EXPECT_EQ(times_after, times);
}

TEST_F(RunThinning, AWorkerThatWasKilledLeavesASegmentWithoutIndex) {
  make_run("a", 21, true);
  ASSERT_TRUE(thin("a", 10).ok());
  expect_readable("a", multiples(10));
  EXPECT_EQ(open("a")->losses().size(), 1U);
}

TEST_F(RunThinning, WhatAVerdictCitesStays) {
  make_run("a");
  judge("a", R"({"type":"verdict","outcome":"fired","step":3,"evidence":[{"tensor":"weight","step":7}]})");
  ASSERT_TRUE(thin("a", 10).ok());
  std::set<std::int64_t> whole = multiples(10);
  whole.insert({3, 7});
  expect_readable("a", whole);
  EXPECT_FALSE(has_value("a", 4));
}

TEST_F(RunThinning, AVerdictWithoutATensorKeepsItsStep) {
  make_run("a");
  judge("a", R"({"type":"verdict","outcome":"fired","step":3,"evidence":[]})");
  ASSERT_TRUE(thin("a", 10).ok());
  EXPECT_TRUE(has_value("a", 3));
}

TEST_F(RunThinning, AVerdictThatAllIsWellKeepsNothing) {
  make_run("a");
  judge("a", R"({"type":"verdict","outcome":"ok","step":3,"evidence":[]})");
  ASSERT_TRUE(thin("a", 10).ok());
  EXPECT_FALSE(has_value("a", 3));
}

TEST_F(RunThinning, ASegmentWithADamagedHeaderStaysAsItIs) {
  make_run("a");
  std::string bytes = read_segment("a");
  const std::size_t header = bytes.find("TWM1", 4096);
  ASSERT_NE(header, std::string::npos);
  bytes[header + 50] = static_cast<char>(~bytes[header + 50]);
  write_segment("a", bytes);
  EXPECT_EQ(plan("a", 10).left_out.size(), 1U);
  EXPECT_EQ(plan("a", 10).tensors, 0U);
  EXPECT_TRUE(thin("a", 10).ok());
  EXPECT_EQ(read_segment("a"), bytes);
}

TEST_F(RunThinning, ASegmentWithADamagedPayloadStaysAsItIs) {
  make_run("a");
  std::string bytes = read_segment("a");
  const float element = 7.25f;  // of step 7
  const std::size_t at = bytes.find(std::string(reinterpret_cast<const char*>(&element), sizeof element));
  ASSERT_NE(at, std::string::npos);
  bytes[at] = static_cast<char>(~bytes[at]);
  write_segment("a", bytes);
  const auto thinned = thin("a", 10);
  ASSERT_TRUE(thinned.ok()) << thinned.status().to_string();
  EXPECT_EQ(thinned->tensors, 0U);
  ASSERT_EQ(thinned->left_out.size(), 1U);
  EXPECT_EQ(read_segment("a"), bytes);
  EXPECT_EQ(runs().storage().list("a/journal/rank-00000")->size(), 3U) << "no copy was left behind";
}

TEST_F(RunThinning, ARunThatIsWrittenStaysAsItIs) {
  make_run("a");
  const ThinningPlan planned = plan("a", 10);
  const storage::Location run = runs().beneath("a");
  const auto lease = storage::take_lease(run.storage(), journal::writer_lease("rank-00000"), clock_);
  ASSERT_TRUE(lease.ok());
  const auto changes = storage::open_local_edits(folder_.path() / "a");
  const auto thinned = thin_run(run.storage(), *changes, info_of("a"), planned, clock_);
  EXPECT_EQ(thinned.status().code(), Code::kFailedPrecondition);
  EXPECT_TRUE(has_value("a", 5));
}

// Whatever call is the last one: the run can be read, nothing that is to stay is lost, and the next time finishes.
TEST_F(RunThinning, IsSafeWhereverItIsInterrupted) {
  for (int calls = 0; calls < 20; ++calls) {
    const std::string name = "a" + std::to_string(calls);
    make_run(name);
    const storage::Location run = runs().beneath(name);
    DyingEdits changes(folder_.path() / name, calls);
    const auto thinned = thin_run(run.storage(), changes, info_of(name), plan(name, 10), clock_);
    expect_readable(name, multiples(10));
    ASSERT_TRUE(thin(name, 10).ok());
    expect_readable(name, multiples(10));
    EXPECT_FALSE(has_value(name, 5));
    EXPECT_EQ(run.storage().list("journal/rank-00000")->size(), 3U) << calls;
    if (thinned.ok()) return;
  }
  FAIL() << "it never came to its end";
}

TEST_F(RunThinning, IsSafeWhenTheDiskIsFull) {
  int failures = 0;
  for (int call = 0; call < 200; ++call) {
    const std::string name = "a" + std::to_string(call);
    make_run(name);
    const storage::Location run = runs().beneath(name);
    const ThinningPlan planned = plan(name, 10);
    const auto faulty = storage::create_faulty_storage(run.storage());
    faulty->set_plan({.fail_call = call, .fail_all_after = true, .short_write = true});
    const auto changes = storage::open_local_edits(folder_.path() / name);
    const auto thinned = thin_run(*faulty, *changes, info_of(name), planned, clock_);
    if (thinned.ok()) break;
    ++failures;
    expect_readable(name, multiples(10));
    EXPECT_TRUE(has_value(name, 5)) << call;
  }
  EXPECT_GT(failures, 5);
}

}  // namespace
}  // namespace trainwarden::retention
