#include "data/format/segment_index.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <type_traits>

#include <fmt/format.h>

#include "data/format/columns.h"
#include "data/format/compression.h"
#include "data/format/json.h"

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

Status damaged_index(std::string_view column, std::size_t row, std::string_view what) {
  return Status(Code::kDataLoss, fmt::format("index: column \"{}\", row {}: {}", column, row, what));
}

constexpr std::uint64_t kFarthestOffset = std::uint64_t{1} << 62;

Status check_frames(const SegmentIndex& index) {
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < index.frames.size(); ++i) {
    const auto& [offset, kind, step, payload_bytes, unix_ns] = index.frames[i];
    if (offset % kFrameAlignment != 0 || offset < expected)
      return damaged_index("frame.offset", i, "not after the frame before");
    const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - offset - kFrameHeaderBytes - kFrameAlignment;
    if (offset > kFarthestOffset || payload_bytes > room) return damaged_index("frame.payload_bytes", i, "too many");
    expected = offset + kFrameHeaderBytes + align_up(payload_bytes, kFrameAlignment);
  }
  return Status();
}

Status check_records(const SegmentIndex& index) {
  const bool shared = !index.layouts.empty();
  for (std::size_t i = 0; i < index.records.size(); ++i) {
    if (index.records[i].form > RecordForm::kReductions) {
      return damaged_index(shared ? "layout.form" : "record.form", i, "unknown form");
    }
    if (index.records[i].frame >= index.frames.size()) {
      return damaged_index(shared ? "layout.frame" : "record.frame", i, "no such frame");
    }
  }
  return Status();
}

// The frames of a step lie between the end of the step before and its own.
Status check_records_of(const SegmentIndex& index, std::size_t step_row, std::uint64_t first_frame) {
  const StepIndexRow& step = index.steps[step_row];
  for (std::uint64_t i = step.first_record; i < std::uint64_t{step.first_record} + step.record_count; ++i) {
    const RecordIndexRow& record = index.records[i];
    if (record.frame < first_frame || record.frame >= step.frame) {
      return damaged_index("record.frame", i, "a frame of another step");
    }
  }
  return Status();
}

Status check_step(const SegmentIndex& index, std::size_t row, std::uint64_t next_frame) {
  const StepIndexRow& step = index.steps[row];
  if (step.mode < Mode::kTrain || step.mode > Mode::kGlobal) return damaged_index("step.mode", row, "unknown mode");
  if (step.frame >= index.frames.size()) return damaged_index("step.frame", row, "no such frame");
  if (step.frame < next_frame) return damaged_index("step.frame", row, "not after the step before");
  return Status();
}

// Each step has records of its own: were some shared by many steps, a small index would make a large run.
Status check_steps(const SegmentIndex& index) {
  std::uint64_t taken_records = 0;
  std::uint64_t next_frame = 0;
  for (std::size_t i = 0; i < index.steps.size(); ++i) {
    const StepIndexRow& step = index.steps[i];
    TRAINWARDEN_RETURN_IF_ERROR(check_step(index, i, next_frame));
    if (std::uint64_t{step.first_record} + step.record_count > index.records.size()) {
      return damaged_index("step.record_count", i, "more records than there are");
    }
    if (step.first_record < taken_records) return damaged_index("step.first_record", i, "records of another step");
    TRAINWARDEN_RETURN_IF_ERROR(check_records_of(index, i, next_frame));
    taken_records = std::uint64_t{step.first_record} + step.record_count;
    next_frame = std::uint64_t{step.frame} + 1;
  }
  return Status();
}

// How many frames of a step the records of each layout need. They must be all the records that there are.
Result<std::vector<std::uint64_t>> frames_of_layouts(const SegmentIndex& index) {
  std::vector<std::uint64_t> frames;
  std::uint64_t next_record = 0;
  for (std::size_t i = 0; i < index.layouts.size(); ++i) {
    const std::uint64_t end = next_record + index.layouts[i];
    if (end > index.records.size()) return damaged_index(kLayoutColumn, i, "more records than there are");
    std::uint64_t needed = 0;
    for (; next_record < end; ++next_record) {
      needed = std::max(needed, std::uint64_t{index.records[next_record].frame} + 1);
    }
    frames.push_back(needed);
  }
  if (next_record == index.records.size()) return frames;
  return damaged_index(kLayoutColumn, index.layouts.size(), "records without a layout");
}

