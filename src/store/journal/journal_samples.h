// JournalSamples: the samples of a journal, found by time and by metric.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "store/journal/decoded_frames.h"
#include "store/journal/journal_contents.h"
#include "store/journal/journal_reader.h"
#include "store/journal/journal_segment.h"
#include "trainwarden/metric.h"
#include "trainwarden/status.h"

namespace trainwarden::journal {

// One thread at a time.
class JournalSamples {
 public:
  using UseSegment = std::function<JournalSegment&(std::uint32_t index)>;  // makes the segment ready to be read

  // All must outlive it.
  JournalSamples(JournalContents& contents, DecodedFrames& frames, UseSegment use)
      : contents_(contents), frames_(frames), use_(std::move(use)) {}

  // As JournalReader's.
  Status visit(const SampleQuery& query, const SampleVisitor& visit);
  Result<std::optional<SampleTimes>> times(std::int64_t from_unix_ns);

 private:
  Status look_at_new_frames();
  Status look_at(SampleFrame& frame);
  std::vector<const SampleFrame*> frames_for(const SampleQuery& query);
  Status visit_frame(const SampleFrame& frame, const SampleQuery& query, const SampleVisitor& visit);

  JournalContents& contents_;
  DecodedFrames& frames_;
  const UseSegment use_;
  std::size_t seen_frames_ = 0;       // none of those before is unread
  std::optional<SampleTimes> times_;  // of those
  std::vector<bool> wanted_;          // of each metric, by the last query
  std::vector<Sample> samples_;       // of the series that is visited
};

}  // namespace trainwarden::journal
