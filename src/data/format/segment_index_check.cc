// That every number of a segment's index points to something that is there.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "data/format/compression.h"
#include "data/format/segment_index_view.h"

namespace trainwarden::format {
namespace {

Status damaged_index(std::string_view column, std::size_t row, std::string_view what) {
  return Status(Code::kDataLoss, fmt::format("index: column \"{}\", row {}: {}", column, row, what));
}

constexpr std::uint64_t kFarthestOffset = std::uint64_t{1} << 62;

Status check_frames(const SegmentIndexView& index) {
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < index.frames.size(); ++i) {
    const auto [offset, kind, step, payload_bytes, unix_ns] = index.frames[i];
    if (offset % kFrameAlignment != 0 || offset < expected)
      return damaged_index("frame.offset", i, "not after the frame before");
    const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - offset - kFrameHeaderBytes - kFrameAlignment;
    if (offset > kFarthestOffset || payload_bytes > room) return damaged_index("frame.payload_bytes", i, "too many");
    expected = offset + kFrameHeaderBytes + align_up(payload_bytes, kFrameAlignment);
  }
  return Status();
}

Status check_records(const SegmentIndexView& index) {
  const bool shared = !index.layouts.empty();
  for (std::size_t i = 0; i < index.records.size(); ++i) {
    if (index.records[i].form > RecordForm::kReductions) {
      return damaged_index(shared ? "layout.form" : "record.form", i, "unknown form");
    }
    if (index.records[i].frame >= index.frames.size()) {
      return damaged_index(shared ? "layout.frame" : "record.frame", i, "no such frame");
    }
  }
  return Status();
}

// The frames of a step lie between the end of the step before and its own.
Status check_records_of(const SegmentIndexView& index, std::size_t step_row, std::uint64_t first_frame) {
  const StepIndexRow step = index.steps[step_row];
  for (std::uint64_t i = step.first_record; i < std::uint64_t{step.first_record} + step.record_count; ++i) {
    const RecordIndexRow& record = index.records[i];
    if (record.frame < first_frame || record.frame >= step.frame) {
      return damaged_index("record.frame", i, "a frame of another step");
    }
  }
  return Status();
}

Status check_step(const SegmentIndexView& index, std::size_t row, std::uint64_t next_frame) {
  const StepIndexRow step = index.steps[row];
  if (step.mode < Mode::kTrain || step.mode > Mode::kGlobal) return damaged_index("step.mode", row, "unknown mode");
  if (step.frame >= index.frames.size()) return damaged_index("step.frame", row, "no such frame");
  if (step.frame < next_frame) return damaged_index("step.frame", row, "not after the step before");
  return Status();
}

// Each step has records of its own: were some shared by many steps, a small index would make a large run.
Status check_steps(const SegmentIndexView& index) {
  std::uint64_t taken_records = 0;
  std::uint64_t next_frame = 0;
  for (std::size_t i = 0; i < index.steps.size(); ++i) {
    const StepIndexRow step = index.steps[i];
    TRAINWARDEN_RETURN_IF_ERROR(check_step(index, i, next_frame));
    if (std::uint64_t{step.first_record} + step.record_count > index.records.size()) {
      return damaged_index("step.record_count", i, "more records than there are");
    }
    if (step.first_record < taken_records) return damaged_index("step.first_record", i, "records of another step");
    TRAINWARDEN_RETURN_IF_ERROR(check_records_of(index, i, next_frame));
    taken_records = std::uint64_t{step.first_record} + step.record_count;
    next_frame = std::uint64_t{step.frame} + 1;
  }
  return Status();
}

// How many frames of a step the records of each layout need. They must be all the records that there are.
Result<std::vector<std::uint64_t>> frames_of_layouts(const SegmentIndexView& index) {
  std::vector<std::uint64_t> frames;
  std::uint64_t next_record = 0;
  for (std::size_t i = 0; i < index.layouts.size(); ++i) {
    const std::uint64_t end = next_record + index.layouts[i];
    if (end > index.records.size()) return damaged_index("layout.records", i, "more records than there are");
    std::uint64_t needed = 0;
    for (; next_record < end; ++next_record) {
      needed = std::max(needed, std::uint64_t{index.records[next_record].frame} + 1);
    }
    frames.push_back(needed);
  }
  if (next_record == index.records.size()) return frames;
  return damaged_index("layout.records", index.layouts.size(), "records without a layout");
}

// Steps share records, but each has frames of its own in which they lie, and a record takes a byte there at least,
// before frames are compressed: so a small file cannot make a large run.
Status check_sharing_steps(const SegmentIndexView& index) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> frames, frames_of_layouts(index));
  std::uint64_t next_frame = 0;
  for (std::size_t i = 0; i < index.steps.size(); ++i) {
    const StepIndexRow step = index.steps[i];
    TRAINWARDEN_RETURN_IF_ERROR(check_step(index, i, next_frame));
    if (step.layout >= index.layouts.size()) return damaged_index("step.layout", i, "no such layout");
    if (step.first_frame < next_frame || std::uint64_t{step.first_frame} + frames[step.layout] > step.frame) {
      return damaged_index("step.first_frame", i, "frames of another step");
    }
    std::uint64_t payload_bytes = 0;  // of frames that do not overlap in a file: this cannot overflow
    for (std::uint64_t f = 0; f < frames[step.layout]; ++f) {
      payload_bytes += index.frames[step.first_frame + f].payload_bytes;
    }
    const std::uint64_t least_bytes =
        (std::uint64_t{index.layouts[step.layout]} + kMaxCompression - 1) / kMaxCompression;
    if (payload_bytes < least_bytes) {
      return damaged_index("step.layout", i, "more records than its frames have bytes");
    }
    next_frame = std::uint64_t{step.frame} + 1;
  }
  return Status();
}

// Each frame of samples has its row.
Status check_samples(const SegmentIndexView& index) {
  std::uint64_t next_frame = 0;
  for (std::size_t i = 0; i < index.samples.size(); ++i) {
    const SampleIndexRow& row = index.samples[i];
    if (row.frame >= index.frames.size()) return damaged_index("sample.frame", i, "no such frame");
    if (row.frame < next_frame) return damaged_index("sample.frame", i, "not after the frame before");
    if (index.frames[row.frame].kind != FrameKind::kSamples) return damaged_index("sample.frame", i, "no samples");
    if (row.last_unix_ns < row.first_unix_ns) return damaged_index("sample.last_unix_ns", i, "before the first");
    if (row.highest_metric < row.lowest_metric) return damaged_index("sample.highest_metric", i, "below the lowest");
    next_frame = std::uint64_t{row.frame} + 1;
  }
  std::size_t frames = 0;
  for (std::size_t i = 0; i < index.frames.size(); ++i) frames += index.frames[i].kind == FrameKind::kSamples ? 1 : 0;
  if (frames == index.samples.size()) return Status();
  return damaged_index("sample.frame", index.samples.size(), "a frame of samples without a row");
}

}  // namespace

Status check_segment_index(const SegmentIndexView& index) {
  TRAINWARDEN_RETURN_IF_ERROR(check_frames(index));
  TRAINWARDEN_RETURN_IF_ERROR(check_records(index));
  TRAINWARDEN_RETURN_IF_ERROR(index.layouts.empty() ? check_steps(index) : check_sharing_steps(index));
  return check_samples(index);
}

}  // namespace trainwarden::format
