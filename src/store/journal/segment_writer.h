// SegmentWriter: one segment file, from its first frame to its trailer.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/clock.h"
#include "data/format/frame.h"
#include "data/format/record_layouts.h"
#include "data/format/segment_index.h"
#include "data/format/segment_start.h"
#include "store/journal/append_draft.h"
#include "store/storage/storage.h"
#include "trainwarden/status.h"

namespace trainwarden::journal {

// One thread at a time. After any error the file must be left alone: destroy the writer and start another segment.
class SegmentWriter {
 public:
  // Writes the frame that says whose segment this is into `file`, which is new. `compressed`: frames become shorter
  // where that gains something, in the thread that appends them.
  static Result<std::unique_ptr<SegmentWriter>> start(std::unique_ptr<storage::WritableFile> file, const Clock& clock,
                                                      std::uint32_t run_salt, const format::SegmentStart& start,
                                                      bool compressed = false);
  // The same of a segment that is a copy of another one: that frame comes with the others.
  static std::unique_ptr<SegmentWriter> start_copy(std::unique_ptr<storage::WritableFile> file, const Clock& clock,
                                                   std::uint32_t run_salt, std::uint32_t writer_id,
                                                   bool compressed = false);

  // All frames with one write.
  Status append(const AppendDraft& draft);
  Status sync() { return file_->sync(); }
  // Writes the index of all frames and the trailer, brings the file to the medium when `synced`, and closes it.
  Status seal(bool synced);
  // The same without index and trailer.
  Status leave_open(bool synced);

  // Parts of a step were appended, and not yet its end.
  bool has_open_step() const { return !open_records_.empty(); }
  const std::unordered_set<std::uint32_t>& named_ids() const { return named_ids_; }  // of tensors
  const std::unordered_set<std::uint32_t>& named_metrics() const { return named_metrics_; }
  std::uint64_t bytes() const { return bytes_; }
  std::int64_t age_ns() const { return clock_.steady_ns() - started_steady_ns_; }

 private:
  SegmentWriter(std::unique_ptr<storage::WritableFile> file, const Clock& clock, std::uint32_t run_salt,
                std::uint32_t writer_id, bool compressed);

  std::vector<format::FrameHeader> place(std::span<const FrameDraft* const> frames) const;
  Status write(std::span<const FrameDraft* const> frames, std::span<const format::FrameHeader> headers);
  void remember(const AppendDraft& draft, std::span<const format::FrameHeader> headers);
  void remember_step(format::StepIndexRow step, std::uint32_t first_frame);
  void complete_index();

  std::unique_ptr<storage::WritableFile> file_;
  const Clock& clock_;
  const std::uint32_t run_salt_;
  const std::uint32_t writer_id_;
  const bool compressed_;
  const std::int64_t started_steady_ns_;
  std::uint64_t bytes_ = 0;  // also where the next frame starts
  std::unordered_set<std::uint32_t> named_ids_;
  std::unordered_set<std::uint32_t> named_metrics_;
  format::SegmentIndex index_;                        // of everything written so far, but for the records
  std::vector<format::RecordIndexRow> open_records_;  // of the step that has no end yet; they count from frame 0
  format::RecordLayouts layouts_;
  std::uint64_t record_count_ = 0;  // of all steps
};

}  // namespace trainwarden::journal
