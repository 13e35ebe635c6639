#include "store/journal/segment_decoder.h"

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/crc32c.h"

namespace trainwarden::journal {
namespace {

using format::FrameHeader;
using format::FrameKind;

constexpr std::uint32_t kSalt = 77;
constexpr std::uint32_t kDecodedWriter = 3;

// What a decoder said, as text: one line for each frame and each damage.
class Transcript final : public FrameSink {
 public:
  void on_frame(const FrameHeader& header, ByteSpan payload) override {
    frames.push_back(std::string(format::name(header.kind)) + " " + std::to_string(header.sequence) + " " +
                     std::string(as_text(payload)));
  }
  void on_damage(const Damage& damage) override { damages.push_back(damage); }
  std::vector<std::string> frames;
  std::vector<Damage> damages;
};

class SegmentDecoderTest : public testing::Test {
 protected:
  // Appends a frame to the file; fields of `like` that have a place in the file are filled in.
  FrameHeader add(FrameKind kind, const std::string& payload, FrameHeader like = {}) {
    like.kind = kind;
    like.payload_bytes = payload.size();
    like.payload_crc = crc32c(as_bytes(payload));
    like.file_offset = file_.size();
    like.sequence = next_sequence_++;
    like.run_salt = kSalt;
    like.writer_id = kDecodedWriter;
    append(like, payload);
    return like;
  }
  void append(const FrameHeader& header, const std::string& payload) {
    const auto bytes = format::encode_frame_header(header);
    file_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    file_ += payload;
    file_.resize(align_up(file_.size(), 64), '\0');
  }
  void add_step(std::int64_t step) {
    FrameHeader like;
    like.step = step;
    add(FrameKind::kBundle, std::string(200, 'b'), like);
    add(FrameKind::kStepEnd, "end", like);
  }
  // Everything that lies in the file's first `bytes`.
  void decode(SegmentDecoder& decoder, std::uint64_t bytes) {
    while (const auto range = decoder.next(bytes)) {
      ASSERT_LE(range->offset + range->bytes, bytes);
      decoder.supply(as_bytes(file_).subspan(range->offset, range->bytes));
    }
  }
  Transcript decode_all() {
    Transcript transcript;
    SegmentDecoder decoder({kSalt, kDecodedWriter}, transcript);
    decode(decoder, file_.size());
    decoder.finish(file_.size());
    return transcript;
  }

