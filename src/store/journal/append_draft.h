// AppendDraft: the frames of one append, before they have a place in a segment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "data/format/frame.h"
#include "data/format/segment_index.h"

namespace trainwarden::journal {

struct FrameDraft {
  format::FrameKind kind = format::FrameKind::kPad;
  std::uint16_t flags = 0;
  std::int64_t step = -1;
  std::string head;            // the payload, or its start
  std::vector<ByteSpan> tail;  // the rest of the payload, borrowed: tensors are never copied
};

struct AppendDraft {
  std::vector<FrameDraft> frames;
  std::vector<std::uint32_t> named_ids;      // of tensors whose names are in the frames
  std::vector<std::uint32_t> named_metrics;  // the same of metrics

  // What the segment's index will say. Frames and records count from the start of this draft; times come later.
  std::optional<format::StepIndexRow> step;
  std::vector<format::RecordIndexRow> records;
  std::vector<format::SampleIndexRow> samples;
};

}  // namespace trainwarden::journal
