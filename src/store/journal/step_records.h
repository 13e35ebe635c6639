// Step records: which tensors a step holds, from the heads of its frames.
#pragma once

#include "store/journal/decoded_frames.h"
#include "store/journal/journal_contents.h"
#include "store/journal/journal_segment.h"
#include "trainwarden/status.h"

namespace trainwarden::journal {

// Finds the layout of the step's records by `step.frames`, which lie in `segment`. A damaged frame is counted and left
// out; other errors leave the step as it was.
Status load_records(JournalContents& contents, JournalSegment& segment, DecodedFrames& frames, StepData& step);

}  // namespace trainwarden::journal
