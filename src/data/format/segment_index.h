// Segment index and trailer: what a sealed segment holds and where, so that opening it reads one frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "data/format/frame.h"
#include "trainwarden/mode.h"
#include "trainwarden/status.h"

namespace trainwarden::format {

// In which form a tensor was kept. The numbers go to disk.
enum class RecordForm : std::uint8_t { kValue = 0, kStatistics = 1, kScalar = 2, kShape = 3, kReductions = 4 };
inline constexpr int kRecordFormCount = 5;

// Every frame of the segment before the index itself.
struct FrameIndexRow {
  std::uint64_t offset = 0;
  FrameKind kind = FrameKind::kPad;
  std::int64_t step = -1;
  std::uint64_t payload_bytes = 0;
  std::int64_t unix_ns = 0;
  friend bool operator==(const FrameIndexRow&, const FrameIndexRow&) = default;
};

// Every step that was ended, in the order of writing.
struct StepIndexRow {
  std::int64_t global_step = 0;
  Mode mode = Mode::kGlobal;
  std::int64_t mode_step = 0;
  std::int64_t unix_ns = 0;
  std::uint32_t frame = 0;       // of its step_end: index into frames
  std::uint32_t loss_count = 0;  // rows of its step_end's `losses`; 0: no need to read it
  // Where each step has records of its own.
  std::uint32_t first_record = 0;  // index into records
  std::uint32_t record_count = 0;
  // Where steps share them.
  std::uint32_t first_frame = 0;  // its records count frames from here: index into frames
  std::uint32_t layout = 0;       // index into layouts
  friend bool operator==(const StepIndexRow&, const StepIndexRow&) = default;
};

// One tensor at one step in one form; the records of a step lie together.
struct RecordIndexRow {
  std::uint32_t tensor = 0;  // the segment's id for it
  RecordForm form = RecordForm::kValue;
  std::uint32_t frame = 0;  // index into frames; where steps share records, from the first frame of a step on
  std::uint32_t row = 0;    // of the frame's payload
  friend bool operator==(const RecordIndexRow&, const RecordIndexRow&) = default;
};

// What a frame of samples holds, so that who asks for other times or other metrics passes it over.
struct SampleIndexRow {
  std::uint32_t frame = 0;  // index into frames
  std::int64_t first_unix_ns = 0;
  std::int64_t last_unix_ns = 0;     // of the newest sample
  std::uint32_t lowest_metric = 0;   // the segment's ids
  std::uint32_t highest_metric = 0;  // those between need not all be there
  friend bool operator==(const SampleIndexRow&, const SampleIndexRow&) = default;
};

struct SegmentIndex {
  std::vector<FrameIndexRow> frames;
  std::vector<StepIndexRow> steps;
  std::vector<RecordIndexRow> records;
  // Empty: each step has records of its own. Otherwise so many rows of `records` are the first layout, so many behind
  // them the second, and each step says which it has.
  std::vector<std::uint32_t> layouts;
  std::vector<SampleIndexRow> samples;  // one for each frame of samples, in the order of frames
  friend bool operator==(const SegmentIndex&, const SegmentIndex&) = default;
};

std::string encode_segment_index(const SegmentIndex& index);
// Also checks that every number points to something that is there.
Result<SegmentIndex> decode_segment_index(ByteSpan payload);

// The last frame of a sealed segment, always of the same size: it is found from the end of the file.
inline constexpr std::size_t kTrailerPayloadBytes = 64;
inline constexpr std::size_t kTrailerFrameBytes = kFrameHeaderBytes + kTrailerPayloadBytes;

struct Trailer {
  std::uint64_t index_offset = 0;  // of the index frame in the file
  std::uint32_t frames = 0;        // rows of the index: the frames before it
  friend bool operator==(const Trailer&, const Trailer&) = default;
};

std::string encode_trailer(const Trailer& trailer);  // exactly kTrailerPayloadBytes
Result<Trailer> decode_trailer(std::string_view json);

}  // namespace trainwarden::format
