// SegmentCopy: one segment of a JournalCopy.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/format/records.h"
#include "read/upkeep/journal_copy.h"
#include "read/upkeep/segment_scan.h"
#include "store/journal/append_draft.h"
#include "store/journal/segment_writer.h"
#include "trainwarden/status.h"

namespace trainwarden::upkeep {

class SegmentCopy {
 public:
  SegmentCopy(JournalCopy& journal, SegmentScan& source, const FrameFilter& wanted);
  Status run();

 private:
  // What is at a place: a frame that was found, or the end of a step that only the index still knows.
  struct Place {
    const format::FrameHeader* frame = nullptr;
    const format::StepIndexRow* step = nullptr;
  };
  // A frame of a step, ready to be written.
  struct StepPart {
    format::FrameHeader header;
    std::string payload;
    std::vector<format::RecordIndexRow> records;  // frame: not known yet
  };

  std::map<std::uint64_t, Place> places() const;
  Status take(const format::FrameHeader& header);
  Status take_names(const format::FrameHeader& header);
  Status take_samples(const format::FrameHeader& header);
  Status take_step_end(const format::FrameHeader& header);
  Status take_step_of_index(const format::StepIndexRow& row);
  Status end_step(format::StepIndexRow row, const format::FrameHeader& end, std::string payload);
  void drop_open_step(std::optional<std::int64_t> but_step);

  Status load(StepPart& part);
  Status load_bundle(StepPart& part);
  Status load_statistics(StepPart& part);
  Status load_scalars(StepPart& part);
  Status load_reductions(StepPart& part);
  std::uint32_t id_of(const std::string& name);
  bool is_named(std::uint32_t id) const;
  void note_nameless(const format::FrameHeader& header, std::uint64_t rows, std::string_view cause);

  Result<std::optional<std::string>> payload_of(const format::FrameHeader& header);
  Status write(journal::AppendDraft draft, std::int64_t unix_ns);
  Status ensure_started(std::int64_t unix_ns);
  void add_missing_names(const std::vector<std::uint32_t>& ids, journal::AppendDraft& draft) const;

  void note_damage();
  void note_damaged_seal();
  bool says_nothing(const journal::Damage& damage);
  void note_lost(std::uint64_t offset, std::string_view cause, std::string what, std::uint64_t count,
                 std::uint64_t bytes);

  JournalCopy& journal_;
  SegmentScan& source_;
  const FrameFilter& wanted_;
  std::unique_ptr<journal::SegmentWriter> segment_;
  std::vector<format::FrameHeader> open_step_;  // data frames whose step_end has not come
  std::unordered_map<std::string, std::uint32_t> id_by_name_;
  std::unordered_map<std::uint32_t, format::NameEntry> own_names_;  // of names that only bundles still say
  std::uint32_t next_id_ = 0;
};

// The chosen series of a table as a payload of their own.
std::string encode_samples_of(const format::SampleTableReader& table, std::span<const std::size_t> series);

// "bundle of step 5", "names".
std::string describe_frame(const format::FrameHeader& header);

}  // namespace trainwarden::upkeep
