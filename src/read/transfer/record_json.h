// RecordJson: the records of an export as JSON objects, one after the other. docs/reference/export.md has their keys.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "data/format/records.h"
#include "read/transfer/export_notes.h"
#include "read/transfer/target_writer.h"
#include "trainwarden/reduction.h"
#include "trainwarden/tensor_view.h"

namespace trainwarden::transfer {

// What appends to a text that somebody else empties.
class RecordJson {
 public:
  RecordJson(std::string& out, ExportNotes& notes) : out_(out), notes_(notes) {}

  void begin_step(const WorkerStep& step);

  // A value in pieces, as it may be large: what stands before its elements, each element, and what stands behind.
  void begin_value(std::string_view tensor, const TensorView& view);
  void add_element(std::string_view tensor, const TensorView& view, std::int64_t index);
  void end_value();

  void add_scalar(std::string_view tensor, double value);
  void add_statistics(std::string_view tensor, const format::StatisticsRow& row);
  void add_reductions(std::string_view tensor, std::span<const SavedReduction> reductions);
  void add_shape(std::string_view tensor, DType dtype, const Shape& shape);

 private:
  void begin_record(std::string_view tensor, std::string_view form);
  void add_type(DType dtype, const Shape& shape);
  void add_fields(std::span<const SavedReduction> reductions);
  void add_histogram(const Histogram& histogram);

  std::string& out_;
  ExportNotes& notes_;
  std::string place_;  // the fields of the step
};

}  // namespace trainwarden::transfer
