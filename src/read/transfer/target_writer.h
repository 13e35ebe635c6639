// TargetWriter: what each format of an export implements.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "data/format/records.h"
#include "read/transfer/export_notes.h"
#include "read/transfer/output_file.h"
#include "trainwarden/mode.h"
#include "trainwarden/reduction.h"
#include "trainwarden/status.h"
#include "trainwarden/tensor_value.h"
#include "trainwarden/transfer.h"

namespace trainwarden::transfer {

// One step of one worker.
struct WorkerStep {
  std::string worker;
  std::int64_t global_step = 0;
  Mode mode = Mode::kGlobal;
  std::int64_t mode_step = 0;
  std::int64_t unix_ns = 0;
};

// The calls come step by step: begin_step, the step's tensors by name, end_step. After an error none comes but the
// destructor, which leaves nothing half-written under its final name.
class TargetWriter {
 public:
  virtual ~TargetWriter() = default;

  virtual Status begin_step(const WorkerStep& step) = 0;
  // A tensor that was kept in several forms comes in each, in the order value, reductions, scalar, statistics, shape.
  virtual Status write_value(std::string_view tensor, const SharedTensorValue& value) = 0;
  virtual Status write_scalar(std::string_view tensor, double value) = 0;
  virtual Status write_statistics(std::string_view tensor, const format::StatisticsRow& row) = 0;
  virtual Status write_reductions(std::string_view tensor, std::span<const SavedReduction> reductions) = 0;
  virtual Status write_shape(std::string_view tensor, DType dtype, const Shape& shape) = 0;
  virtual Status end_step() = 0;

  virtual Status finish(bool run_ended) = 0;
};

// What a writer is made from; all of it outlives the writer.
struct TargetPlan {
  const ExportOptions& options;
  Trial& trial;
  ExportNotes& notes;
  OutputTally& tally;
};

// In <format>_target.cc each.
Result<std::unique_ptr<TargetWriter>> open_smdebug_target(const TargetPlan& plan);
Result<std::unique_ptr<TargetWriter>> open_tensorboard_target(const TargetPlan& plan);
Result<std::unique_ptr<TargetWriter>> open_safetensors_target(const TargetPlan& plan);
Result<std::unique_ptr<TargetWriter>> open_npz_target(const TargetPlan& plan);
Result<std::unique_ptr<TargetWriter>> open_csv_target(const TargetPlan& plan);
Result<std::unique_ptr<TargetWriter>> open_json_target(const TargetPlan& plan);
Result<std::unique_ptr<TargetWriter>> open_mcap_target(const TargetPlan& plan);
Result<std::unique_ptr<TargetWriter>> open_parquet_target(const TargetPlan& plan);

}  // namespace trainwarden::transfer
