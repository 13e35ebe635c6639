// BadBatch: a batch with samples that no training can use, and what lies behind them, as the data loader's batches were
// found to be (the signal trainwarden/batch/bad_samples, docs/format/signals.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"

namespace trainwarden::diagnosis {

struct BadSample {
  std::int64_t row = -1;    // in its batch
  std::int64_t index = -1;  // in the data set; -1: not known
  std::string source;       // "data/train/cat/0123.jpg"; empty: not known
};

struct BadBatch {
  std::string kind;      // "not_finite", "outlier", "same"
  std::string data_set;  // its class
  std::string place;     // where the loader was made: "train.py:20"; empty: not known
  std::int64_t count = 0, epoch = -1, number = -1;
  std::int64_t worker = -1;  // of the loader; -1: it has none, or that is not known
  double value = 0;          // of an outlier
  std::vector<BadSample> samples;
  std::int64_t step = -1;  // the train step that it was found in
};

// Those of one step; what is not as the format says is left out. kDataLoss for what is no such text at all.
Result<std::vector<BadBatch>> read_bad_batches(std::string_view text);

// "sample 4711 (data/train/cat/0123.jpg) of ImageFolder, in batch 3 of epoch 0, from worker 2 of the loader made at
// train.py:20"
std::string described(const BadBatch& batch);

}  // namespace trainwarden::diagnosis
