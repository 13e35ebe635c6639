#include "read/transfer/record_json.h"

#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"
#include "data/format/json.h"
#include "read/transfer/number_text.h"
#include "read/transfer/statistics_fields.h"

namespace trainwarden::transfer {
namespace {

std::string shape_text(const Shape& shape) {
  return format::dump_json(std::vector<std::int64_t>(shape.sizes().begin(), shape.sizes().end()));
}

}  // namespace

void RecordJson::begin_step(const WorkerStep& step) {
  place_ = fmt::format(R"("step":{},"mode":"{}","mode_step":{},"unix_ns":{},"worker":{})", step.global_step,
                       name(step.mode), step.mode_step, step.unix_ns, json_text(step.worker));
}

void RecordJson::begin_record(std::string_view tensor, std::string_view form) {
  out_ += fmt::format("{{{},\"tensor\":{},\"form\":\"{}\"", place_, json_text(tensor), form);
}

void RecordJson::add_type(DType dtype, const Shape& shape) {
  out_ += fmt::format(R"(,"dtype":"{}","shape":{})", name(dtype), shape_text(shape));
}

void RecordJson::begin_value(std::string_view tensor, const TensorView& view) {
  begin_record(tensor, "value");
  add_type(view.dtype, view.shape);
  out_ += ",\"elements\":[";
}

void RecordJson::add_element(std::string_view tensor, const TensorView& view, std::int64_t index) {
  if (index > 0) out_ += ',';
  if (view.dtype != DType::kString) return append_element(out_, view, index, kJsonNumbers);
  const std::string_view element = static_cast<const std::string_view*>(view.data)[index];
  if (!is_utf8(element)) notes_.changed("bytes in texts that are not UTF-8, as U+FFFD", tensor);
  out_ += json_text(element);
}

void RecordJson::end_value() {
  out_ += "]}";
}

void RecordJson::add_scalar(std::string_view tensor, double value) {
  begin_record(tensor, "scalar");
  out_ += ",\"value\":";
  append_number(out_, value, kJsonNumbers);
  out_ += '}';
}

void RecordJson::add_statistics(std::string_view tensor, const format::StatisticsRow& row) {
  begin_record(tensor, "statistics");
  add_type(row.dtype, row.shape);
  for (const auto& [count_name, count] : counts_of(row.statistics)) {
    out_ += fmt::format(",\"{}\":{}", count_name, count);
  }
  add_fields(reductions_of(row.statistics));
  if (row.statistics.has_histogram) add_histogram(row.statistics.histogram);
  if (row.statistics.approximate) out_ += ",\"approximate\":true";
  if (row.statistics.has_hash) out_ += fmt::format(",\"hash\":\"{:016x}\"", row.statistics.hash);
  out_ += '}';
}

void RecordJson::add_reductions(std::string_view tensor, std::span<const SavedReduction> reductions) {
  begin_record(tensor, "reductions");
  add_fields(reductions);
  out_ += '}';
}

void RecordJson::add_shape(std::string_view tensor, DType dtype, const Shape& shape) {
  begin_record(tensor, "shape");
  add_type(dtype, shape);
  out_ += '}';
}

void RecordJson::add_fields(std::span<const SavedReduction> reductions) {
  for (const SavedReduction& saved : reductions) {
    out_ += fmt::format(",\"{}\":", field_name(saved.reduction, saved.abs));
    append_number(out_, saved.value, kJsonNumbers);
  }
}

// [lower edge, upper edge, count] of each bin.
void RecordJson::add_histogram(const Histogram& histogram) {
  out_ += ",\"histogram\":[";
  for (std::size_t i = 0; i < histogram.bins.size(); ++i) {
    const Histogram::Bin& bin = histogram.bins[i];
    out_ += fmt::format("{}[{},{},{}]", i == 0 ? "" : ",", Histogram::lower_edge(bin.index),
                        Histogram::upper_edge(bin.index), bin.count);
  }
  out_ += ']';
}

}  // namespace trainwarden::transfer
