#include "read/upkeep/record_log.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "read/trial/run_testing.h"
#include "store/journal/golden_run.h"

namespace trainwarden::upkeep {
namespace {

class RecordLogTest : public testing::Test {
 protected:
  static std::unique_ptr<RecordLog> open(const std::shared_ptr<storage::MemoryStorage>& storage,
                                         const LogFilter& filter = {}) {
    auto log = RecordLog::open(storage::Location(storage, "run"), filter);
    EXPECT_TRUE(log.ok()) << log.status().to_string();
    return *std::move(log);
  }

  static LogVisitor into(std::vector<RunLogLine>& lines) {
    return [&lines](const RunLogLine& record) {
      lines.push_back(record);
      lines.back().samples.clear();
      for (const auto& sample : record.samples) lines.back().samples.emplace_back(nullptr, sample.second);
      return Status();
    };
  }

  static std::vector<RunLogLine> all(const std::shared_ptr<storage::MemoryStorage>& storage,
                                     const LogFilter& filter = {}) {
    std::vector<RunLogLine> lines;
    const auto log = open(storage, filter);
    EXPECT_TRUE(log->visit_all(into(lines)).ok());
    return lines;
  }

  static std::string text_of(const std::vector<RunLogLine>& lines) {
    std::string text;
    for (const RunLogLine& line : lines) {
      text += std::string(name(line.kind)) + (line.step >= 0 ? " " + std::to_string(line.step) : "") +
              (line.tensor.empty() ? "" : " " + line.tensor) + "\n";
    }
    return text;
  }

