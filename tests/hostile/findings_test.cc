// Small folders that took gigabytes or many seconds, as they were found: each under 512 MiB and 20 s, with what was
// too much told as damage of that run and all else shown.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "crafted_run.h"
#include "data/format/collection_json.h"
#include "data/format/columns.h"
#include "data/format/json.h"
#include "data/format/scalars_record.h"
#include "data/format/segment_start.h"
#include "findings.h"
#include "judge/rules/rule_summary.h"
#include "judge/rules/verdict_record.h"
#include "trainwarden/trial.h"
#include "ui/views/run_row.h"

namespace trainwarden::hostile {
namespace {

namespace fs = std::filesystem;
using format::FrameKind;

TEST_F(Findings, StepsOfAnIndexThatTellTheSameRecords) {
  CraftedSegment segment("rank-00000", 1);
  segment.add_names({"a"});
  std::vector<format::ScalarRow> rows(20'000, {0, 1.0});
  segment.add(FrameKind::kScalars, format::encode_scalars(rows), 9);
  const auto frame = static_cast<std::uint32_t>(segment.index().frames.size() - 1);
  for (std::uint32_t i = 0; i < 20'000; ++i)
    segment.index().records.push_back({0, format::RecordForm::kScalar, frame, i});
  segment.end_step(9);
  segment.seal([](format::SegmentIndex& index) {
    const format::StepIndexRow step = index.steps[0];
    for (std::int64_t i = 0; i < 5'000; ++i) {
      index.steps.push_back(step);
      index.steps.back().global_step = 10 + i;
    }
  });
  segment.write(run_);
  expect_bounded();
  expect_loss("damaged index");
}

TEST_F(Findings, StepsThatShareMoreRecordsThanTheirFramesHold) {
  CraftedSegment segment("rank-00000", 1);
  segment.add_names({"a"});
  for (std::int64_t step = 9; step < 5'009; ++step) segment.add_scalar_step(step, 0, 1.0);
  segment.seal([](format::SegmentIndex& index) {
    index.layouts = {20'000};
    index.records.clear();
    for (std::uint32_t i = 0; i < 20'000; ++i) index.records.push_back({0, format::RecordForm::kScalar, 0, i});
    for (format::StepIndexRow& step : index.steps) step.first_frame = step.frame - 1;
  });
  segment.write(run_);
  expect_bounded();
  expect_loss("damaged index");
}

TEST_F(Findings, StepsThatShareRecordsInHoles) {
  CraftedSegment segment("rank-00000", 1);
  segment.add_names({"a"});
  for (std::int64_t step = 9; step < 5'009; ++step) {
    segment.add_hole(FrameKind::kScalars, "x", 20'000, step);
    segment.end_step(step);
  }
  segment.seal([](format::SegmentIndex& index) {
    index.layouts = {20'000};
    index.records.clear();
    for (std::uint32_t i = 0; i < 20'000; ++i) index.records.push_back({0, format::RecordForm::kScalar, 0, i});
    for (format::StepIndexRow& step : index.steps) step.first_frame = step.frame - 1;
  });
  segment.write(run_);
  expect_bounded();
  expect_loss("the budget for reading");
}

TEST_F(Findings, WordsThatAreAHole) {
  CraftedSegment segment("rank-00000", 1);
  segment.add_hole(FrameKind::kEvent, "{\"type\":\"note\"}", std::uint64_t{3} << 30);
  segment.add_names({"a"});
  segment.add_scalar_step(9, 0, 2.0);
  segment.write(run_);
  expect_bounded();
  expect_loss("the budget for reading");
  const auto trial = Trial::open(run_);
  ASSERT_TRUE(trial.ok());
  EXPECT_EQ((*trial)->scalar("a", 9).value_or(0), 2.0) << "what lies behind it is there";
}

TEST_F(Findings, ManyWordsThatAreHoles) {
  if (kSanitized) GTEST_SKIP() << "each look reads a gibibyte, up to its budget";
  CraftedSegment segment("rank-00000", 1);
  for (int i = 0; i < 200; ++i) segment.add_hole(FrameKind::kEvent, "x", std::uint64_t{30} << 20);
  segment.seal();
  segment.write(run_);
  expect_bounded();
  expect_loss("the budget for reading");
}

TEST_F(Findings, FramesWithinFrames) {
  CraftedSegment inner("rank-00000", 1);
  for (int i = 0; i < 9'000; ++i) inner.add(FrameKind::kEvent, "");
  // Each claims all that follows: the walk steps over them, an index may not point into them.
  format::SegmentIndex index = inner.index();
  const std::uint64_t end = index.frames.back().offset + format::kFrameHeaderBytes;
  for (std::size_t i = 1; i < index.frames.size(); ++i) {
    index.frames[i].payload_bytes = end - index.frames[i].offset - format::kFrameHeaderBytes;
  }
  inner.seal_with(format::encode_segment_index(index), 0, static_cast<std::uint32_t>(index.frames.size()));
  inner.write(run_);
  expect_bounded();
  expect_loss("damaged index");
}

TEST_F(Findings, AnIndexThatIsAHole) {
  CraftedSegment segment("rank-00000", 1);
  // Ten million steps of zeros: the head says how long the columns are.
  format::SegmentIndex index;
  const std::int64_t steps = 10'000'000;
  std::vector<format::SafetensorsEntry> entries;
  for (const char* name : {"frame.offset", "frame.step", "frame.payload_bytes", "frame.unix_ns"}) {
    entries.push_back({name,
                       name == std::string_view("frame.step") || name == std::string_view("frame.unix_ns")
                           ? DType::kInt64
                           : DType::kUInt64,
                       {1}});
  }
  for (const char* name : {"step.global_step", "step.mode_step", "step.unix_ns"})
    entries.push_back({name, DType::kInt64, {steps}});
  for (const char* name : {"step.frame", "step.loss_count", "step.first_record", "step.record_count"}) {
    entries.push_back({name, DType::kUInt32, {steps}});
  }
  entries.push_back({"step.mode", DType::kUInt8, {steps}});
  entries.push_back({"frame.kind", DType::kUInt8, {1}});
  for (const char* name : {"record.tensor", "record.frame", "record.row"})
    entries.push_back({name, DType::kUInt32, {0}});
  entries.push_back({"record.form", DType::kUInt8, {0}});
  const std::string head = format::encode_safetensors_header(entries, {});
  segment.seal_with(head, 4 * 8 + 1 + steps * (3 * 8 + 4 * 4 + 1), 1);
  segment.write(run_);
  expect_bounded();
  expect_loss("the budget for reading");
}

TEST_F(Findings, AFileThatIsNothingButAHole) {
  SparseFile file;
  file.append("not a frame");
  file.append_hole(std::uint64_t{1} << 40);
  file.write(run_ / "journal/rank-00000/seg-00000001.tw");
  expect_bounded();
  expect_loss("the budget for reading");
}

TEST_F(Findings, AValueThatIsAHole) {
  CraftedSegment segment("rank-00000", 1);
  const std::int64_t elements = std::int64_t{3} << 30;
  segment.add_hole(FrameKind::kBundle, format::encode_safetensors_header({{"a", DType::kUInt8, {elements}}}, {}),
                   static_cast<std::uint64_t>(elements), 9);
  segment.end_step(9);
  segment.add(FrameKind::kEvent, R"({"type":"run_end","stopped":false,"reason":"x"})");
  segment.write(run_);
  const Ending outcome = run_limited([&]() -> std::string {
    const auto trial = Trial::open(run_);
    if (!trial.ok()) return trial.status().to_string();
    const Status refused = (*trial)->value("a", 9).status();
    if (refused.code() == Code::kOk) return "a value of 3 GiB was read";
    return refused.message().empty() ? "nothing is said" : "";
  });
  EXPECT_EQ(outcome.fault, "");
  expect_bounded();
}

TEST_F(Findings, BracketsInPlaceOfARun) {
  write_text(run_ / "run.json", std::string((16 << 20) - 1, '['));
  expect_bounded(false);
  const auto row = views::read_run_row(run_);
  EXPECT_EQ(row.unreadable.code(), Code::kDataLoss);
  EXPECT_NE(row.unreadable.message().find("nested deeper than"), std::string::npos) << row.unreadable.message();
}

TEST_F(Findings, MillionsOfValuesInPlaceOfARun) {
  std::string text = "{\"a\":[";
  while (text.size() < static_cast<std::size_t>(many(15 << 20))) text += "{},{\"\":0},[],";
  write_text(run_ / "run.json", text + "0]}");
  expect_bounded(false);
}

TEST_F(Findings, ManyCollectionsOfOneTensor) {
  std::vector<std::string> collections;
  for (int i = 0; i < many(80'000); ++i) collections.push_back(fmt::format("c{}", 80'000 - i));
  CraftedSegment segment("rank-00000", 1);
  segment.add_names({"a"}, collections);
  segment.add_scalar_step(9, 0, 2.0);
  segment.write(run_);
  expect_bounded();
}

TEST_F(Findings, ManyNames) {
  std::vector<std::string> names;
  for (int i = 0; i < many(120'000); ++i) names.push_back(fmt::format("t{}", i));
  CraftedSegment segment("rank-00000", 1);
  segment.add_names(names);
  segment.add_scalar_step(9, 0, 2.0);
  segment.write(run_);
  expect_bounded();
}

TEST_F(Findings, ManyCollectionsOfManyTensors) {
  format::SegmentStart start;
  start.run = kRunId;
  start.writer = "rank-00000";
  start.segment = 1;
  for (int i = 0; i < many(20'000); ++i) {
    Collection collection;
    collection.name = fmt::format("c{}", i);
    collection.tensor_names = {fmt::format("t{}", i % 1000)};
    start.collections.push_back(collection);
  }
  CraftedSegment segment("rank-00000", 1, false);
  segment.add(FrameKind::kSegmentStart, format::encode_segment_start(start));
  std::vector<std::string> names;
  for (int i = 0; i < 20'000; ++i) names.push_back(fmt::format("t{}", i));
  segment.add_names(names);
  segment.add_scalar_step(9, 0, 2.0);
  segment.write(run_);
  expect_bounded();
}

TEST_F(Findings, ManyPatternsThatGoBackAndForth) {
  format::SegmentStart start;
  start.run = kRunId;
  start.writer = "rank-00000";
  start.segment = 1;
  for (int i = 0; i < many(5'000); ++i) {
    Collection collection;
    collection.name = fmt::format("c{}", i);
    collection.include = {fmt::format("(a+)+{}$", i)};
    start.collections.push_back(collection);
  }
  CraftedSegment segment("rank-00000", 1, false);
  segment.add(FrameKind::kSegmentStart, format::encode_segment_start(start));
  std::vector<std::string> names;
  for (int i = 0; i < 10'000; ++i) names.push_back(fmt::format("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa{}x", i));
  segment.add_names(names);
  segment.add_scalar_step(9, 0, 2.0);
  segment.write(run_);
  expect_bounded();
}

std::string verdict_at(std::int64_t step, const std::string& rule) {
  rules::VerdictRecord verdict;
  verdict.rule_id = rule;
  verdict.rule = "LossSpike";
  verdict.place = {step, Mode::kTrain, step};
  verdict.verdict = {Outcome::kFired, Severity::kWarning, "m", "", {}};
  return rules::encode_verdict(verdict);
}

TEST_F(Findings, ManyVerdicts) {
  CraftedSegment segment("watch-0", 0);
  for (int i = 0; i < many(30'000); ++i) segment.add(FrameKind::kVerdict, verdict_at(i, "LossSpike"));
  segment.write(run_);
  expect_bounded();
}

TEST_F(Findings, ManyRulesWithAVerdictEach) {
  CraftedSegment segment("watch-0", 0);
  for (int i = 0; i < many(20'000); ++i) segment.add(FrameKind::kVerdict, verdict_at(i, fmt::format("r{}", i)));
  segment.write(run_);
  expect_bounded();
}

TEST_F(Findings, ManyRepeats) {
  CraftedSegment segment("watch-0", 0);
  for (int i = 0; i < many(20'000); ++i) {
    segment.add(FrameKind::kVerdict, verdict_at(i, "LossSpike"));
    segment.add(FrameKind::kVerdict, rules::encode_repeats({"LossSpike", Outcome::kFired, i, i, 1, 1}));
  }
  segment.write(run_);
  expect_bounded();
}

TEST_F(Findings, OneBadVerdictLeavesTheOthers) {
  CraftedSegment segment("watch-0", 0);
  segment.add(FrameKind::kVerdict, "{\"type\":\"verdict\"}");
  segment.add(FrameKind::kVerdict, verdict_at(9, "LossSpike"));
  segment.write(run_);
  std::vector<RunLoss> losses;
  const auto summaries = rules::summarize_rules(run_, losses);
  ASSERT_TRUE(summaries.ok()) << summaries.status().to_string();
  ASSERT_EQ(summaries->size(), 0U) << "no status was told of it";
  const auto histories = rules::read_rule_histories(run_);
  ASSERT_TRUE(histories.ok());
  ASSERT_EQ(histories->size(), 1U);
  EXPECT_EQ(histories->at(0).verdicts.size(), 1U);
  ASSERT_EQ(losses.size(), 1U);
  EXPECT_NE(losses[0].where.find("journal/watch-0, entry 0"), std::string::npos) << losses[0].where;
}

TEST_F(Findings, ManyWorkersOfWhomNothingIsThere) {
  write_text(run_ / "run.json", run_json(many(65'536)));
  CraftedSegment segment("rank-00000", 0);
  segment.add_names({kAnchor});
  for (int i = 0; i < many(20'000); ++i) segment.add_scalar_step(i, 0, kAnchorValue);
  segment.seal();
  segment.write(run_);
  for (int rank = 1; rank < many(4'000); ++rank) fs::create_directories(run_ / fmt::format("journal/rank-{:05}", rank));
  expect_bounded();
}

TEST_F(Findings, ManyEmptySegments) {
  for (std::uint64_t i = 1; i < static_cast<std::uint64_t>(many(3'000)); ++i)
    CraftedSegment("rank-00000", i).write(run_);
  expect_bounded();
}

TEST_F(Findings, ManyCausesOfLoss) {
  CraftedSegment segment("rank-00000", 1);
  std::string losses;
  for (int i = 0; i < many(70'000); ++i)
    losses += fmt::format("{}{{\"cause\":\"c{}\",\"count\":1,\"bytes\":1,\"message\":\"\"}}", i == 0 ? "" : ",", i);
  segment.add(FrameKind::kStepEnd, fmt::format("{{\"mode\":\"train\",\"mode_step\":9,\"losses\":[{}]}}", losses), 9);
  segment.write(run_);
  expect_bounded();
}

}  // namespace
}  // namespace trainwarden::hostile
