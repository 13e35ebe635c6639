// The corrupt set: the golden run with its bytes cut, flipped, zeroed and swapped in every way that matters.
//
// For each damage: the reader does not crash, everything in frames that were not touched is found, what is found is
// right, and whatever is missing is reported.
#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "data/format/frame.h"
#include "store/journal/all_events.h"
#include "store/journal/golden_run.h"
#include "store/journal/segment_decoder.h"

namespace trainwarden::journal {
namespace {

using format::FrameKind;

struct FramePlace {
  std::size_t begin = 0;
  std::size_t payload_end = 0;
  std::size_t end = 0;
  FrameKind kind = FrameKind::kPad;
  std::int64_t step = -1;
};

// By the headers of an undamaged file, without the reader's code.
std::vector<FramePlace> frames_of(const std::string& content) {
  std::vector<FramePlace> frames;
  for (std::size_t offset = 0; offset < content.size();) {
    const auto header = format::decode_frame_header(as_bytes(content).subspan(offset, format::kFrameHeaderBytes));
    EXPECT_TRUE(header.ok());
    if (!header.ok()) break;
    FramePlace place;
    place.begin = offset;
    place.payload_end = offset + format::kFrameHeaderBytes + header->payload_bytes;
    place.end = offset + header->frame_bytes();
    place.kind = header->kind;
    place.step = header->step;
    frames.push_back(place);
    offset = place.end;
  }
  return frames;
}

FrameKind frame_kind_of(RecordForm form) {
  if (form == RecordForm::kValue) return FrameKind::kBundle;
  if (form == RecordForm::kReductions) return FrameKind::kReductions;
  return form == RecordForm::kScalar ? FrameKind::kScalars : FrameKind::kStatistics;
}

bool is_readable(JournalReader& reader, const Record& record) {
  switch (record.form) {
    case RecordForm::kValue: return reader.read_value(record).ok();
    case RecordForm::kScalar: return reader.read_scalar(record).ok();
    case RecordForm::kReductions: return reader.read_reductions(record).ok();
    default: return reader.read_statistics(record).ok();
  }
}

// What must be there although the frames of one segment at `touched` are damaged.
class Expectation {
 public:
  Expectation(const std::vector<FramePlace>& frames, const std::set<std::size_t>& touched) {
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const FramePlace& frame = frames[i];
      steps_.insert(frame.step);
      const bool hit = touched.contains(i);
      if (hit) touched_.insert({frame.kind, frame.step});
      if (frame.kind == FrameKind::kTrailer) index_usable_ = true;
      if (hit && frame.kind != FrameKind::kStepEnd && !is_data(frame.kind)) index_damaged_ = true;
      if (hit && frame.kind == FrameKind::kNames) names_damaged_ = true;
    }
    index_usable_ = index_usable_ && !index_damaged_;
  }

  bool is_here(std::int64_t step) const { return steps_.contains(step); }
  bool step_is_required(std::int64_t step) const {
    return index_usable_ || !touched_.contains({FrameKind::kStepEnd, step});
  }
  bool record_is_required(std::int64_t step, RecordForm form) const {
    if (touched_.contains({frame_kind_of(form), step})) return false;
    return form == RecordForm::kValue || !names_damaged_;
  }

 private:
  std::set<std::int64_t> steps_;
  std::set<std::pair<FrameKind, std::int64_t>> touched_;
  bool index_usable_ = false;
  bool index_damaged_ = false;
  bool names_damaged_ = false;
};

struct GoldenSegment {
  Golden golden;
  std::string path;
};

class CorruptSetTest : public testing::TestWithParam<GoldenSegment> {
 protected:
  void SetUp() override {
    original_ = load_golden_run(GetParam().golden)->content(GetParam().path);
    frames_ = frames_of(original_);
    writer_ = GetParam().path.find("watch") == std::string::npos ? "rank-00000" : "watch-0";
  }

  // Frames whose header or payload differ in `damaged`; padding belongs to nothing.
  std::set<std::size_t> touched_by(const std::string& damaged) const {
    std::set<std::size_t> touched;
    for (std::size_t i = 0; i < frames_.size(); ++i) {
      const FramePlace& frame = frames_[i];
      const std::size_t bytes = frame.payload_end - frame.begin;
      const bool cut = frame.end > damaged.size();
      if (cut || std::memcmp(damaged.data() + frame.begin, original_.data() + frame.begin, bytes) != 0) {
        touched.insert(i);
      }
    }
    return touched;
  }

