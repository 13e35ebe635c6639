// json: one document, one record a line. docs/reference/export.md has its keys.
#include <fmt/format.h>

#include "base/text.h"
#include "format/json.h"
#include "transfer/number_text.h"
#include "transfer/statistics_fields.h"
#include "transfer/target_writer.h"
#include "trial/trial_access.h"

namespace trainwarden::transfer {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 18;

std::string shape_text(const Shape& shape) {
  return format::dump_json(std::vector<std::int64_t>(shape.sizes().begin(), shape.sizes().end()));
}

class JsonTarget final : public TargetWriter {
 public:
  JsonTarget(std::unique_ptr<OutputFile> file, const TargetPlan& plan) : file_(std::move(file)), notes_(plan.notes) {
    const store::RunInfo& run = TrialAccess::run_info(plan.trial);
    text_ = fmt::format("{{\"format\":\"trainwarden-export\",\"version\":1,\n\"run\":{},\n\"records\":[",
                        format::dump_json({{"id", run.id},
                                           {"path", plan.trial.path().string()},
                                           {"recorder", plan.trial.recorder()},
                                           {"created_unix_ns", run.created_unix_ns},
                                           {"world_size", run.world_size},
                                           {"labels", run.labels}}));
  }

  Status begin_step(const StepPlace& step) override {
    place_ = fmt::format(R"("step":{},"mode":"{}","mode_step":{},"unix_ns":{},"worker":{})", step.global_step,
                         name(step.mode), step.mode_step, step.unix_ns, json_text(step.worker));
    return {};
  }

  Status write_value(std::string_view tensor, const SharedTensorValue& value) override {
    const TensorView& view = value.view;
    begin_record(tensor, "value");
    add_type(view.dtype, view.shape);
    text_ += ",\"elements\":[";
    const std::int64_t count = view.element_count();
    for (std::int64_t i = 0; i < count; ++i) {
      if (i > 0) text_ += ',';
      add_element(tensor, view, i);
      TRAINWARDEN_RETURN_IF_ERROR(pass_on_when_large());
    }
    text_ += "]}";
    return {};
  }

  Status write_scalar(std::string_view tensor, double value) override {
    begin_record(tensor, "scalar");
    text_ += ",\"value\":";
    append_number(text_, value, kJsonNumbers);
    text_ += '}';
    return pass_on_when_large();
  }

  Status write_statistics(std::string_view tensor, const format::StatisticsRow& row) override {
    begin_record(tensor, "statistics");
    add_type(row.dtype, row.shape);
    for (const auto& [count_name, count] : counts_of(row.statistics)) {
      text_ += fmt::format(",\"{}\":{}", count_name, count);
    }
    add_reductions(reductions_of(row.statistics));
    if (row.statistics.has_histogram) add_histogram(row.statistics.histogram);
    if (row.statistics.has_hash) text_ += fmt::format(",\"hash\":\"{:016x}\"", row.statistics.hash);
    text_ += '}';
    return pass_on_when_large();
  }

  Status write_reductions(std::string_view tensor, std::span<const SavedReduction> reductions) override {
    begin_record(tensor, "reductions");
    add_reductions(reductions);
    text_ += '}';
    return pass_on_when_large();
  }

  Status write_shape(std::string_view tensor, DType dtype, const Shape& shape) override {
    begin_record(tensor, "shape");
    add_type(dtype, shape);
    text_ += '}';
    return pass_on_when_large();
  }

  Status end_step() override { return {}; }

  Status finish(bool run_ended) override {
    text_ += fmt::format("\n],\n\"run_ended\":{}}}\n", run_ended);
    TRAINWARDEN_RETURN_IF_ERROR(pass_on());
    return file_->commit();
  }

 private:
  void begin_record(std::string_view tensor, std::string_view form) {
    text_ += first_ ? "\n{" : ",\n{";
    first_ = false;
    text_ += fmt::format("{},\"tensor\":{},\"form\":\"{}\"", place_, json_text(tensor), form);
  }

  void add_type(DType dtype, const Shape& shape) {
    text_ += fmt::format(R"(,"dtype":"{}","shape":{})", name(dtype), shape_text(shape));
  }

  void add_element(std::string_view tensor, const TensorView& view, std::int64_t index) {
    if (view.dtype != DType::kString) return append_element(text_, view, index, kJsonNumbers);
    const std::string_view element = static_cast<const std::string_view*>(view.data)[index];
    if (!is_utf8(element)) notes_.changed("bytes in texts that are not UTF-8, as U+FFFD", tensor);
    text_ += json_text(element);
  }

  void add_reductions(std::span<const SavedReduction> reductions) {
    for (const SavedReduction& saved : reductions) {
      text_ += fmt::format(",\"{}\":", field_name(saved.reduction, saved.abs));
      append_number(text_, saved.value, kJsonNumbers);
    }
  }

  // [lower edge, upper edge, count] of each bin.
  void add_histogram(const Histogram& histogram) {
    text_ += ",\"histogram\":[";
    for (std::size_t i = 0; i < histogram.bins.size(); ++i) {
      const Histogram::Bin& bin = histogram.bins[i];
      text_ += fmt::format("{}[{},{},{}]", i == 0 ? "" : ",", Histogram::lower_edge(bin.index),
                           Histogram::upper_edge(bin.index), bin.count);
    }
    text_ += ']';
  }

  Status pass_on_when_large() { return text_.size() < kBufferBytes ? Status() : pass_on(); }
  Status pass_on() {
    TRAINWARDEN_RETURN_IF_ERROR(file_->append(text_));
    text_.clear();
    return {};
  }

  const std::unique_ptr<OutputFile> file_;
  ExportNotes& notes_;
  std::string text_;   // not yet in the file
  std::string place_;  // the fields of the step
  bool first_ = true;
};

}  // namespace

Result<std::unique_ptr<TargetWriter>> open_json_target(const TargetPlan& plan) {
  TRAINWARDEN_ASSIGN_OR_RETURN(auto file, OutputFile::create(plan.options.out, plan.tally));
  return std::unique_ptr<TargetWriter>(std::make_unique<JsonTarget>(std::move(file), plan));
}

}  // namespace trainwarden::transfer