  std::string file_;
  std::uint64_t next_sequence_ = 0;
};

TEST_F(SegmentDecoderTest, WalksHeadersAndReadsOnlyWords) {
  add(FrameKind::kSegmentStart, "start");
  add_step(0);
  add(FrameKind::kEvent, "");
  const Transcript transcript = decode_all();
  EXPECT_EQ(transcript.frames,
            (std::vector<std::string>{"segment_start 0 start", "bundle 1 ", "step_end 2 end", "event 3 "}));
  EXPECT_TRUE(transcript.damages.empty());
}

TEST_F(SegmentDecoderTest, GivesTheSameFramesHoweverTheFileGrows) {
  add(FrameKind::kSegmentStart, "start");
  for (int step = 0; step < 5; ++step) add_step(step);
  const std::vector<std::string> expected = decode_all().frames;
  for (std::uint64_t stride : {1, 7, 63, 64, 65, 300}) {
    Transcript transcript;
    SegmentDecoder decoder({kSalt, kDecodedWriter}, transcript);
    for (std::uint64_t bytes = 0; bytes < file_.size(); bytes += stride) decode(decoder, bytes);
    decode(decoder, file_.size());
    EXPECT_EQ(transcript.frames, expected) << stride;
    EXPECT_TRUE(transcript.damages.empty()) << stride;
  }
}

TEST_F(SegmentDecoderTest, ReportsATornTailOnlyWhenToldThatNothingMoreComes) {
  add_step(0);
  const std::uint64_t whole_bytes = file_.size();
  add_step(1);
  for (std::uint64_t bytes = whole_bytes + 1; bytes < whole_bytes + 320; ++bytes) {
    Transcript transcript;
    SegmentDecoder decoder({kSalt, kDecodedWriter}, transcript);
    decode(decoder, bytes);
    EXPECT_EQ(transcript.frames.size(), 2u);
    EXPECT_TRUE(transcript.damages.empty());
    decoder.finish(bytes);
    ASSERT_EQ(transcript.damages.size(), 1u);
    EXPECT_EQ(transcript.damages[0].cause, kTornTail);
    EXPECT_EQ(transcript.damages[0].offset, whole_bytes);
    EXPECT_EQ(transcript.damages[0].bytes, bytes - whole_bytes);
  }
}

TEST_F(SegmentDecoderTest, FindsTheNextFrameBehindADamagedHeader) {
  add_step(0);
  const std::uint64_t second = file_.size();
  add_step(1);
  for (std::uint64_t bit = 0; bit < 64 * 8; ++bit) {
    file_[second + bit / 8] = static_cast<char>(file_[second + bit / 8] ^ (1 << (bit % 8)));
    const Transcript transcript = decode_all();
    ASSERT_EQ(transcript.frames.size(), 3u) << "bit " << bit;
    EXPECT_EQ(transcript.frames.back(), "step_end 3 end");
    ASSERT_EQ(transcript.damages.size(), 1u) << "bit " << bit;
    EXPECT_EQ(transcript.damages[0].offset, second);
    EXPECT_EQ(transcript.damages[0].frames, 1u);
    EXPECT_EQ(transcript.damages[0].bytes, 64u + 256u);
    file_[second + bit / 8] = static_cast<char>(file_[second + bit / 8] ^ (1 << (bit % 8)));
  }
}

TEST_F(SegmentDecoderTest, CountsTheFramesThatADamagedStretchHeld) {
  add_step(0);
  const std::size_t begin = file_.size();
  for (int step = 1; step < 4; ++step) add_step(step);
  const std::size_t end = file_.size();
  add_step(4);
  std::fill(file_.begin() + static_cast<std::ptrdiff_t>(begin), file_.begin() + static_cast<std::ptrdiff_t>(end), '\0');
  const Transcript transcript = decode_all();
  ASSERT_EQ(transcript.damages.size(), 1u);
  EXPECT_EQ(transcript.damages[0].frames, 6u);
  EXPECT_EQ(transcript.damages[0].bytes, end - begin);
  EXPECT_EQ(transcript.frames.size(), 4u);
}

TEST_F(SegmentDecoderTest, LosesOnlyTheRecordWhosePayloadIsDamaged) {
  add(FrameKind::kEvent, "first");
  add(FrameKind::kEvent, "second");
  file_[64] = 'F';
  const Transcript transcript = decode_all();
  EXPECT_EQ(transcript.frames, std::vector<std::string>{"event 1 second"});
  ASSERT_EQ(transcript.damages.size(), 1u);
  EXPECT_EQ(transcript.damages[0].cause, kDamagedPayload);
}

TEST_F(SegmentDecoderTest, RefusesFramesOfOthers) {
  const FrameHeader good = add(FrameKind::kEvent, "good");
  const struct {
    void (*spoil)(FrameHeader&);
    std::string_view cause;
  } cases[] = {
      {[](FrameHeader& header) { header.run_salt += 1; }, "frame of another run"},
      {[](FrameHeader& header) { header.writer_id += 1; }, "frame of another writer"},
      {[](FrameHeader& header) { header.file_offset -= 64; }, "frame from another place"},
      {[](FrameHeader& header) { header.sequence = 0; }, "frame out of order"},
  };
  const std::string before = file_;
  for (const auto& test_case : cases) {
    file_ = before;
    next_sequence_ = 1;
    FrameHeader foreign = good;
    foreign.file_offset = file_.size();
    foreign.sequence = next_sequence_;
    test_case.spoil(foreign);
    append(foreign, "good");
    add(FrameKind::kEvent, "after");
    const Transcript transcript = decode_all();
    EXPECT_EQ(transcript.frames, (std::vector<std::string>{"event 0 good", "event 1 after"}));
    ASSERT_EQ(transcript.damages.size(), 1u);
    EXPECT_EQ(transcript.damages[0].cause, test_case.cause);
    EXPECT_EQ(transcript.damages[0].bytes, 128u);
  }
}

TEST_F(SegmentDecoderTest, CountsFramesThatAreMissingByTheirNumbers) {
  add(FrameKind::kEvent, "a");
  next_sequence_ += 5;
  add(FrameKind::kEvent, "b");
  const Transcript transcript = decode_all();
  ASSERT_EQ(transcript.damages.size(), 1u);
  EXPECT_EQ(transcript.damages[0].cause, "missing frames");
  EXPECT_EQ(transcript.damages[0].frames, 5u);
}

TEST_F(SegmentDecoderTest, LearnsTheWriterFromTheFirstFrameWhenItIsNotKnown) {
  add(FrameKind::kEvent, "a");
  Transcript transcript;
  SegmentDecoder decoder({kSalt, std::nullopt}, transcript);
  decode(decoder, file_.size());
  EXPECT_EQ(decoder.owner().writer_id, kDecodedWriter);
}

TEST_F(SegmentDecoderTest, StopsAtTheTrailerAndReportsWhatFollowsIt) {
  add(FrameKind::kTrailer, std::string(64, ' '));
  file_ += std::string(10, 'x');
  const Transcript transcript = decode_all();
  EXPECT_EQ(transcript.frames.size(), 1u);
  ASSERT_EQ(transcript.damages.size(), 1u);
  EXPECT_EQ(transcript.damages[0].cause, "bytes after the trailer");
  EXPECT_EQ(transcript.damages[0].bytes, 10u);
}

TEST_F(SegmentDecoderTest, IsNotFooledByAbsurdLengths) {
  FrameHeader header;
  header.kind = FrameKind::kEvent;
  header.run_salt = kSalt;
  header.writer_id = kDecodedWriter;
  for (const std::uint64_t bytes : {~std::uint64_t{0}, ~std::uint64_t{0} - 64, std::uint64_t{1} << 40}) {
    file_.clear();
    header.payload_bytes = bytes;
    append(header, "");
    const Transcript transcript = decode_all();
    EXPECT_TRUE(transcript.frames.empty());
    ASSERT_EQ(transcript.damages.size(), 1u);
    EXPECT_EQ(transcript.damages[0].cause, kTornTail);
  }
}

// A later write proves that a damaged end was not just half of a write.
TEST_F(SegmentDecoderTest, TakesUpAgainWhenTheFileGrowsBehindDamage) {
  add(FrameKind::kEvent, "a");
  const std::size_t damaged = file_.size();
  add(FrameKind::kEvent, "b");
  file_[damaged] = 'X';
  Transcript transcript;
  SegmentDecoder decoder({kSalt, kDecodedWriter}, transcript);
  decode(decoder, file_.size());
  decode(decoder, file_.size());
  EXPECT_TRUE(transcript.damages.empty());
  add(FrameKind::kEvent, "c");
  decode(decoder, file_.size());
  EXPECT_EQ(transcript.frames, (std::vector<std::string>{"event 0 a", "event 2 c"}));
  ASSERT_EQ(transcript.damages.size(), 1u);
  EXPECT_EQ(transcript.damages[0].cause, kDamagedHeader);
}

TEST_F(SegmentDecoderTest, SurvivesNoise) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    file_.clear();
    next_sequence_ = 0;
    for (int step = 0; step < 4; ++step) add_step(step);
    for (int hit = 0; hit < 5; ++hit) file_[random() % file_.size()] = static_cast<char>(random());
    file_.resize(random() % (file_.size() + 1));
    const Transcript transcript = decode_all();
    EXPECT_LE(transcript.frames.size(), 8u);
  }
}

}  // namespace
}  // namespace trainwarden::journal
