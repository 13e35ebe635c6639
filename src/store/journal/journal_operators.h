// JournalOperators: the operator calls of a journal, found by step.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "store/journal/decoded_frames.h"
#include "store/journal/journal_contents.h"
#include "store/journal/journal_segment.h"
#include "trainwarden/operator_calls.h"
#include "trainwarden/status.h"

namespace trainwarden::journal {

// One thread at a time.
class JournalOperators {
 public:
  using UseSegment = std::function<JournalSegment&(std::uint32_t index)>;  // makes the segment ready to be read

  // All must outlive it.
  JournalOperators(const JournalContents& contents, DecodedFrames& frames, UseSegment use)
      : contents_(contents), frames_(frames), use_(std::move(use)) {}

  // As JournalReader's.
  std::vector<std::int64_t> steps() const;
  Result<OperatorBatch> read(std::int64_t global_step);

 private:
  const JournalContents& contents_;
  DecodedFrames& frames_;
  const UseSegment use_;
};

}  // namespace trainwarden::journal
