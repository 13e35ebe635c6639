// csv: a table with one number or text a row (RFC 4180). docs/reference/export.md has its columns.
#include <fmt/format.h>

#include "read/transfer/csv_field.h"
#include "read/transfer/number_text.h"
#include "read/transfer/statistics_fields.h"
#include "read/transfer/target_writer.h"
#include "read/transfer/text_file.h"

namespace trainwarden::transfer {
namespace {

constexpr std::string_view kHeader = "step,mode,mode_step,unix_ns,worker,tensor,quantity,element,value\r\n";

class CsvTarget final : public TargetWriter {
 public:
  CsvTarget(std::unique_ptr<OutputFile> file, ExportNotes& notes) : out_(std::move(file)), notes_(notes) {
    out_.text = kHeader;
  }

  Status begin_step(const WorkerStep& step) override {
    place_ = fmt::format("{},{},{},{},{}", step.global_step, name(step.mode), step.mode_step, step.unix_ns,
                         csv_field(step.worker));
    return {};
  }

  Status write_value(std::string_view tensor, const SharedTensorValue& value) override {
    const TensorView& view = value.view;
    const std::string begin = fmt::format("{},{},value,", place_, text_field(tensor, tensor));
    const std::int64_t count = view.element_count();
    for (std::int64_t i = 0; i < count; ++i) {
      out_.text += fmt::format("{}{},", begin, i);
      if (view.dtype == DType::kString) {
        out_.text += text_field(static_cast<const std::string_view*>(view.data)[i], tensor);
      } else {
        append_element(out_.text, view, i, kCsvNumbers);
      }
      out_.text += "\r\n";
      TRAINWARDEN_RETURN_IF_ERROR(out_.pass_on_when_large());
    }
    notes_.changed("elements numbered from 0, row-major, without dtype and shape", tensor);
    return {};
  }

  Status write_scalar(std::string_view tensor, double value) override {
    add_number(tensor, "value", value);
    return out_.pass_on_when_large();
  }

  Status write_statistics(std::string_view tensor, const format::StatisticsRow& row) override {
    for (const auto& [count_name, count] : counts_of(row.statistics)) {
      out_.text += fmt::format("{},{},{},,{}\r\n", place_, text_field(tensor, tensor), count_name, count);
    }
    for (const SavedReduction& saved : reductions_of(row.statistics)) {
      add_number(tensor, field_name(saved.reduction, saved.abs), saved.value);
    }
    if (row.statistics.has_histogram) notes_.lost("histograms", tensor);
    if (row.statistics.has_hash) notes_.lost("hashes", tensor);
    return out_.pass_on_when_large();
  }

  Status write_reductions(std::string_view tensor, std::span<const SavedReduction> reductions) override {
    for (const SavedReduction& saved : reductions) {
      add_number(tensor, field_name(saved.reduction, saved.abs), saved.value);
    }
    return out_.pass_on_when_large();
  }

  Status write_shape(std::string_view tensor, DType, const Shape& shape) override {
    out_.text += fmt::format("{},{},shape,,{}\r\n", place_, text_field(tensor, tensor), csv_field(shape.to_string()));
    return out_.pass_on_when_large();
  }

  Status end_step() override { return {}; }

  Status finish(bool) override { return out_.commit(); }

 private:
  std::string text_field(std::string_view text, std::string_view tensor) {
    if (is_formula(text)) notes_.changed("texts that a spreadsheet would take for a formula, with ' before", tensor);
    return csv_field(text);
  }

  void add_number(std::string_view tensor, std::string_view quantity, double value) {
    out_.text += fmt::format("{},{},{},,", place_, text_field(tensor, tensor), quantity);
    append_number(out_.text, value, kCsvNumbers);
    out_.text += "\r\n";
  }

  TextFile out_;
  ExportNotes& notes_;
  std::string place_;  // the first columns of the step
};

}  // namespace

Result<std::unique_ptr<TargetWriter>> open_csv_target(const TargetPlan& plan) {
  TRAINWARDEN_ASSIGN_OR_RETURN(auto file, OutputFile::create(plan.options.out, plan.tally));
  return std::unique_ptr<TargetWriter>(std::make_unique<CsvTarget>(std::move(file), plan.notes));
}

}  // namespace trainwarden::transfer
