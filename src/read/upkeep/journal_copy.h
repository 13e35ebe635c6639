// JournalCopy: what can be read of segments, written as segments of a journal that is whole: index and trailer on each.
//
// Payloads go over byte for byte, with the times of their frames. Nothing is made up: a row whose name is lost is left
// out, and of a step without its end nothing is kept, as no reader shows it. Only an end that the segment's index still
// knows is written again from there.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "data/format/frame.h"
#include "read/upkeep/segment_scan.h"
#include "store/journal/run_folder.h"
#include "store/journal/segment_writer.h"
#include "store/storage/storage.h"
#include "trainwarden/status.h"

namespace trainwarden::upkeep {

// Something of a file that is not in the copy, or had to be made again.
struct CopyNote {
  std::string path;  // "journal/rank-00000/seg-00000001.tw"
  std::uint64_t offset = 0;
  std::string cause;        // "damaged payload", "torn tail", ...
  std::string what;         // "bundle of step 5"; empty when nobody knows
  std::uint64_t count = 0;  // frames, rows or files
  std::uint64_t bytes = 0;
};

struct CopyTally {
  std::uint64_t segments = 0;
  std::uint64_t frames = 0;
  std::uint64_t steps = 0;
  std::uint64_t records = 0;   // of tensors
  std::uint64_t bytes = 0;     // of the segments written
  std::uint64_t left_out = 0;  // frames that were not wanted
  std::vector<CopyNote> lost;
  std::vector<CopyNote> mended;  // what was damaged and says nothing that is not known: an index, a trailer
};

// Is this frame to be in the copy? Asked for all but those that every segment has of its own.
using FrameFilter = std::function<bool(const format::FrameHeader&)>;

// One thread at a time.
class JournalCopy {
 public:
  // A journal of `run` in `target`, which has none of this name yet. Both must outlive it.
  JournalCopy(storage::Storage& target, const journal::RunInfo& run, std::string writer);

  // Appends what the segment holds, as the next segment. No file is made where nothing is to be kept. Damage in the
  // source is noted; errors are those of the storages.
  Status add(SegmentScan& source, const FrameFilter& wanted = {});
  // Appends an event of ours, as a segment of its own: what the new run has to say for itself.
  Status add_event(std::string_view json, std::int64_t unix_ns);
  // The segments that are missing by their numbers, which rise.
  void note_gaps(std::string_view writer, std::span<const std::uint64_t> numbers);

  const CopyTally& tally() const { return tally_; }
  const std::string& writer() const { return writer_; }

 private:
  friend class SegmentCopy;
  // The time of the frame that is written next.
  class FrameClock final : public Clock {
   public:
    std::int64_t unix_ns() const override { return unix_ns_; }
    std::int64_t steady_ns() const override { return unix_ns_; }
    void set(std::int64_t unix_ns) { unix_ns_ = unix_ns; }

   private:
    std::int64_t unix_ns_ = 0;
  };

  Result<std::unique_ptr<journal::SegmentWriter>> start_segment(const format::SegmentStart& known,
                                                                std::uint32_t writer_id, std::int64_t unix_ns);
  Status seal(journal::SegmentWriter& segment);

  storage::Storage& target_;
  const journal::RunInfo& run_;
  const std::string writer_;
  FrameClock clock_;
  std::uint64_t next_segment_ = 0;
  bool has_folder_ = false;
  CopyTally tally_;
};

}  // namespace trainwarden::upkeep
