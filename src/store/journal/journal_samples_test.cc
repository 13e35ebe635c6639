// Samples in a journal: what goes in comes out, by metric and by time; what is damaged or lost costs a frame.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/log.h"
#include "data/format/frame.h"
#include "store/journal/sample_batches.h"
#include "store/journal/sample_run.h"
#include "store/storage/faulty_storage.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::journal {
namespace {

using SampleMap = std::map<std::uint32_t, SampleBits>;

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr const char* kSegment = "journal/rank-00000/seg-00000000.tw";

// A second of a host (metrics 0 and 1, ten ticks) and of a device (metric 2, two ticks).
SampleBatch second_of(std::int64_t second, bool with_names) {
  SampleBatch batch;
  if (with_names) {
    batch.new_metrics = {{0, {"cpu", "", MetricKind::kRatio, MetricSource::kHost, ""}},
                         {1, {"read", "bytes", MetricKind::kCounter, MetricSource::kHost, ""}},
                         {2, {"temperature", "celsius", MetricKind::kGauge, MetricSource::kDevice, "GPU-0"}}};
  }
  SampleTable host{{}, {{0, {}}, {1, {}}}};
  for (std::int64_t tick = 0; tick < 10; ++tick) {
    host.ticks.push_back(second * kSecondNs + tick * kSecondNs / 10);
    host.series[0].values.push_back(0.5 + static_cast<double>(tick) / 100);
    host.series[1].values.push_back(static_cast<double>(second * 1000 + tick));
  }
  SampleTable device{{second * kSecondNs, second * kSecondNs + kSecondNs / 2}, {{2, {61, 62}}}};
  batch.tables = {std::move(host), std::move(device)};
  return batch;
}

SampleMap between(const SampleMap& all, std::int64_t from, std::int64_t to, const std::set<std::uint32_t>& metrics) {
  SampleMap found;
  for (const auto& [metric, samples] : all) {
    for (const auto& sample : samples) {
      if (metrics.contains(metric) && sample.first >= from && sample.first < to) found[metric].push_back(sample);
    }
  }
  return found;
}

class JournalSamplesTest : public testing::Test {
 protected:
  std::unique_ptr<JournalReader> read(bool live = false) { return open_sample_reader(*storage_, live); }

  // So many seconds, with a step after each.
  void write(std::int64_t seconds, const JournalOptions& options, bool seal) {
    const auto writer = open_sample_writer(*storage_, clock_, options);
    for (std::int64_t second = 0; second < seconds; ++second) {
      batches_.push_back(second_of(second, second == 0));
      ASSERT_TRUE(writer->append_samples(batches_.back()).ok());
      ASSERT_TRUE(writer->append_step(small_step(second, second == 0)->batch()).ok());
    }
    if (seal) {
      ASSERT_TRUE(writer->seal().ok());
    }
  }
  void write(std::int64_t seconds, bool seal = false) { write(seconds, sample_journal_options(), seal); }