  static void add_step(TestRun& run, std::int64_t step) {
    run.clock().advance_ns(1'000'000'000);
    run.add({.step = step, .tensors = {kept("w", {1, 2, 3}), scalar("loss", 0.5f)}});
  }
};

TEST_F(RecordLogTest, RecordsComeInTheOrderOfTime) {
  TestRun run;
  add_step(run, 0);
  run.clock().advance_ns(1);
  run.event(R"({"type":"note"})");
  run.sample({.name = "cpu"}, {1, 2}, 100'000'000);
  add_step(run, 1);
  run.end();
  EXPECT_EQ(text_of(all(run.storage())),
            "step 0\ntensor 0 w\ntensor 0 loss\nevent\nsamples\nsamples\nstep 1\ntensor 1 w\ntensor 1 loss\nevent\n");
}

TEST_F(RecordLogTest, FiltersNarrowIt) {
  TestRun run;
  for (int step = 0; step < 4; ++step) add_step(run, step);
  run.event(R"({"type":"note"})");
  run.sample({.name = "cpu"}, {1}, 1);
  run.end();
  EXPECT_EQ(text_of(all(run.storage(), {.kinds = {LogKind::kStep}})), "step 0\nstep 1\nstep 2\nstep 3\n");
  EXPECT_EQ(text_of(all(run.storage(), {.tensors = {"^w$"}, .first_step = 1, .end_step = 3})),
            "tensor 1 w\ntensor 2 w\n");
  EXPECT_EQ(text_of(all(run.storage(), {.kinds = {LogKind::kStep}, .tensors = {"w"}, .first_step = 3})), "step 3\n");
  EXPECT_EQ(text_of(all(run.storage(), {.kinds = {LogKind::kSamples}})), "samples\n");
  EXPECT_EQ(text_of(all(run.storage(), {.kinds = {LogKind::kEvent, LogKind::kSamples}, .first_step = 0})), "");
  const auto unknown = RecordLog::open(storage::Location(run.storage()), {.journals = {"rank-00007"}});
  EXPECT_EQ(unknown.status().code(), Code::kNotFound);
  EXPECT_NE(unknown.status().message().find("rank-00000"), std::string::npos);
  EXPECT_EQ(RecordLog::open(storage::Location(run.storage()), {.tensors = {"("}}).status().code(),
            Code::kInvalidArgument);
}

TEST_F(RecordLogTest, ValuesAreReadOnRequest) {
  TestRun run;
  run.add({.step = 0,
           .tensors = {kept("w", {1, 2, 3}), summarised("s", {4, 5}), scalar("l", 0.25f), shape_only("h", {1, 2}),
                       single_reductions("r", {{Reduction::kMean, true, 7}})}});
  const auto lines = all(run.storage(), {.kinds = {LogKind::kTensor}, .with_values = true});
  ASSERT_EQ(lines.size(), 5u);
  const auto line = [&](std::string_view tensor) {
    return *std::find_if(lines.begin(), lines.end(), [&](const RunLogLine& each) { return each.tensor == tensor; });
  };
  EXPECT_EQ(line("w").value->to_doubles(), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(line("w").shape.element_count(), 3);
  EXPECT_EQ(line("s").statistics->max, 5);
  EXPECT_EQ(line("l").scalar, 0.25);
  EXPECT_TRUE(line("h").has_shape);
  ASSERT_EQ(line("r").reductions.size(), 1u);
  EXPECT_EQ(line("r").reductions[0].value, 7);
  EXPECT_FALSE(all(run.storage(), {.tensors = {"w"}})[0].value.has_value());
}

TEST_F(RecordLogTest, TheLastOnesAreTheEndOfAll) {
  TestRun run;
  for (int step = 0; step < 50; ++step) {
    add_step(run, step);
    if (step % 7 == 0) run.event(R"({"type":"note"})");
    run.sample({.name = "cpu"}, {1, 2, 3}, 10'000'000);
  }
  run.clock().advance_ns(std::int64_t{3600} * 1'000'000'000);  // a long pause, as that of a night
  run.end();
  const std::vector<RunLogLine> lines = all(run.storage());
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{100},
                                  lines.size(), lines.size() + 5}) {
    std::vector<RunLogLine> last;
    const auto log = open(run.storage());
    ASSERT_TRUE(log->visit_last(count, into(last)).ok());
    const std::size_t expected = std::min(count, lines.size());
    EXPECT_EQ(text_of(last), text_of({lines.end() - static_cast<std::ptrdiff_t>(expected), lines.end()})) << count;
  }
}

TEST_F(RecordLogTest, WhatComesIsSeenOnceAndJournalsThatComeToo) {
  TestRun run(2);
  add_step(run, 0);
  const auto log = open(run.storage());
  std::vector<RunLogLine> lines;
  ASSERT_TRUE(log->refresh().ok());
  ASSERT_TRUE(log->visit_new(into(lines)).ok());
  EXPECT_TRUE(lines.empty());
  add_step(run, 1);
  run.sample({.name = "cpu"}, {1, 2}, 1);
  run.add({.step = 0, .tensors = {kept("w", {9})}, .worker = 1});
  ASSERT_TRUE(log->refresh().ok());
  ASSERT_TRUE(log->visit_new(into(lines)).ok());
  EXPECT_EQ(text_of(lines), "step 1\ntensor 1 w\ntensor 1 loss\nsamples\nsamples\nstep 0\ntensor 0 w\n");
  EXPECT_EQ(log->state(), RunState::kRunning);
  run.end(0);
  run.end(1);
  lines.clear();
  ASSERT_TRUE(log->refresh().ok());
  ASSERT_TRUE(log->visit_new(into(lines)).ok());
  EXPECT_EQ(text_of(lines), "event\nevent\n");
  EXPECT_EQ(log->state(), RunState::kCompleted);
}

TEST_F(RecordLogTest, DamageIsALineThatSaysSo) {
  TestRun run;
  add_step(run, 0);
  add_step(run, 1);
  run.end();
  const std::string path = "journal/rank-00000/seg-00000000.tw";
  std::string content = run.storage()->content(path);
  const float element = 2.0f;
  const std::size_t at = content.find(std::string(reinterpret_cast<const char*>(&element), sizeof element));
  ASSERT_NE(at, std::string::npos);
  content[at] ^= 1;
  run.storage()->set_content(path, content);
  const auto lines = all(run.storage(), {.tensors = {"w"}, .with_values = true});
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_FALSE(lines[0].problem.ok());
  EXPECT_TRUE(lines[1].problem.ok());
  EXPECT_EQ(lines[1].value->to_doubles(), (std::vector<double>{1, 2, 3}));
}

TEST_F(RecordLogTest, GoldenRunsAreReadWhole) {
  const std::shared_ptr<storage::MemoryStorage> first = journal::load_golden_run();
  const auto lines = all(first, {.kinds = {LogKind::kStep, LogKind::kVerdict, LogKind::kAction}});
  const auto count = [&](LogKind kind) {
    return std::count_if(lines.begin(), lines.end(), [&](const RunLogLine& each) { return each.kind == kind; });
  };
  EXPECT_EQ(count(LogKind::kStep), static_cast<std::ptrdiff_t>(journal::golden_steps().size()));
  EXPECT_GE(count(LogKind::kVerdict), 1);
  EXPECT_GE(count(LogKind::kAction), 1);
  const std::shared_ptr<storage::MemoryStorage> operators = journal::load_golden_run(journal::Golden::kOperators);
  const auto calls = all(operators, {.kinds = {LogKind::kOperators}});
  ASSERT_FALSE(calls.empty());
  EXPECT_EQ(calls[0].calls, journal::golden_operators(static_cast<std::size_t>(0)).calls.size());
}

}  // namespace
}  // namespace trainwarden::upkeep
