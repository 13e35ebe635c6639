// json: one document, one record a line. docs/reference/export.md has its keys.
#include <fmt/format.h>

#include "core/base/text.h"
#include "data/format/json.h"
#include "read/transfer/number_text.h"
#include "read/transfer/statistics_fields.h"
#include "read/transfer/target_writer.h"
#include "read/transfer/text_file.h"
#include "read/trial/trial_access.h"

namespace trainwarden::transfer {
namespace {

std::string shape_text(const Shape& shape) {
  return format::dump_json(std::vector<std::int64_t>(shape.sizes().begin(), shape.sizes().end()));
}

class JsonTarget final : public TargetWriter {
 public:
  JsonTarget(std::unique_ptr<OutputFile> file, const TargetPlan& plan) : out_(std::move(file)), notes_(plan.notes) {
    const journal::RunInfo& run = TrialAccess::run_info(plan.trial);
    out_.text =
        fmt::format("{{\"format\":\"trainwarden-export\",\"version\":1,\n\"run\":{},\n\"records\":[",
                    format::dump_json({{"id", run.id},
                                       {"path", plan.options.texts ? plan.trial.path().string() : ""},
                                       {"recorder", plan.trial.recorder()},
                                       {"created_unix_ns", run.created_unix_ns},
                                       {"world_size", run.world_size},
                                       {"labels", plan.options.texts ? run.labels : journal::RunInfo().labels}}));
  }

  Status begin_step(const WorkerStep& step) override {
    place_ = fmt::format(R"("step":{},"mode":"{}","mode_step":{},"unix_ns":{},"worker":{})", step.global_step,
                         name(step.mode), step.mode_step, step.unix_ns, json_text(step.worker));
    return {};
  }

  Status write_value(std::string_view tensor, const SharedTensorValue& value) override {
    const TensorView& view = value.view;
    begin_record(tensor, "value");
    add_type(view.dtype, view.shape);
    out_.text += ",\"elements\":[";
    const std::int64_t count = view.element_count();
    for (std::int64_t i = 0; i < count; ++i) {
      if (i > 0) out_.text += ',';
      add_element(tensor, view, i);
      TRAINWARDEN_RETURN_IF_ERROR(out_.pass_on_when_large());
    }
    out_.text += "]}";
    return {};
  }

  Status write_scalar(std::string_view tensor, double value) override {
    begin_record(tensor, "scalar");
    out_.text += ",\"value\":";
    append_number(out_.text, value, kJsonNumbers);
    out_.text += '}';
    return out_.pass_on_when_large();
  }

  Status write_statistics(std::string_view tensor, const format::StatisticsRow& row) override {
    begin_record(tensor, "statistics");
    add_type(row.dtype, row.shape);
    for (const auto& [count_name, count] : counts_of(row.statistics)) {
      out_.text += fmt::format(",\"{}\":{}", count_name, count);
    }
    add_reductions(reductions_of(row.statistics));
    if (row.statistics.has_histogram) add_histogram(row.statistics.histogram);
    if (row.statistics.has_hash) out_.text += fmt::format(",\"hash\":\"{:016x}\"", row.statistics.hash);
    out_.text += '}';
    return out_.pass_on_when_large();
  }

  Status write_reductions(std::string_view tensor, std::span<const SavedReduction> reductions) override {
    begin_record(tensor, "reductions");
    add_reductions(reductions);
    out_.text += '}';
    return out_.pass_on_when_large();
  }

  Status write_shape(std::string_view tensor, DType dtype, const Shape& shape) override {
    begin_record(tensor, "shape");
    add_type(dtype, shape);
    out_.text += '}';
    return out_.pass_on_when_large();
  }

  Status end_step() override { return {}; }

  Status finish(bool run_ended) override {
    out_.text += fmt::format("\n],\n\"run_ended\":{}}}\n", run_ended);
    return out_.commit();
  }

 private:
  void begin_record(std::string_view tensor, std::string_view form) {
    out_.text += first_ ? "\n{" : ",\n{";
    first_ = false;
    out_.text += fmt::format("{},\"tensor\":{},\"form\":\"{}\"", place_, json_text(tensor), form);
  }

  void add_type(DType dtype, const Shape& shape) {
    out_.text += fmt::format(R"(,"dtype":"{}","shape":{})", name(dtype), shape_text(shape));
  }

  void add_element(std::string_view tensor, const TensorView& view, std::int64_t index) {
    if (view.dtype != DType::kString) return append_element(out_.text, view, index, kJsonNumbers);
    const std::string_view element = static_cast<const std::string_view*>(view.data)[index];
    if (!is_utf8(element)) notes_.changed("bytes in texts that are not UTF-8, as U+FFFD", tensor);
    out_.text += json_text(element);
  }

  void add_reductions(std::span<const SavedReduction> reductions) {
    for (const SavedReduction& saved : reductions) {
      out_.text += fmt::format(",\"{}\":", field_name(saved.reduction, saved.abs));
      append_number(out_.text, saved.value, kJsonNumbers);
    }
  }

  // [lower edge, upper edge, count] of each bin.
  void add_histogram(const Histogram& histogram) {
    out_.text += ",\"histogram\":[";
    for (std::size_t i = 0; i < histogram.bins.size(); ++i) {
      const Histogram::Bin& bin = histogram.bins[i];
      out_.text += fmt::format("{}[{},{},{}]", i == 0 ? "" : ",", Histogram::lower_edge(bin.index),
                               Histogram::upper_edge(bin.index), bin.count);
    }
    out_.text += ']';
  }

  TextFile out_;
  ExportNotes& notes_;
  std::string place_;  // the fields of the step
  bool first_ = true;
};

}  // namespace

Result<std::unique_ptr<TargetWriter>> open_json_target(const TargetPlan& plan) {
  TRAINWARDEN_ASSIGN_OR_RETURN(auto file, OutputFile::create(plan.options.out, plan.tally));
  return std::unique_ptr<TargetWriter>(std::make_unique<JsonTarget>(std::move(file), plan));
}

}  // namespace trainwarden::transfer