  FakeClock clock_;
  std::unique_ptr<storage::MemoryStorage> storage_ = storage::create_memory_storage();
  std::vector<SampleBatch> batches_;
};

TEST_F(JournalSamplesTest, EverythingComesBackBitForBit) {
  for (const bool sealed : {false, true}) {
    storage_ = storage::create_memory_storage();
    batches_.clear();
    write(5, sealed);
    const auto reader = read();
    expect_samples(*reader, batches_);
    EXPECT_EQ(reader->steps().size(), 5u);
    EXPECT_EQ(reader->tensors().size(), 3u) << "metrics are no tensors";
    ASSERT_TRUE(reader->verify_all().ok());
    EXPECT_TRUE(reader->losses().empty());
  }
}

TEST_F(JournalSamplesTest, MetricsAreToldAgainToEachSegment) {
  JournalOptions options = sample_journal_options();
  options.segment_bytes = 4000;
  write(6, options, true);
  EXPECT_GT(list_segments(*storage_, "rank-00000").value().size(), 2u);
  const auto reader = read();
  EXPECT_EQ(reader->metrics().size(), 3u);
  expect_samples(*reader, batches_);
}

TEST_F(JournalSamplesTest, TheChosenMetricsInTheRangeAreVisitedInTimeOrder) {
  write(6);
  const auto reader = read();
  const SampleMap all = samples_of(batches_);
  for (const std::int64_t from : {-kSecondNs, std::int64_t{0}, kSecondNs + 1, 3 * kSecondNs, 9 * kSecondNs}) {
    for (const std::int64_t to : {kSecondNs, 4 * kSecondNs + 1, 9 * kSecondNs}) {
      for (const std::vector<std::uint32_t>& metrics : {std::vector<std::uint32_t>{1}, {2}, {0, 2}, {}, {77}}) {
        SampleQuery query{metrics, from, to, 0};
        EXPECT_EQ(samples_of(*reader, query), between(all, from, to, {metrics.begin(), metrics.end()}));
      }
    }
  }
  std::int64_t last = 0;
  ASSERT_TRUE(reader
                  ->samples(all_metrics(*reader),
                            [&](const SampleChunk& chunk) {
                              EXPECT_GE(chunk.samples.front().unix_ns, last / kSecondNs * kSecondNs);
                              last = chunk.samples.back().unix_ns;
                            })
                  .ok());
}

TEST_F(JournalSamplesTest, TheTimesOfAllSamplesAreKnown) {
  EXPECT_FALSE(read()->sample_times().value().has_value());
  write(3);
  const auto times = read()->sample_times().value();
  ASSERT_TRUE(times.has_value());
  EXPECT_EQ(times->first_unix_ns, 0);
  EXPECT_EQ(times->last_unix_ns, 2 * kSecondNs + 9 * kSecondNs / 10);
  const auto reader = read();
  EXPECT_EQ(reader->sample_times(kSecondNs + 5).value()->first_unix_ns, kSecondNs + 5) << "within a frame";
  EXPECT_EQ(reader->sample_times(kSecondNs - 1).value()->first_unix_ns, kSecondNs) << "between two";
  EXPECT_FALSE(reader->sample_times(3 * kSecondNs).value().has_value());
}

// Damages every frame of samples but those that hold what is asked for: were they opened, they would be losses.
TEST_F(JournalSamplesTest, ASealedSegmentIsReadOnlyWhereItHasWhatIsWanted) {
  write(6, true);
  std::string content = storage_->content(kSegment);
  std::size_t damaged = 0;
  for (std::size_t offset = 0; offset < content.size();) {
    const auto header = format::decode_frame_header(as_bytes(content).subspan(offset, format::kFrameHeaderBytes));
    ASSERT_TRUE(header.ok());
    if (header->kind == format::FrameKind::kSamples && damaged++ != 2 * 3 + 1) {  // the device's fourth second
      content[offset + format::kFrameHeaderBytes + 20] ^= 1;
    }
    offset += header->frame_bytes();
  }
  EXPECT_EQ(damaged, 12u);
  storage_->set_content(kSegment, content);
  const auto reader = read();
  const SampleQuery query{{2}, 3 * kSecondNs, 4 * kSecondNs, 0};
  EXPECT_EQ(samples_of(*reader, query), between(samples_of(batches_), 3 * kSecondNs, 4 * kSecondNs, {2}));
  EXPECT_TRUE(reader->losses().empty());
  EXPECT_EQ(samples_of(*reader, all_metrics(*reader)),
            between(samples_of(batches_), 3 * kSecondNs, 4 * kSecondNs, {2}));
  EXPECT_EQ(reader->losses().size(), 11u) << "each damaged frame is one loss";
  EXPECT_EQ(samples_of(*reader, all_metrics(*reader)).size(), 1u);
  EXPECT_EQ(reader->losses().size(), 11u) << "and once only";
}

TEST_F(JournalSamplesTest, AnyDamageCostsNoMoreThanItsFrames) {
  for (const bool sealed : {false, true}) {
    storage_ = storage::create_memory_storage();
    batches_.clear();
    write(2, sealed);
    const SampleMap all = samples_of(batches_);
    const std::string original = storage_->content(kSegment);
    for (std::size_t at = 0; at < original.size(); at += 7) {
      std::string content = original;
      content[at] = static_cast<char>(content[at] ^ 0x10);
      storage_->set_content(kSegment, content);
      const auto reader = read();
      const SampleMap found = samples_of(*reader, all_metrics(*reader));
      for (const auto& [metric, samples] : found) {
        ASSERT_LT(metric, 3u);
        for (const auto& sample : samples) {
          const auto& known = all.at(metric);
          EXPECT_NE(std::find(known.begin(), known.end(), sample), known.end()) << "invented, byte " << at;
        }
      }
      if (found != all) {
        EXPECT_FALSE(reader->losses().empty()) << "lost in silence, byte " << at;
      }
    }
  }
}

TEST_F(JournalSamplesTest, AJournalIsFollowedWhileItGrows) {
  const auto writer = open_sample_writer(*storage_, clock_);
  std::unique_ptr<JournalReader> reader = read(true);
  EXPECT_TRUE(reader->metrics().empty());
  SampleQuery query;
  for (std::int64_t second = 0; second < 4; ++second) {
    const SampleBatch batch = second_of(second, second == 0);
    ASSERT_TRUE(writer->append_samples(batch).ok());
    if (second == 2) {
      ASSERT_TRUE(writer->seal().ok());
    }
    ASSERT_TRUE(reader->refresh().ok());
    query.metrics = all_metrics(*reader).metrics;
    EXPECT_EQ(samples_of(*reader, query), samples_of({&batch, 1})) << "what is new since the last look";
    query.first_frame = reader->sample_frames();
    EXPECT_EQ(reader->sample_times().value()->last_unix_ns, batch.tables[0].ticks.back());
  }
  EXPECT_TRUE(samples_of(*reader, query).empty());
}

TEST_F(JournalSamplesTest, WhatCannotBeWrittenIsRefusedAndNothingIsLeftOfIt) {
  const auto writer = open_sample_writer(*storage_, clock_);
  EXPECT_TRUE(writer->append_samples({}).ok());
  SampleBatch nameless = second_of(0, false);
  const Status refused = writer->append_samples(nameless);
  EXPECT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_NE(refused.message().find("metric id 0"), std::string::npos) << refused.message();
  SampleBatch back = second_of(0, true);
  std::reverse(back.tables[1].ticks.begin(), back.tables[1].ticks.end());
  EXPECT_EQ(writer->append_samples(back).code(), Code::kInvalidArgument);
  EXPECT_EQ(writer->written_bytes(), 0u);
  batches_.push_back(second_of(1, true));
  ASSERT_TRUE(writer->append_samples(batches_.back()).ok());
  expect_samples(*read(), batches_);
}

// The n-th call of the storage fails, for n = 0, 1, 2, ...: what was acknowledged is there, whole batches only.
TEST_F(JournalSamplesTest, WhatWasAcknowledgedStaysWhateverTheStorageDoes) {
  set_log_sink([](LogLevel, std::string_view) {});
  for (const bool short_write : {false, true}) {
    for (std::int64_t call = 0;; ++call) {
      ASSERT_LT(call, 100);
      const auto memory = storage::create_memory_storage();
      const auto faulty = storage::create_faulty_storage(*memory);
      faulty->set_plan({call, false, Code::kResourceExhausted, short_write});
      JournalOptions options = sample_journal_options();
      options.segment_bytes = 3000;
      auto writer = JournalWriter::open(*faulty, clock_, sample_run_info(), options);
      if (!writer.ok()) continue;
      std::vector<SampleBatch> acknowledged;
      for (std::int64_t second = 0; second < 5; ++second) {
        const SampleBatch batch = second_of(second, second == 0);
        if ((*writer)->append_samples(batch).ok()) acknowledged.push_back(batch);
      }
      const auto reader = open_sample_reader(*memory, false);
      const SampleMap found = samples_of(*reader, all_metrics(*reader));
      for (const auto& [metric, samples] : samples_of(acknowledged)) {
        for (const auto& sample : samples) {
          EXPECT_NE(std::find(found.at(metric).begin(), found.at(metric).end(), sample), found.at(metric).end());
        }
      }
      if (faulty->calls() <= call) break;
    }
  }
  set_log_sink({});
}

TEST_F(JournalSamplesTest, AStorageThatFailsForAMomentLosesNothing) {
  write(3, true);
  const auto faulty = storage::create_faulty_storage(*storage_);
  const auto reader = open_sample_reader(*faulty, false);
  for (std::int64_t call = 0; call < 3; ++call) {
    faulty->set_plan({call, false, Code::kUnavailable, false});
    (void)reader->samples(all_metrics(*reader), [](const SampleChunk&) {});
  }
  faulty->set_plan({});
  expect_samples(*reader, batches_);
  EXPECT_TRUE(reader->losses().empty());
}

// A reader of an earlier release passes over what it does not know: here a kind that nobody knows yet.
TEST_F(JournalSamplesTest, AFrameOfAKindThatIsNotKnownIsSkippedAndCounted) {
  const auto writer = open_sample_writer(*storage_, clock_);
  batches_.push_back(second_of(0, true));
  ASSERT_TRUE(writer->append_samples(batches_.back()).ok());
  ASSERT_TRUE(writer->append_event(static_cast<format::FrameKind>(100), -1, "{}").ok());
  batches_.push_back(second_of(1, false));
  ASSERT_TRUE(writer->append_samples(batches_.back()).ok());
  const auto reader = read();
  expect_samples(*reader, batches_);
  ASSERT_EQ(reader->losses().size(), 1u);
  EXPECT_EQ(reader->losses()[0].cause, "frame of an unknown kind");
}

}  // namespace
}  // namespace trainwarden::journal