  // Reads a journal of this one segment, with this content. No writer holds the lock, so that the live reader must come
  // to the same end as the strict one.
  void check(const std::string& damaged, const std::string& what, bool must_report = true, bool live = false) {
    storage_->set_content(GetParam().path, damaged);
    const std::set<std::size_t> touched = touched_by(damaged);
    const auto reader = open_sample_reader(*storage_, live, writer_);
    check_steps(*reader, Expectation(frames_, touched), what);
    check_events(*reader, touched, what);
    ASSERT_TRUE(reader->verify_all().ok()) << what;
    const auto losses = reader->losses();
    const bool reported =
        std::any_of(losses.begin(), losses.end(), [](const RunLoss& loss) { return !loss.by_writer; });
    EXPECT_EQ(reported, !touched.empty() && must_report) << what;
  }

  void check_steps(JournalReader& reader, const Expectation& expectation, const std::string& what) {
    if (writer_ != "rank-00000") return;
    std::size_t found = 0;
    for (const auto& step : steps_) {
      const std::int64_t number = step->batch().global_step;
      if (!expectation.is_here(number)) continue;
      const bool here = found < reader.steps().size() && reader.steps()[found].global_step == number;
      if (here) {
        EXPECT_EQ(difference(reader, found, step->batch(), true), "") << what;
        check_records(reader, found++, *step, expectation, what);
      } else {
        EXPECT_FALSE(expectation.step_is_required(number)) << what << " step " << number;
      }
    }
    EXPECT_EQ(found, reader.steps().size()) << what << ": invented steps";
  }

  void check_records(JournalReader& reader, std::size_t index, const SampleStep& step, const Expectation& expectation,
                     const std::string& what) {
    std::size_t readable[format::kRecordFormCount] = {};
    const std::span<const Record> records = reader.records(index).value();
    for (const Record& record : records) {
      if (is_readable(reader, record)) ++readable[static_cast<std::size_t>(record.form)];
    }
    const auto& statistics = step.batch().statistics;
    const auto shapes = static_cast<std::size_t>(
        std::count_if(statistics.begin(), statistics.end(), [](const StatisticsRow& row) { return row.shape_only; }));
    const std::size_t all[] = {step.batch().tensors.size(), statistics.size() - shapes, step.batch().scalars.size(),
                               shapes, format::first_rows(step.batch().reductions).size()};
    const std::int64_t number = step.batch().global_step;
    for (int i = 0; i < format::kRecordFormCount; ++i) {
      const auto form = static_cast<RecordForm>(i);
      if (expectation.record_is_required(number, form)) {
        EXPECT_EQ(readable[i], all[i]) << what << " step " << number << " form " << i;
      }
    }
  }

  void check_events(JournalReader& reader, const std::set<std::size_t>& touched, const std::string& what) {
    std::size_t untouched_events = 0;
    for (std::size_t i = 0; i < frames_.size(); ++i) {
      const FrameKind kind = frames_[i].kind;
      const bool event = kind == FrameKind::kEvent || kind == FrameKind::kVerdict || kind == FrameKind::kAction;
      if (event && !touched.contains(i)) ++untouched_events;
    }
    EXPECT_EQ(all_events(reader).size(), untouched_events) << what;
  }

  std::string zeroed(std::size_t begin, std::size_t bytes) const {
    std::string damaged = original_;
    damaged.replace(begin, bytes, bytes, '\0');
    return damaged;
  }

  std::string swapped(std::size_t first, std::size_t second, std::size_t bytes) const {
    std::string damaged = original_;
    damaged.replace(first, bytes, original_.substr(second, bytes));
    damaged.replace(second, bytes, original_.substr(first, bytes));
    return damaged;
  }