// Steps share records, but each has frames of its own in which they lie, and a record takes a byte there at least,
// before frames are compressed: so a small file cannot make a large run.
Status check_sharing_steps(const SegmentIndex& index) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> frames, frames_of_layouts(index));
  std::uint64_t next_frame = 0;
  for (std::size_t i = 0; i < index.steps.size(); ++i) {
    const StepIndexRow& step = index.steps[i];
    TRAINWARDEN_RETURN_IF_ERROR(check_step(index, i, next_frame));
    if (step.layout >= index.layouts.size()) return damaged_index("step.layout", i, "no such layout");
    if (step.first_frame < next_frame || std::uint64_t{step.first_frame} + frames[step.layout] > step.frame) {
      return damaged_index("step.first_frame", i, "frames of another step");
    }
    std::uint64_t payload_bytes = 0;  // of frames that do not overlap in a file: this cannot overflow
    for (std::uint64_t f = 0; f < frames[step.layout]; ++f) {
      payload_bytes += index.frames[step.first_frame + f].payload_bytes;
    }
    const std::uint64_t least_bytes =
        (std::uint64_t{index.layouts[step.layout]} + kMaxCompression - 1) / kMaxCompression;
    if (payload_bytes < least_bytes) {
      return damaged_index("step.layout", i, "more records than its frames have bytes");
    }
    next_frame = std::uint64_t{step.frame} + 1;
  }
  return Status();
}

// Each frame of samples has its row.
Status check_samples(const SegmentIndex& index) {
  std::uint64_t next_frame = 0;
  for (std::size_t i = 0; i < index.samples.size(); ++i) {
    const SampleIndexRow& row = index.samples[i];
    if (row.frame >= index.frames.size()) return damaged_index("sample.frame", i, "no such frame");
    if (row.frame < next_frame) return damaged_index("sample.frame", i, "not after the frame before");
    if (index.frames[row.frame].kind != FrameKind::kSamples) return damaged_index("sample.frame", i, "no samples");
    if (row.last_unix_ns < row.first_unix_ns) return damaged_index("sample.last_unix_ns", i, "before the first");
    if (row.highest_metric < row.lowest_metric) return damaged_index("sample.highest_metric", i, "below the lowest");
    next_frame = std::uint64_t{row.frame} + 1;
  }
  const auto frames = std::count_if(index.frames.begin(), index.frames.end(),
                                    [](const FrameIndexRow& row) { return row.kind == FrameKind::kSamples; });
  if (static_cast<std::size_t>(frames) == index.samples.size()) return Status();
  return damaged_index("sample.frame", index.samples.size(), "a frame of samples without a row");
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

Result<SegmentIndex> decode_segment_index(ByteSpan payload) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const ColumnReader columns, ColumnReader::open(payload));
  SegmentIndex index;
  TRAINWARDEN_RETURN_IF_ERROR(read_table(columns, index.frames, kFrameColumns));
  if (columns.has(kLayoutColumn)) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto layouts, columns.view<std::uint32_t>(kLayoutColumn));
    if (layouts.size() == 0) return damaged_index(kLayoutColumn, 0, "no layouts");
    index.layouts = layouts.to_vector();
    TRAINWARDEN_RETURN_IF_ERROR(read_table(columns, index.steps, kSharingStepColumns));
    TRAINWARDEN_RETURN_IF_ERROR(read_table(columns, index.records, kSharedRecordColumns));
  } else {
    TRAINWARDEN_RETURN_IF_ERROR(read_table(columns, index.steps, kStepColumns));
    TRAINWARDEN_RETURN_IF_ERROR(read_table(columns, index.records, kRecordColumns));
  }
  if (columns.has("sample.frame")) TRAINWARDEN_RETURN_IF_ERROR(read_table(columns, index.samples, kSampleColumns));
  TRAINWARDEN_RETURN_IF_ERROR(check_frames(index));
  TRAINWARDEN_RETURN_IF_ERROR(check_records(index));
  TRAINWARDEN_RETURN_IF_ERROR(index.layouts.empty() ? check_steps(index) : check_sharing_steps(index));
  TRAINWARDEN_RETURN_IF_ERROR(check_samples(index));
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
