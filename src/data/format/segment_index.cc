#include "data/format/segment_index.h"

#include <limits>
#include <optional>
#include <tuple>
#include <type_traits>

#include <fmt/format.h>

#include "data/format/columns.h"
#include "data/format/json.h"
#include "data/format/segment_index_view.h"

namespace trainwarden::format {
namespace {

// One column of a table of rows: its name on disk and the row's field that it holds.
template <class Row, class T>
struct Column {
  const char* name;
  T Row::*field;
};
template <class Row, class T>
Column(const char*, T Row::*) -> Column<Row, T>;

constexpr std::tuple kFrameColumns = {
    Column{"frame.offset", &FrameIndexRow::offset},   Column{"frame.kind", &FrameIndexRow::kind},
    Column{"frame.step", &FrameIndexRow::step},       Column{"frame.payload_bytes", &FrameIndexRow::payload_bytes},
    Column{"frame.unix_ns", &FrameIndexRow::unix_ns},
};
constexpr std::tuple kStepColumns = {
    Column{"step.global_step", &StepIndexRow::global_step},
    Column{"step.mode", &StepIndexRow::mode},
    Column{"step.mode_step", &StepIndexRow::mode_step},
    Column{"step.unix_ns", &StepIndexRow::unix_ns},
    Column{"step.frame", &StepIndexRow::frame},
    Column{"step.loss_count", &StepIndexRow::loss_count},
    Column{"step.first_record", &StepIndexRow::first_record},
    Column{"step.record_count", &StepIndexRow::record_count},
};
constexpr std::tuple kSharingStepColumns = {
    Column{"step.global_step", &StepIndexRow::global_step},
    Column{"step.mode", &StepIndexRow::mode},
    Column{"step.mode_step", &StepIndexRow::mode_step},
    Column{"step.unix_ns", &StepIndexRow::unix_ns},
    Column{"step.frame", &StepIndexRow::frame},
    Column{"step.loss_count", &StepIndexRow::loss_count},
    Column{"step.first_frame", &StepIndexRow::first_frame},
    Column{"step.layout", &StepIndexRow::layout},
};
constexpr std::tuple kRecordColumns = {
    Column{"record.tensor", &RecordIndexRow::tensor},
    Column{"record.form", &RecordIndexRow::form},
    Column{"record.frame", &RecordIndexRow::frame},
    Column{"record.row", &RecordIndexRow::row},
};
// In place of the records' where steps share them.
constexpr const char* kLayoutColumn = "layout.records";
constexpr std::tuple kSharedRecordColumns = {
    Column{"layout.tensor", &RecordIndexRow::tensor},
    Column{"layout.form", &RecordIndexRow::form},
    Column{"layout.frame", &RecordIndexRow::frame},
    Column{"layout.row", &RecordIndexRow::row},
};
// Not written in a segment without samples.
constexpr std::tuple kSampleColumns = {
    Column{"sample.frame", &SampleIndexRow::frame},
    Column{"sample.first_unix_ns", &SampleIndexRow::first_unix_ns},
    Column{"sample.last_unix_ns", &SampleIndexRow::last_unix_ns},
    Column{"sample.lowest_metric", &SampleIndexRow::lowest_metric},
    Column{"sample.highest_metric", &SampleIndexRow::highest_metric},
};

// Enumerations are stored as their numbers.
template <class T, bool = std::is_enum_v<T>>
struct StoredAs {
  using type = std::underlying_type_t<T>;
};
template <class T>
struct StoredAs<T, false> {
  using type = T;
};
template <class T>
using Stored = typename StoredAs<T>::type;

template <class Row, class T>
void write_column(ColumnWriter& columns, const std::vector<Row>& rows, const Column<Row, T>& column) {
  std::vector<Stored<T>> values;
  values.reserve(rows.size());
  for (const Row& row : rows) values.push_back(static_cast<Stored<T>>(row.*column.field));
  columns.add(column.name, values);
}

template <class Row, class T>
Status read_column(const ColumnReader& columns, std::vector<Row>& rows, const Column<Row, T>& column) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto values, columns.view<Stored<T>>(column.name, rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].*column.field = static_cast<T>(values[i]);
  return Status();
}

template <class Row, class... T>
void write_table(ColumnWriter& columns, const std::vector<Row>& rows, const std::tuple<Column<Row, T>...>& table) {
  std::apply([&](const auto&... column) { (write_column(columns, rows, column), ...); }, table);
}

// The first column says how many rows there are, the others must have as many.
template <class Row, class... T>
Status read_table(const ColumnReader& columns, std::vector<Row>& rows, const std::tuple<Column<Row, T>...>& table) {
  using First = std::tuple_element_t<0, std::tuple<T...>>;
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto first, columns.view<Stored<First>>(std::get<0>(table).name));
  rows.resize(first.size());
  Status status;
  const auto read = [&](const auto& column) { return (status = read_column(columns, rows, column)).ok(); };
  std::apply([&](const auto&... column) { (read(column) && ...); }, table);
  return status;
}