  const std::unique_ptr<storage::MemoryStorage> storage_ = storage::create_memory_storage();
  std::string original_;
  std::vector<FramePlace> frames_;
  std::string writer_;
  const std::vector<std::unique_ptr<SampleStep>> steps_ = golden_steps(GetParam().golden);
};

TEST_P(CorruptSetTest, Undamaged) {
  check(original_, "undamaged");
}

TEST_P(CorruptSetTest, TheLastFrameCutAtEachByte) {
  const FramePlace& last = frames_.back();
  for (std::size_t bytes = last.begin; bytes < last.end; ++bytes) {
    // Cut between two frames, the file is as if the last one had never been written.
    for (const bool live : {false, true}) {
      check(original_.substr(0, bytes), "cut at " + std::to_string(bytes), bytes > last.begin, live);
    }
  }
}

// Under a sanitizer every thirteenth bit, each place in a byte in turn, and every third of the small pages: all of them
// would take ten minutes.
#if defined(TW_SANITIZED)
constexpr std::size_t kBitStride = 13;
constexpr std::size_t kSmallPageStride = 3;
#else
constexpr std::size_t kBitStride = 1;
constexpr std::size_t kSmallPageStride = 1;
#endif
constexpr std::size_t kSmallPage = 64;
constexpr std::size_t kPage = 4096;

std::size_t stride_of(std::size_t page_bytes) {
  return page_bytes * (page_bytes == kSmallPage ? kSmallPageStride : 1);
}

TEST_P(CorruptSetTest, EachHeaderBitFlipped) {
  for (const FramePlace& frame : frames_) {
    for (std::size_t bit = 0; bit < format::kFrameHeaderBytes * 8; bit += kBitStride) {
      std::string damaged = original_;
      char& byte = damaged[frame.begin + bit / 8];
      byte = static_cast<char>(byte ^ (1 << (bit % 8)));
      check(damaged, "bit " + std::to_string(bit) + " of the header at " + std::to_string(frame.begin));
    }
  }
}

TEST_P(CorruptSetTest, EachPageZeroed) {
  for (const std::size_t page_bytes : {kSmallPage, kPage}) {
    for (std::size_t begin = 0; begin < original_.size(); begin += stride_of(page_bytes)) {
      const std::size_t bytes = std::min(page_bytes, original_.size() - begin);
      for (const bool live : {false, true}) {
        check(zeroed(begin, bytes), std::to_string(bytes) + " bytes zeroed at " + std::to_string(begin), true, live);
      }
    }
  }
}

TEST_P(CorruptSetTest, PagesSwapped) {
  for (const std::size_t page_bytes : {kSmallPage, kPage}) {
    for (const std::size_t distance : {page_bytes, 3 * page_bytes, 7 * page_bytes}) {
      for (std::size_t begin = 0; begin + distance + page_bytes <= original_.size(); begin += stride_of(page_bytes)) {
        check(swapped(begin, begin + distance, page_bytes), "pages of " + std::to_string(page_bytes) + " swapped at " +
                                                                std::to_string(begin) + " and " +
                                                                std::to_string(begin + distance));
      }
    }
  }
}

std::string test_name(const testing::TestParamInfo<GoldenSegment>& info) {
  std::string name = info.param.path.substr(std::strlen("journal/"));
  if (info.param.golden == Golden::kReductions) name = "reductions_" + name;
  if (info.param.golden == Golden::kSamples) name = "samples_" + name;
  if (info.param.golden == Golden::kCompressed) name = "compressed_" + name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Golden, CorruptSetTest,
                         testing::Values(GoldenSegment{Golden::kFirst, "journal/rank-00000/seg-00000000.tw"},
                                         GoldenSegment{Golden::kFirst, "journal/rank-00000/seg-00000001.tw"},
                                         GoldenSegment{Golden::kFirst, "journal/watch-0/seg-00000000.tw"},
                                         GoldenSegment{Golden::kReductions, "journal/rank-00000/seg-00000000.tw"},
                                         GoldenSegment{Golden::kReductions, "journal/rank-00000/seg-00000001.tw"},
                                         GoldenSegment{Golden::kSamples, "journal/rank-00000/seg-00000000.tw"},
                                         GoldenSegment{Golden::kSamples, "journal/rank-00000/seg-00000001.tw"},
                                         GoldenSegment{Golden::kCompressed, "journal/rank-00000/seg-00000000.tw"},
                                         GoldenSegment{Golden::kCompressed, "journal/rank-00000/seg-00000001.tw"}),
                         test_name);

}  // namespace
}  // namespace trainwarden::journal
