// A segment, copied with statistics in place of most of its whole tensors.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "read/retention/segment_survey.h"
#include "store/storage/folder_edits.h"
#include "trainwarden/status.h"

namespace trainwarden::retention {

struct ThinnedSegment {
  std::uint64_t steps = 0;
  std::uint64_t tensors = 0;
  std::uint64_t bytes_before = 0;  // of the file
  std::uint64_t bytes_after = 0;
  std::vector<std::string> left_out;  // segments that stay as they are, with what is damaged in them
};

// Which steps of a run are to keep nothing whole but what is cited.
using StepChoice = std::function<bool(std::int64_t step)>;

// Writes a copy of the surveyed segment beside it, brings it to the medium, and lets it take the segment's place at
// once: at every moment the one or the other is there, whole. All else that is in the segment stays as it is, byte for
// byte, with its times. Nobody may write the journal meanwhile: hold its lock. An error leaves the segment as it was.
Result<ThinnedSegment> thin_segment(storage::Storage& run, storage::FolderEdits& changes, const journal::RunInfo& info,
                                    const std::string& writer, const SegmentSurvey& survey,
                                    const StepChoice& is_thinned, const CitedTensors& cited);

// Of a copy that was interrupted, in the journal's folder: no reader looks at it.
bool is_unfinished_copy(const std::string& file_name);

}  // namespace trainwarden::retention