// The columns of a table in place. The first says how many rows there are, the others must have as many.
template <class Row, class... T>
Status open_table(const ColumnReader& columns, const std::tuple<Column<Row, T>...>& table,
                  ColumnView<Stored<T>>&... views) {
  std::optional<std::size_t> rows;
  Status status;
  const auto open = [&]<class U>(const char* name, ColumnView<U>& view) {
    Result<ColumnView<U>> found = rows ? columns.view<U>(name, *rows) : columns.view<U>(name);
    status = found.status();
    if (found.ok()) view = *found;
    rows = view.size();
    return found.ok();
  };
  std::apply([&](const auto&... column) { (open(column.name, views) && ...); }, table);
  return status;
}

}  // namespace

std::string encode_segment_index(const SegmentIndex& index) {
  ColumnWriter columns;
  write_table(columns, index.frames, kFrameColumns);
  if (index.layouts.empty()) {
    write_table(columns, index.steps, kStepColumns);
    write_table(columns, index.records, kRecordColumns);
  } else {
    write_table(columns, index.steps, kSharingStepColumns);
    columns.add(kLayoutColumn, index.layouts);
    write_table(columns, index.records, kSharedRecordColumns);
  }
  if (!index.samples.empty()) write_table(columns, index.samples, kSampleColumns);
  return columns.finish();
}

Result<SegmentIndexView> SegmentIndexView::open(ByteSpan payload) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const ColumnReader columns, ColumnReader::open(payload));
  SegmentIndexView index;
  FrameIndexRows& frames = index.frames;
  TRAINWARDEN_RETURN_IF_ERROR(open_table(columns, kFrameColumns, frames.offset_, frames.kind_, frames.step_,
                                         frames.payload_bytes_, frames.unix_ns_));
  StepIndexRows& steps = index.steps;
  if (columns.has(kLayoutColumn)) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto layouts, columns.view<std::uint32_t>(kLayoutColumn));
    if (layouts.size() == 0) return Status(Code::kDataLoss, fmt::format("index: column \"{}\": empty", kLayoutColumn));
    index.layouts = layouts.to_vector();
    TRAINWARDEN_RETURN_IF_ERROR(open_table(columns, kSharingStepColumns, steps.global_step_, steps.mode_,
                                           steps.mode_step_, steps.unix_ns_, steps.frame_, steps.loss_count_,
                                           steps.first_frame_, steps.layout_));
    TRAINWARDEN_RETURN_IF_ERROR(read_table(columns, index.records, kSharedRecordColumns));
  } else {
    TRAINWARDEN_RETURN_IF_ERROR(open_table(columns, kStepColumns, steps.global_step_, steps.mode_, steps.mode_step_,
                                           steps.unix_ns_, steps.frame_, steps.loss_count_, steps.first_record_,
                                           steps.record_count_));
    TRAINWARDEN_RETURN_IF_ERROR(read_table(columns, index.records, kRecordColumns));
  }
  if (columns.has("sample.frame")) TRAINWARDEN_RETURN_IF_ERROR(read_table(columns, index.samples, kSampleColumns));
  TRAINWARDEN_RETURN_IF_ERROR(check_segment_index(index));
  return index;
}

Result<SegmentIndex> decode_segment_index(ByteSpan payload) {
  TRAINWARDEN_ASSIGN_OR_RETURN(SegmentIndexView view, SegmentIndexView::open(payload));
  SegmentIndex index;
  index.frames.reserve(view.frames.size());
  for (std::size_t i = 0; i < view.frames.size(); ++i) index.frames.push_back(view.frames[i]);
  index.steps.reserve(view.steps.size());
  for (std::size_t i = 0; i < view.steps.size(); ++i) index.steps.push_back(view.steps[i]);
  index.records = std::move(view.records);
  index.layouts = std::move(view.layouts);
  index.samples = std::move(view.samples);
  return index;
}

std::string encode_trailer(const Trailer& trailer) {
  std::string json = dump_json({{"index_offset", trailer.index_offset}, {"frames", trailer.frames}});
  json.resize(kTrailerPayloadBytes, ' ');  // the longest numbers come to 57 characters
  return json;
}

Result<Trailer> decode_trailer(std::string_view text) {
  if (text.size() != kTrailerPayloadBytes) {
    return Status(Code::kDataLoss,
                  fmt::format("trailer: {} bytes expected, {} found", kTrailerPayloadBytes, text.size()));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, parse_json_object(text, "trailer"));
  Trailer trailer;
  TRAINWARDEN_ASSIGN_OR_RETURN(trailer.index_offset, uint_field(json, "index_offset"));
  constexpr std::uint64_t kMostFrames = std::numeric_limits<std::uint32_t>::max();
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint64_t frames, uint_field(json, "frames", kMostFrames));
  trailer.frames = static_cast<std::uint32_t>(frames);
  return trailer;
}

}  // namespace trainwarden::format
