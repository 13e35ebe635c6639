// The samples behind one cell of a confusion matrix.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainwarden/status.h"
#include "trainwarden/trial.h"
#include "ui/views/confusion.h"

namespace trainwarden::views {

struct ConfusedSample {
  std::int64_t global_step = 0;
  std::string worker;               // empty in a run of one worker
  std::vector<std::int64_t> place;  // in the tensor of labels: {3}, or {batch item, position}
};

struct ConfusedSamples {
  std::vector<ConfusedSample> samples;  // of the newest steps first, within a step in the order of the tensor
  bool more = false;                    // there are others, or time was up
};

struct SampleQuestion {
  std::string labels;
  std::string predictions;
  ConfusionRange range;
  std::int64_t actual = 0;     // numbers of classes
  std::int64_t predicted = 0;  //
  std::size_t most = 50;
};

// Empty when no sample of the range is of the one class and was taken for the other.
Result<ConfusedSamples> confused_samples(Trial& trial, const SampleQuestion& question,
                                         const ConfusionLimits& limits = {});

}  // namespace trainwarden::views
