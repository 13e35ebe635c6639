// Trains a model to find answers in texts.
#pragma once

#include "cli/train_options.h"

namespace bert {

// Exit code of a training that ran to its end or was asked to stop.
inline constexpr int kDone = 0;

// Evaluates, trains, evaluates, and writes model and result.json into options.out. A training that a job restarted goes
// on from its newest whole checkpoint. Throws std::runtime_error for files that are wrong, std::invalid_argument for
// options that are.
int train_spans(const TrainOptions& options, const SpanOptions& spans);

}  // namespace bert
