// SegmentIndexView: a segment's index in place. Of a long run it is large: a row is put together when it is asked for,
// so that frames and steps are never copied as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/base/bytes.h"
#include "data/format/columns.h"
#include "data/format/segment_index.h"
#include "trainwarden/status.h"

namespace trainwarden::format {

class FrameIndexRows {
 public:
  std::size_t size() const { return offset_.size(); }
  FrameIndexRow operator[](std::size_t i) const {
    return {offset_[i], static_cast<FrameKind>(kind_[i]), step_[i], payload_bytes_[i], unix_ns_[i]};
  }

 private:
  friend struct SegmentIndexView;
  ColumnView<std::uint64_t> offset_;
  ColumnView<std::uint8_t> kind_;
  ColumnView<std::int64_t> step_;
  ColumnView<std::uint64_t> payload_bytes_;
  ColumnView<std::int64_t> unix_ns_;
};

class StepIndexRows {
 public:
  std::size_t size() const { return global_step_.size(); }
  StepIndexRow operator[](std::size_t i) const {
    StepIndexRow row{global_step_[i], static_cast<Mode>(mode_[i]), mode_step_[i], unix_ns_[i], frame_[i],
                     loss_count_[i]};
    if (layout_.size() == 0) {
      row.first_record = first_record_[i];
      row.record_count = record_count_[i];
    } else {
      row.first_frame = first_frame_[i];
      row.layout = layout_[i];
    }
    return row;
  }

 private:
  friend struct SegmentIndexView;
  ColumnView<std::int64_t> global_step_;
  ColumnView<std::underlying_type_t<Mode>> mode_;
  ColumnView<std::int64_t> mode_step_;
  ColumnView<std::int64_t> unix_ns_;
  ColumnView<std::uint32_t> frame_;
  ColumnView<std::uint32_t> loss_count_;
  // Either of the two pairs is there.
  ColumnView<std::uint32_t> first_record_;
  ColumnView<std::uint32_t> record_count_;
  ColumnView<std::uint32_t> first_frame_;
  ColumnView<std::uint32_t> layout_;
};

// Otherwise as SegmentIndex.
struct SegmentIndexView {
  // Checks as decode_segment_index(). `payload` must outlive it.
  static Result<SegmentIndexView> open(ByteSpan payload);

  FrameIndexRows frames;
  StepIndexRows steps;
  std::vector<RecordIndexRow> records;
  std::vector<std::uint32_t> layouts;
  std::vector<SampleIndexRow> samples;
};

// kDataLoss when a number points to what is not there, or when a small index would make a large run.
Status check_segment_index(const SegmentIndexView& index);

}  // namespace trainwarden::format
