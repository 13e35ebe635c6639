// parquet: a table with a row for each scalar, each value of one element, and the statistics or reductions of a tensor
// at a step. docs/reference/export.md has its columns.
#include <array>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"
#include "data/foreign/parquet.h"
#include "data/format/name_escape.h"
#include "data/tensor/element.h"
#include "read/transfer/statistics_fields.h"
#include "read/transfer/target_writer.h"
#include "read/trial/trial_access.h"
#include "trainwarden/version.h"

namespace trainwarden::transfer {
namespace {

using foreign::ParquetColumn;
using foreign::ParquetType;

constexpr std::size_t kParquetPassOnBytes = std::size_t{1} << 20;

// The columns before the counts and the reductions, in this order.
enum ParquetPlace : std::size_t {
  kStepColumn,
  kModeColumn,
  kModeStepColumn,
  kTimeColumn,
  kWorkerColumn,
  kTensorColumn,
  kFormColumn,
  kValueColumn,
  kDtypeColumn,
  kShapeColumn,
  kHashColumn,
  kFirstCountColumn,
};

std::size_t first_reduction_column() {
  return kFirstCountColumn + counts_of(Statistics()).size();
}

std::size_t column_of(const SavedReduction& saved) {
  return first_reduction_column() + 2 * static_cast<std::size_t>(saved.reduction) + (saved.abs ? 1 : 0);
}

std::vector<ParquetColumn> parquet_columns() {
  std::vector<ParquetColumn> columns = {
      {"step", ParquetType::kInt64},       {"mode", ParquetType::kText},          {"mode_step", ParquetType::kInt64},
      {"time", ParquetType::kTimeNs},      {"worker", ParquetType::kText},        {"tensor", ParquetType::kText},
      {"form", ParquetType::kText},        {"value", ParquetType::kDouble, true}, {"dtype", ParquetType::kText, true},
      {"shape", ParquetType::kText, true}, {"hash", ParquetType::kUint64, true}};
  for (const auto& [count_name, count] : counts_of(Statistics())) {
    columns.push_back({std::string(count_name), ParquetType::kUint64, true});
  }
  for (int i = 0; i < kReductionCount; ++i) {
    for (const bool abs : {false, true}) {
      columns.push_back({field_name(static_cast<Reduction>(i), abs), ParquetType::kDouble, true});
    }
  }
  return columns;
}

class ParquetTarget final : public TargetWriter {
 public:
  ParquetTarget(std::unique_ptr<OutputFile> file, const TargetPlan& plan)
      : plan_(plan), file_(std::move(file)), table_(parquet_columns()) {}

  Status begin_step(const WorkerStep& step) override {
    step_ = step;
    return {};
  }

  Status write_value(std::string_view tensor, const SharedTensorValue& value) override {
    const TensorView& view = value.view;
    if (view.dtype == DType::kString) return lost("texts", tensor);
    if (is_complex(view.dtype)) return lost("complex values", tensor);
    if (view.element_count() != 1) return lost("values that do not have one element", tensor);
    begin_row(tensor, "value");
    table_.set_double(kValueColumn, number_of(view, tensor));
    set_type(view.dtype, view.shape);
    return end_row();
  }

  Status write_scalar(std::string_view tensor, double value) override {
    begin_row(tensor, "scalar");
    table_.set_double(kValueColumn, value);
    return end_row();
  }

  Status write_statistics(std::string_view tensor, const format::StatisticsRow& row) override {
    begin_row(tensor, "statistics");
    set_type(row.dtype, row.shape);
    std::size_t column = kFirstCountColumn;
    for (const auto& [count_name, count] : counts_of(row.statistics)) {
      table_.set_int(column++, static_cast<std::int64_t>(count));
    }
    for (const SavedReduction& saved : reductions_of(row.statistics)) table_.set_double(column_of(saved), saved.value);
    if (row.statistics.has_hash) table_.set_int(kHashColumn, static_cast<std::int64_t>(row.statistics.hash));
    if (row.statistics.has_histogram) plan_.notes.lost("histograms", tensor);
    return end_row();
  }

