// Writer and reader together: what goes in comes out.
#include <bit>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/clock.h"
#include "core/base/crc32c.h"
#include "data/format/run_event.h"
#include "store/journal/all_events.h"
#include "store/journal/journal_reader.h"
#include "store/journal/journal_writer.h"
#include "store/journal/sample_run.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::journal {
namespace {

class JournalTest : public testing::Test {
 protected:
  std::string segment_path(std::uint64_t number) { return "journal/rank-00000/" + segment_file(number); }
  std::unique_ptr<JournalReader> read(bool live = false) { return open_sample_reader(*storage_, live); }

  FakeClock clock_;
  std::unique_ptr<storage::MemoryStorage> storage_ = storage::create_memory_storage();
};

TEST_F(JournalTest, EverythingComesBackBitForBit) {
  const auto first = step_of_everything(0, Mode::kTrain, 0, true);
  const auto second = step_of_everything(1, Mode::kEval, 0, false);
  const auto third = step_of_everything(2, Mode::kTrain, 1, false);
  for (const bool sealed : {false, true}) {
    storage_ = storage::create_memory_storage();
    const auto writer = open_sample_writer(*storage_, clock_);
    for (const auto* step : {&first, &second, &third}) ASSERT_TRUE(writer->append_step((*step)->batch()).ok());
    if (sealed) {
      ASSERT_TRUE(writer->seal().ok());
    }
    const auto reader = read();
    ASSERT_EQ(reader->steps().size(), 3u);
    EXPECT_EQ(difference(*reader, 0, first->batch()), "");
    EXPECT_EQ(difference(*reader, 1, second->batch()), "");
    EXPECT_EQ(difference(*reader, 2, third->batch()), "");
    EXPECT_EQ(reader->steps()[1].unix_ns, clock_.unix_ns());
    ASSERT_EQ(reader->losses().size(), 1u);
    EXPECT_TRUE(reader->losses()[0].by_writer);
    EXPECT_EQ(reader->losses()[0].cause, "staging_full");
    EXPECT_EQ(reader->losses()[0].count, 3u);
    EXPECT_EQ(reader->losses()[0].bytes, 4096u);
    ASSERT_TRUE(reader->verify_all().ok());
    EXPECT_EQ(reader->losses().size(), 1u);
  }
}

// A step whose tensors need several bundles: small ones, and two that are large.
std::unique_ptr<SampleStep> step_of_many_bundles() {
  constexpr std::uint32_t kSmall = 80;
  auto step = std::make_unique<SampleStep>(0, Mode::kTrain, 0);
  for (std::uint32_t id = 0; id < kSmall + 3; ++id) {
    step->name_tensor(id, sample_name(id));
    if (id < kSmall) step->keep(id, DType::kFloat32, {32, 32});
  }
  step->keep(kSmall, DType::kFloat32, {512, 300});
  step->keep_strings(kSmall + 1, {2}, {"a word", std::string(200'000, 'w')});
  step->keep(kSmall + 2, DType::kFloat64, {1, 100'000});
  return step;
}

std::vector<format::FrameHeader> bundle_frames_of(std::string_view segment) {
  std::vector<format::FrameHeader> bundles;
  for (std::uint64_t at = 0; at + format::kFrameHeaderBytes <= segment.size();) {
    const auto header = format::decode_frame_header(as_bytes(segment.substr(at, format::kFrameHeaderBytes)));
    if (!header.ok()) return {};
    if (header->kind == format::FrameKind::kBundle) bundles.push_back(*header);
    at += header->frame_bytes();
  }
  return bundles;
}

TEST_F(JournalTest, AStepOfManyTensorsComesBackBitForBit) {
  const auto step = step_of_many_bundles();
  for (const bool sealed : {false, true}) {
    storage_ = storage::create_memory_storage();
    const auto writer = open_sample_writer(*storage_, clock_);
    ASSERT_TRUE(writer->append_step(step->batch()).ok());
    if (sealed) {
      ASSERT_TRUE(writer->seal().ok());
    }
    // 80 x 4 KiB, 32 of them in a bundle; and three that are larger than a bundle.
    EXPECT_EQ(bundle_frames_of(storage_->content(segment_path(0))).size(), 6u);
    const auto reader = read();
    EXPECT_EQ(difference(*reader, 0, step->batch()), "");
    const auto records = reader->records(0);
    ASSERT_TRUE(records.ok());
    for (const Record& record : *records) {
      const auto value = reader->read_value(record);
      const auto shared = reader->read_shared_value(record);
      ASSERT_TRUE(value.ok());
      if (value->dtype == DType::kString) {
        EXPECT_EQ(shared.status().code(), Code::kUnimplemented);
        continue;
      }
      ASSERT_TRUE(shared.ok()) << shared.status().to_string();
      EXPECT_EQ(shared->view.shape, value->shape);
      EXPECT_EQ(as_text({static_cast<const std::byte*>(shared->view.data), value->data.size()}), as_text(value->data));
    }
    ASSERT_TRUE(reader->verify_all().ok());
    EXPECT_TRUE(reader->losses().empty());
  }
}

// Whoever reads one tensor reads and checks its bundle alone, and damage costs what is in its bundle.
TEST_F(JournalTest, DamageOfABundleCostsTheTensorsInItAlone) {
  const auto step = step_of_many_bundles();
  const auto writer = open_sample_writer(*storage_, clock_);
  ASSERT_TRUE(writer->append_step(step->batch()).ok());
  ASSERT_TRUE(writer->seal().ok());
  const std::string whole = storage_->content(segment_path(0));
  const auto bundles = bundle_frames_of(whole);
  ASSERT_EQ(bundles.size(), 6u);
  for (const format::FrameHeader& damaged : bundles) {
    for (const std::uint64_t from_end : {damaged.payload_bytes / 3, std::uint64_t{1}}) {
      std::string content = whole;
      content[damaged.file_offset + format::kFrameHeaderBytes + damaged.payload_bytes - from_end] ^= 4;
      storage_->set_content(segment_path(0), content);
      for (const bool shared : {false, true}) {
        const auto reader = read();
        const auto records = reader->records(0);
        ASSERT_TRUE(records.ok());
        ASSERT_EQ(records->size(), 83u);
        for (const Record& record : std::vector<Record>(records->begin(), records->end())) {
          Status status = shared ? reader->read_shared_value(record).status() : reader->read_value(record).status();
          if (status.code() == Code::kUnimplemented) status = reader->read_value(record).status();
          EXPECT_EQ(status.code() == Code::kDataLoss, record.frame_offset == damaged.file_offset) << status.to_string();
        }
        EXPECT_FALSE(reader->losses().empty());
      }
    }
  }
}

TEST_F(JournalTest, ANameThatIsThereTwiceIsRefusedInOtherBundlesToo) {
  SampleStep step(0, Mode::kTrain, 0);
  step.name_tensor(0, "same");
  step.name_tensor(1, "between");
  step.name_tensor(2, "same");
  step.keep(0, DType::kFloat32, {64, 1024});
  step.keep(1, DType::kFloat32, {64, 1024});
  step.keep(2, DType::kFloat32, {64, 1024});
  const auto writer = open_sample_writer(*storage_, clock_);
  EXPECT_EQ(writer->append_step(step.batch()).code(), Code::kInvalidArgument);
}

TEST_F(JournalTest, TensorsHaveTheirCollectionsAndTheManifestIsThere) {
  SampleStep step(0, Mode::kTrain, 0);
  step.name_tensor(0, "a", {"weights", "all"});
  step.add_scalar(0, 1);
  const auto writer = open_sample_writer(*storage_, clock_);
  ASSERT_TRUE(writer->append_step(step.batch()).ok());
  SampleStep again(1, Mode::kTrain, 1);
  again.name_tensor(0, "a", {"losses"});
  again.add_scalar(0, 2);
  ASSERT_TRUE(writer->append_step(again.batch()).ok());
  const auto reader = read();
  ASSERT_EQ(reader->tensors().size(), 1u);
  EXPECT_EQ(reader->tensors()[0].name, "a");
  EXPECT_EQ(reader->tensors()[0].collections, (std::vector<std::string>{"all", "losses", "weights"}));
  ASSERT_EQ(reader->collections().size(), 2u);
  EXPECT_EQ(reader->collections()[0].name, "weights");
  EXPECT_EQ(reader->collections()[0].include, std::vector<std::string>{"\\.weight$"});
}

TEST_F(JournalTest, NamesAreToldAgainToEachSegment) {
  JournalOptions options = sample_journal_options();
  options.segment_bytes = 1;  // every step fills a segment
  const auto writer = open_sample_writer(*storage_, clock_, options);
  for (int step = 0; step < 4; ++step) ASSERT_TRUE(writer->append_step(small_step(step, step == 0)->batch()).ok());
  EXPECT_EQ(list_segments(*storage_, "rank-00000").value().size(), 4u);
  const auto reader = read();
  ASSERT_EQ(reader->steps().size(), 4u);
  for (int step = 0; step < 4; ++step) EXPECT_EQ(difference(*reader, step, small_step(step, false)->batch()), "");
  EXPECT_EQ(reader->tensors().size(), 3u);
  EXPECT_TRUE(reader->losses().empty());
}

TEST_F(JournalTest, AChangeOfCollectionsSealsTheSegmentAndIsToldToTheNext) {
  const auto writer = open_sample_writer(*storage_, clock_);
  ASSERT_TRUE(writer->append_step(small_step(0, true)->batch()).ok());
  ASSERT_TRUE(writer->change_collections({{.name = "changed", .include = {"x"}}}).ok());
  ASSERT_TRUE(writer->append_step(small_step(1, false)->batch()).ok());
  EXPECT_EQ(list_segments(*storage_, "rank-00000").value().size(), 2u);
  const auto reader = read();
  EXPECT_EQ(reader->steps().size(), 2u);
  ASSERT_EQ(reader->collections().size(), 3u) << "those of before are still known";
  EXPECT_EQ(reader->collections()[2].name, "changed");
}

TEST_F(JournalTest, ASegmentIsSealedWhenItIsOld) {
  JournalOptions options = sample_journal_options();
  options.segment_age_ns = 1000;
  const auto writer = open_sample_writer(*storage_, clock_, options);
  ASSERT_TRUE(writer->append_step(small_step(0, true)->batch()).ok());
  clock_.advance_ns(999);
  ASSERT_TRUE(writer->append_step(small_step(1, false)->batch()).ok());
  EXPECT_EQ(list_segments(*storage_, "rank-00000").value().size(), 1u);
  clock_.advance_ns(1);
  ASSERT_TRUE(writer->append_step(small_step(2, false)->batch()).ok());
  ASSERT_TRUE(writer->append_step(small_step(3, false)->batch()).ok());
  EXPECT_EQ(list_segments(*storage_, "rank-00000").value().size(), 2u);
  EXPECT_EQ(read()->steps().size(), 4u);
}

TEST_F(JournalTest, EventsComeBackInOrder) {
  const auto writer = open_sample_writer(*storage_, clock_);
  using format::FrameKind;
  for (const bool seal : {false, true}) {
    ASSERT_TRUE(writer->append_event(FrameKind::kVerdict, 7, "{\"rule\":\"x\"}").ok());
    clock_.advance_ns(5);
    ASSERT_TRUE(writer->append_event(FrameKind::kAction, -1, "{}").ok());
    ASSERT_TRUE(writer->append_event(FrameKind::kEvent, -1, format::encode_run_end({true, "why"})).ok());
    if (seal) {
      ASSERT_TRUE(writer->seal().ok());
    }
  }
  ASSERT_TRUE(writer->append_event(FrameKind::kVerdict, 8, "{}").ok());
  const auto reader = read();
  const auto events = all_events(*reader);
  ASSERT_EQ(events.size(), 7u);
  EXPECT_EQ(events[0].kind, FrameKind::kVerdict);
  EXPECT_EQ(events[0].step, 7);
  EXPECT_EQ(events[0].json, "{\"rule\":\"x\"}");
  EXPECT_EQ(events[1].kind, FrameKind::kAction);
  EXPECT_EQ(events[1].step, -1);
  EXPECT_EQ(events[1].unix_ns, events[0].unix_ns + 5);
  EXPECT_EQ(format::decode_run_end(events[5].json).value()->reason, "why");
  EXPECT_TRUE(reader->losses().empty());
}

TEST_F(JournalTest, ScalarsKeepEveryBit) {
  SampleStep step(0, Mode::kGlobal, 0);
  const std::vector<double> values = {-0.0,
                                      std::numeric_limits<double>::quiet_NaN(),
                                      std::numeric_limits<double>::infinity(),
                                      std::numeric_limits<double>::denorm_min(),
                                      0.1,
                                      std::bit_cast<double>(0xFFF8'0000'DEAD'BEEFu)};
  for (std::uint32_t id = 0; id < values.size(); ++id) {
    step.name_tensor(id, sample_name(id));
    step.add_scalar(id, values[id]);
  }
  const auto writer = open_sample_writer(*storage_, clock_);
  ASSERT_TRUE(writer->append_step(step.batch()).ok());
  EXPECT_EQ(difference(*read(), 0, step.batch()), "");
}

TEST_F(JournalTest, AStepMayBeEmpty) {
  const auto writer = open_sample_writer(*storage_, clock_);
  ASSERT_TRUE(writer->append_step(SampleStep(5, Mode::kPredict, 2).batch()).ok());
  for (const bool sealed : {false, true}) {
    if (sealed) {
      ASSERT_TRUE(writer->seal().ok());
    }
    const auto reader = read();
    ASSERT_EQ(reader->steps().size(), 1u);
    EXPECT_EQ(reader->steps()[0].global_step, 5);
    EXPECT_EQ(reader->steps()[0].mode, Mode::kPredict);
    EXPECT_EQ(reader->steps()[0].mode_step, 2);
    EXPECT_TRUE(reader->records(0).value().empty());
  }
}

TEST_F(JournalTest, ANewProcessStartsANewSegmentAndItsStepsComeLater) {
  auto writer = open_sample_writer(*storage_, clock_);
  for (int step = 0; step < 3; ++step) ASSERT_TRUE(writer->append_step(small_step(step, step == 0)->batch()).ok());
  writer.reset();
  writer = open_sample_writer(*storage_, clock_);
  SampleStep redone(2, Mode::kTrain, 2);
  redone.name_tensor(0, "other.name");  // the new process gives its ids anew
  redone.add_scalar(0, 42);
  ASSERT_TRUE(writer->append_step(redone.batch()).ok());
  const auto reader = read();
  ASSERT_EQ(reader->steps().size(), 4u);
  EXPECT_EQ(reader->steps()[3].global_step, 2);
  const auto records = reader->records(3).value();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(reader->tensors()[records[0].tensor].name, "other.name");
  EXPECT_EQ(reader->read_scalar(records[0]).value(), 42);
  EXPECT_EQ(difference(*reader, 2, small_step(2, false)->batch()), "");
  EXPECT_TRUE(reader->losses().empty());
}

TEST_F(JournalTest, OnlyOneWriterAtATime) {
  const auto writer = open_sample_writer(*storage_, clock_);
  const auto second = JournalWriter::open(*storage_, clock_, sample_run_info(), sample_journal_options());
  EXPECT_EQ(second.status().code(), Code::kAlreadyExists);
}

TEST_F(JournalTest, TheSameStepsGiveTheSameBytes) {
  std::vector<std::string> contents;
  for (int round = 0; round < 2; ++round) {
    storage_ = storage::create_memory_storage();
    const auto writer = open_sample_writer(*storage_, clock_);
    ASSERT_TRUE(writer->append_step(step_of_everything(0, Mode::kTrain, 0, true)->batch()).ok());
    ASSERT_TRUE(writer->seal().ok());
    contents.push_back(storage_->content(segment_path(0)));
    EXPECT_EQ(contents.back().size() % 64, 0u);
    EXPECT_EQ(contents.back().size(), writer->written_bytes());
  }
  EXPECT_EQ(contents[0], contents[1]);
}

TEST_F(JournalTest, AnIdWithoutANameIsRefusedAndTheWriterGoesOn) {
  const auto writer = open_sample_writer(*storage_, clock_);
  EXPECT_EQ(writer->append_step(small_step(0, false)->batch()).code(), Code::kInvalidArgument);
  ASSERT_TRUE(writer->append_step(small_step(1, true)->batch()).ok());
  const auto reader = read();
  ASSERT_EQ(reader->steps().size(), 1u);
  EXPECT_EQ(difference(*reader, 0, small_step(1, true)->batch()), "");
}

TEST_F(JournalTest, ReductionsComeBackBesideValuesAndStatistics) {
  for (const bool sealed : {false, true}) {
    storage_ = storage::create_memory_storage();
    const auto writer = open_sample_writer(*storage_, clock_);
    ASSERT_TRUE(writer->append_step(step_of_reductions(0, true)->batch()).ok());
    if (sealed) {
      ASSERT_TRUE(writer->seal().ok());
    }
    const auto reader = read();
    EXPECT_EQ(reader->records(0)->size(), 5u) << "one for all reductions of a tensor";
    EXPECT_EQ(difference(*reader, 0, step_of_reductions(0, true)->batch()), "");
  }
}

TEST_F(JournalTest, ReductionsOfATensorThatDoNotLieTogetherAreRefused) {
  SampleStep step(0, Mode::kTrain, 0);
  step.name_tensor(0, "a");
  step.name_tensor(1, "b");
  for (const std::uint32_t id : {0u, 1u, 0u}) step.add_reductions(id);
  const auto writer = open_sample_writer(*storage_, clock_);
  EXPECT_EQ(writer->append_step(step.batch()).code(), Code::kInvalidArgument);
}

TEST_F(JournalTest, TwoTensorsOfOneNameAreRefused) {
  SampleStep step(0, Mode::kTrain, 0);
  step.name_tensor(0, "same");
  step.name_tensor(1, "same");
  step.keep(0, DType::kFloat32, {1});
  step.keep(1, DType::kFloat32, {1});
  const auto writer = open_sample_writer(*storage_, clock_);
  EXPECT_EQ(writer->append_step(step.batch()).code(), Code::kInvalidArgument);
}

TEST_F(JournalTest, AWriterMustHaveItsId) {
  JournalOptions options = sample_journal_options();
  options.writer_id = 9;
  EXPECT_EQ(JournalWriter::open(*storage_, clock_, sample_run_info(), options).status().code(), Code::kInvalidArgument);
  options.writer = "../escape";
  EXPECT_EQ(JournalWriter::open(*storage_, clock_, sample_run_info(), options).status().code(), Code::kInvalidArgument);
}

TEST_F(JournalTest, WhatIsSyncedSurvivesAPowerLoss) {
  JournalOptions options = sample_journal_options();
  options.sync_each_step = true;
  options.segment_bytes = 3000;
  const auto writer = open_sample_writer(*storage_, clock_, options);
  for (int step = 0; step < 10; ++step) ASSERT_TRUE(writer->append_step(small_step(step, step == 0)->batch()).ok());
  storage_->drop_unsynced();
  const auto reader = read();
  ASSERT_EQ(reader->steps().size(), 10u);
  for (int step = 0; step < 10; ++step) EXPECT_EQ(difference(*reader, step, small_step(step, false)->batch()), "");
  EXPECT_TRUE(reader->losses().empty());
}

TEST_F(JournalTest, SyncCoversTheOpenSegment) {
  const auto writer = open_sample_writer(*storage_, clock_);
  EXPECT_TRUE(writer->sync().ok());
  ASSERT_TRUE(writer->append_step(small_step(0, true)->batch()).ok());
  ASSERT_TRUE(writer->sync().ok());
  ASSERT_TRUE(writer->append_step(small_step(1, false)->batch()).ok());
  storage_->drop_unsynced();
  EXPECT_EQ(read()->steps().size(), 1u);
}

TEST_F(JournalTest, AMissingSegmentIsALoss) {
  JournalOptions options = sample_journal_options();
  options.segment_bytes = 1;
  const auto writer = open_sample_writer(*storage_, clock_, options);
  for (int step = 0; step < 4; ++step) ASSERT_TRUE(writer->append_step(small_step(step, step == 0)->batch()).ok());
  const auto damaged = storage::create_memory_storage();
  damaged->set_content(segment_path(0), storage_->content(segment_path(0)));
  damaged->set_content(segment_path(3), storage_->content(segment_path(3)));
  const auto reader = open_sample_reader(*damaged, false);
  EXPECT_EQ(reader->steps().size(), 2u);
  ASSERT_EQ(reader->losses().size(), 1u);
  EXPECT_EQ(reader->losses()[0].cause, "missing segment");
  EXPECT_EQ(reader->losses()[0].count, 2u);
}

TEST_F(JournalTest, ASegmentUnderAnotherNumberIsRefused) {
  const auto writer = open_sample_writer(*storage_, clock_);
  ASSERT_TRUE(writer->append_step(small_step(0, true)->batch()).ok());
  for (const bool sealed : {false, true}) {
    if (sealed) {
      ASSERT_TRUE(writer->seal().ok());
    }
    const auto moved = storage::create_memory_storage();
    moved->set_content(segment_path(4), storage_->content(segment_path(0)));
    const auto reader = open_sample_reader(*moved, false);
    EXPECT_TRUE(reader->steps().empty());
    ASSERT_EQ(reader->losses().size(), 1u);
    EXPECT_EQ(reader->losses()[0].cause, "segment that is not what its file name says");
  }
}

TEST_F(JournalTest, AnotherRunsSegmentIsRefused) {
  const auto writer = open_sample_writer(*storage_, clock_);
  ASSERT_TRUE(writer->append_step(small_step(0, true)->batch()).ok());
  ASSERT_TRUE(writer->seal().ok());
  RunInfo other = sample_run_info();
  other.id = "another";
  const auto reader = JournalReader::open(*storage_, other, "rank-00000", {.live = false});
  ASSERT_TRUE(reader.ok());
  EXPECT_TRUE((*reader)->steps().empty());
  ASSERT_EQ((*reader)->losses().size(), 1u);
  EXPECT_EQ((*reader)->losses()[0].cause, "frame of another run");
}

TEST_F(JournalTest, AStepCutBetweenItsFramesIsReported) {
  const auto writer = open_sample_writer(*storage_, clock_);
  ASSERT_TRUE(writer->append_step(small_step(0, true)->batch()).ok());
  const std::uint64_t whole_bytes = writer->written_bytes();
  ASSERT_TRUE(writer->append_step(small_step(1, false)->batch()).ok());
  const std::string content = storage_->content(segment_path(0));
  const auto bundle = format::decode_frame_header(as_bytes(content).subspan(whole_bytes, format::kFrameHeaderBytes));
  ASSERT_EQ(bundle.value().kind, format::FrameKind::kBundle);
  storage_->set_content(segment_path(0), content.substr(0, whole_bytes + bundle.value().frame_bytes()));
  const auto reader = read();
  EXPECT_EQ(reader->steps().size(), 1u);
  ASSERT_EQ(reader->losses().size(), 1u);
  EXPECT_EQ(reader->losses()[0].cause, "data of a step without its end");
}

TEST_F(JournalTest, ADamagedIndexIsReportedAndNothingElseIsLost) {
  const auto writer = open_sample_writer(*storage_, clock_);
  for (int step = 0; step < 3; ++step) ASSERT_TRUE(writer->append_step(small_step(step, step == 0)->batch()).ok());
  const std::uint64_t index_offset = writer->written_bytes();
  ASSERT_TRUE(writer->seal().ok());
  std::string content = storage_->content(segment_path(0));
  content[index_offset + 200] = static_cast<char>(content[index_offset + 200] ^ 1);
  storage_->set_content(segment_path(0), content);
  const auto reader = read();
  ASSERT_EQ(reader->steps().size(), 3u);
  for (int step = 0; step < 3; ++step) EXPECT_EQ(difference(*reader, step, small_step(step, false)->batch()), "");
  ASSERT_EQ(reader->losses().size(), 1u);
  EXPECT_EQ(reader->losses()[0].cause, "damaged index");
}

TEST_F(JournalTest, AnIndexThatDoesNotFitItsTrailerIsNotBelieved) {
  const auto writer = open_sample_writer(*storage_, clock_);
  ASSERT_TRUE(writer->append_step(small_step(0, true)->batch()).ok());
  const std::uint64_t index_offset = writer->written_bytes();
  ASSERT_TRUE(writer->seal().ok());
  std::string content = storage_->content(segment_path(0));
  const std::size_t trailer_offset = content.size() - format::kTrailerFrameBytes;
  auto header = format::decode_frame_header(as_bytes(content).subspan(trailer_offset, format::kFrameHeaderBytes));
  const std::string trailer = format::encode_trailer({index_offset, 3});
  header->payload_crc = crc32c(as_bytes(trailer));
  const auto header_bytes = format::encode_frame_header(*header);
  content.resize(trailer_offset);
  content += as_text(header_bytes);
  content += trailer;
  storage_->set_content(segment_path(0), content);
  const auto reader = read();
  EXPECT_EQ(reader->steps().size(), 1u);
  ASSERT_EQ(reader->losses().size(), 1u);
  EXPECT_EQ(reader->losses()[0].cause, "damaged index");
}

TEST_F(JournalTest, ANameThatWasDamagedInABundleIsNotInvented) {
  const auto writer = open_sample_writer(*storage_, clock_);
  ASSERT_TRUE(writer->append_step(small_step(0, true)->batch()).ok());
  std::string content = storage_->content(segment_path(0));
  const std::size_t named_at = content.find(sample_name(0));
  const std::size_t in_bundle = content.find(sample_name(0), named_at + 1);
  ASSERT_NE(in_bundle, std::string::npos);
  content[in_bundle] = 'L';
  storage_->set_content(segment_path(0), content);
  const auto reader = read();
  EXPECT_EQ(reader->records(0).value().size(), 2u);
  EXPECT_EQ(reader->tensors().size(), 3u);
  ASSERT_EQ(reader->losses().size(), 1u);
  EXPECT_EQ(reader->losses()[0].cause, "damaged payload");
}

TEST_F(JournalTest, RecordsOfOtherJournalsAreRefused) {
  const auto writer = open_sample_writer(*storage_, clock_);
  ASSERT_TRUE(writer->append_step(small_step(0, true)->batch()).ok());
  const auto reader = read();
  Record record = reader->records(0).value()[0];
  ASSERT_EQ(record.form, RecordForm::kValue);
  EXPECT_EQ(reader->read_scalar(record).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(reader->read_reductions(record).status().code(), Code::kInvalidArgument);
  record.row = 99;
  EXPECT_EQ(reader->read_value(record).status().code(), Code::kDataLoss);
  record.segment = 99;
  EXPECT_EQ(reader->read_value(record).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(reader->records(1).status().code(), Code::kOutOfRange);
}

TEST_F(JournalTest, AJournalThatIsNotThereYetIsEmpty) {
  const auto reader = read(true);
  EXPECT_TRUE(reader->steps().empty());
  const auto writer = open_sample_writer(*storage_, clock_);
  ASSERT_TRUE(writer->append_step(small_step(0, true)->batch()).ok());
  ASSERT_TRUE(reader->refresh().ok());
  EXPECT_EQ(reader->steps().size(), 1u);
}

}  // namespace
}  // namespace trainwarden::journal
