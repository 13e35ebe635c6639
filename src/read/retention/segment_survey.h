// What a segment of a worker's journal holds that could be thinned out.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "data/format/frame.h"
#include "data/format/segment_start.h"
#include "read/retention/cited_tensors.h"
#include "store/journal/run_folder.h"
#include "store/storage/storage.h"
#include "trainwarden/dtype.h"
#include "trainwarden/status.h"

namespace trainwarden::retention {

// Smaller ones stay whole: statistics take as much room.
inline constexpr std::uint64_t kLeastThinnedBytes = 1024;
// Of a tensor of this type, size and name, at this step, statistics are enough.
bool may_be_thinned(DType dtype, std::uint64_t bytes, std::int64_t step, const std::string& tensor,
                    const CitedTensors& cited);

struct SurveyedStep {
  std::int64_t step = 0;
  bool has_whole = false;     // tensors lie in it whole
  bool thinned = false;       // it was thinned out before
  std::uint64_t tensors = 0;  // that may be thinned
  std::uint64_t bytes = 0;    // of them
};

struct SegmentSurvey {
  std::uint64_t number = 0;
  bool sealed = false;
  std::vector<format::FrameHeader> frames;  // but for index and trailer
  std::vector<SurveyedStep> steps;
  // Not empty: something in it is damaged. It is left as it is, so that nothing hides what is wrong with it.
  std::string damage;
};

// Of segment `number` of this writer, which nobody writes. An error is the storage's.
Result<SegmentSurvey> survey_segment(const storage::Storage& run, const journal::RunInfo& info,
                                     const std::string& writer, std::uint64_t number, const CitedTensors& cited);

std::string segment_path(const std::string& writer, std::uint64_t number);

}  // namespace trainwarden::retention