  Status write_reductions(std::string_view tensor, std::span<const SavedReduction> reductions) override {
    begin_row(tensor, "reductions");
    std::array<bool, 2 * kReductionCount> taken{};
    for (const SavedReduction& saved : reductions) {
      bool& seen = taken[column_of(saved) - first_reduction_column()];
      if (seen) {
        plan_.notes.lost(kTwiceUnderOneName, tensor);
      } else {
        table_.set_double(column_of(saved), saved.value);
      }
      seen = true;
    }
    return end_row();
  }

  Status write_shape(std::string_view tensor, DType dtype, const Shape& shape) override {
    begin_row(tensor, "shape");
    set_type(dtype, shape);
    return end_row();
  }

  Status end_step() override { return {}; }

  Status finish(bool run_ended) override {
    const journal::RunInfo& run = TrialAccess::run_info(plan_.trial);
    table_.finish(fmt::format("trainwarden version {}", version()),
                  {{"trainwarden.run", run.id}, {"trainwarden.run_ended", run_ended ? "true" : "false"}});
    TRAINWARDEN_RETURN_IF_ERROR(pass_on());
    return file_->commit();
  }

 private:
  Status lost(std::string_view cause, std::string_view tensor) {
    plan_.notes.lost(cause, tensor);
    return {};
  }

  // Names may be any bytes, and a text of the table is UTF-8: they are escaped as in the run's own files.
  std::string text_of(std::string_view bytes, std::string_view tensor) {
    if (is_utf8(bytes)) return std::string(bytes);
    plan_.notes.changed("names that are not UTF-8, escaped", tensor);
    return format::escape_name(bytes);
  }

  void begin_row(std::string_view tensor, std::string_view form) {
    table_.set_int(kStepColumn, step_.global_step);
    table_.set_text(kModeColumn, name(step_.mode));
    table_.set_int(kModeStepColumn, step_.mode_step);
    table_.set_int(kTimeColumn, step_.unix_ns);
    table_.set_text(kWorkerColumn, text_of(step_.worker, tensor));
    table_.set_text(kTensorColumn, text_of(tensor, tensor));
    table_.set_text(kFormColumn, form);
  }

  void set_type(DType dtype, const Shape& shape) {
    table_.set_text(kDtypeColumn, name(dtype));
    table_.set_text(kShapeColumn, shape.to_string());
  }

  double number_of(const TensorView& view, std::string_view tensor) {
    double number = 0;
    visit_component(view.dtype, [&]<class T>(T) {
      T element;
      std::memcpy(&element, view.data, sizeof element);
      if constexpr (std::is_integral_v<T>) {
        number = static_cast<double>(element);
        // 2^63 and 2^64 lie outside of the type: converting them back would not be defined.
        const bool fits = number < static_cast<double>(std::numeric_limits<T>::max()) || sizeof(T) < 8;
        if (!fits || static_cast<T>(number) != element) {
          plan_.notes.changed("integers of more than 53 bits, rounded to float64", tensor);
        }
      } else if constexpr (std::is_floating_point_v<T>) {
        number = static_cast<double>(element);
      } else {
        number = to_float(element);
      }
    });
    return number;
  }

  Status end_row() {
    table_.end_row();
    return table_.out.size() < kParquetPassOnBytes ? Status() : pass_on();
  }

  Status pass_on() {
    TRAINWARDEN_RETURN_IF_ERROR(file_->append(table_.out));
    table_.out.clear();
    return {};
  }

  const TargetPlan plan_;
  const std::unique_ptr<OutputFile> file_;
  foreign::ParquetEncoder table_;
  WorkerStep step_;
};

}  // namespace

Result<std::unique_ptr<TargetWriter>> open_parquet_target(const TargetPlan& plan) {
  TRAINWARDEN_ASSIGN_OR_RETURN(auto file, OutputFile::create(plan.options.out, plan.tally));
  return std::unique_ptr<TargetWriter>(std::make_unique<ParquetTarget>(std::move(file), plan));
}

}  // namespace trainwarden::transfer
