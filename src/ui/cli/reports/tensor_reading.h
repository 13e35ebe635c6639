// TensorReading: all that a run knows of one tensor at one step.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trainwarden/trial.h"

namespace trainwarden::cli {

struct TensorReading {
  std::string tensor;
  std::string worker;
  Mode mode = Mode::kGlobal;  // of the step
  std::int64_t step = 0;      // global
  std::int64_t mode_step = 0;
  DType dtype = DType::kFloat32;  // means something when there is a shape
  std::optional<Shape> shape;     // single reductions alone have none
  // What was kept, in falling order of richness. `statistics` are there whenever they can be computed.
  std::optional<TensorValue> value;
  std::optional<Statistics> statistics;
  std::optional<double> scalar;
  std::vector<SavedReduction> reductions;     // single ones
  std::optional<std::int64_t> nearest_whole;  // where there is no value: the nearest global step that has one
};

struct ReadingQuery {
  std::string tensor;
  Mode mode = Mode::kGlobal;         // of `step`
  std::optional<std::int64_t> step;  // none: the last that has the tensor
  std::string worker;                // empty: the first that has it
};

// kNotFound for an unknown tensor or worker, kOutOfRange when the tensor is not there at that step (both name the
// nearest), kDataLoss when it is damaged.
Result<TensorReading> read_tensor(Trial& trial, const ReadingQuery& query);

}  // namespace trainwarden::cli
