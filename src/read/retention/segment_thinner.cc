#include "read/retention/segment_thinner.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/no_throw.h"
#include "core/base/read_budget.h"
#include "data/format/compression.h"
#include "data/format/records.h"
#include "store/journal/format_versions.h"
#include "store/journal/segment_decoder.h"
#include "store/journal/segment_file.h"
#include "store/journal/segment_writer.h"
#include "trainwarden/statistics.h"
#include "trainwarden/tensor_value.h"

namespace trainwarden::retention {
namespace {

using format::FrameHeader;
using format::FrameKind;
using format::RecordForm;

constexpr const char* kCopyEnding = ".thinned.tmp";
constexpr std::uint64_t kLeastHistogramBytes = 64 << 10;  // of a tensor: a histogram would take much of less

// Frames of the copy have the times of those that they stand for.
class FrameTime final : public Clock {
 public:
  std::int64_t unix_ns() const override { return unix_ns_; }
  std::int64_t steady_ns() const override { return 0; }
  void set(std::int64_t unix_ns) { unix_ns_ = unix_ns; }

 private:
  std::int64_t unix_ns_ = 0;
};

class SegmentThinner {
 public:
  SegmentThinner(storage::Storage& run, const journal::RunInfo& info, const std::string& writer,
                 const SegmentSurvey& survey, const StepChoice& is_thinned, const CitedTensors& cited)
      : run_(run),
        info_(info),
        writer_name_(writer),
        survey_(survey),
        is_thinned_(is_thinned),
        cited_(cited),
        file_(run, budget_, open_files_, segment_path(writer, survey.number)) {}

  Result<ThinnedSegment> write_copy(const std::string& path) &&;

 private:
  Status take(const FrameHeader& header);
  Status flush();
  Status take_names(ByteSpan payload);
  Status take_bundle(const FrameHeader& header, ByteSpan payload);
  Status take_statistics(const FrameHeader& header, ByteSpan payload);
  Status take_scalars(const FrameHeader& header, ByteSpan payload);
  Status take_reductions(const FrameHeader& header, ByteSpan payload);
  Status take_samples(ByteSpan payload);
  Status take_step_end(const FrameHeader& header, ByteSpan payload);
  Status keep_or_reduce(const FrameHeader& header, const format::BundleEntry& entry, ByteSpan bytes,
                        std::vector<format::KeptTensor>& kept, std::vector<std::string>& names);
  Status add_bundle_of(const FrameHeader& header, const std::vector<format::KeptTensor>& kept,
                       const std::vector<std::string>& names);
  void add_statistics(const FrameHeader& header);
  void add_frame(const FrameHeader& header, std::string payload);
  void add_record(std::uint32_t id, RecordForm form, std::size_t row);
  Result<std::uint32_t> id_of(const std::string& tensor) const;

  storage::Storage& run_;
  const journal::RunInfo& info_;
  const std::string writer_name_;
  const SegmentSurvey& survey_;
  const StepChoice& is_thinned_;
  const CitedTensors& cited_;
  ReadBudget budget_;
  journal::OpenFiles open_files_;
  journal::SegmentFile file_;
  FrameTime clock_;
  std::unique_ptr<journal::SegmentWriter> writer_;
  std::unordered_map<std::string, std::uint32_t> id_by_name_;
  ThinnedSegment done_;

  // Of the frames that were taken since the last flush: a step, or one frame beside the steps.
  journal::AppendDraft draft_;
  std::vector<format::StatisticsRow> statistics_;  // that the step has or gets
  std::optional<FrameHeader> statistics_header_;   // of the frame that they come from, else of the values
  std::deque<std::vector<std::string>> texts_;     // of tensors of texts, which the draft borrows
  std::vector<std::vector<std::byte>> values_;     // the same of the others
  std::uint64_t step_tensors_ = 0;                 // thinned in this step
  std::uint64_t step_bytes_ = 0;
  bool in_step_ = false;
};

Result<ThinnedSegment> SegmentThinner::write_copy(const std::string& path) && {
  TRAINWARDEN_ASSIGN_OR_RETURN(done_.bytes_before, file_.bytes());
  TRAINWARDEN_ASSIGN_OR_RETURN(auto file, run_.create(path));
  const std::uint32_t writer_id = survey_.frames.empty() ? 0 : survey_.frames.front().writer_id;
  writer_ = journal::SegmentWriter::start_copy(std::move(file), clock_, journal::run_salt(info_), writer_id,
                                               info_.format_version >= journal::kCompressedVersion);
  for (const FrameHeader& header : survey_.frames) TRAINWARDEN_RETURN_IF_ERROR(take(header));
  TRAINWARDEN_RETURN_IF_ERROR(flush());
  TRAINWARDEN_RETURN_IF_ERROR(survey_.sealed ? writer_->seal(true) : writer_->leave_open(true));
  done_.bytes_after = writer_->bytes();
  return done_;
}

Status SegmentThinner::take(const FrameHeader& header) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const ByteSpan payload, file_.payload_of(header));
  clock_.set(header.unix_ns);
  if (journal::is_data(header.kind)) in_step_ = true;
  switch (header.kind) {
    case FrameKind::kBundle: return take_bundle(header, payload);
    case FrameKind::kStatistics: return take_statistics(header, payload);
    case FrameKind::kScalars: return take_scalars(header, payload);
    case FrameKind::kReductions: return take_reductions(header, payload);
    case FrameKind::kStepEnd: return take_step_end(header, payload);
    case FrameKind::kNames: TRAINWARDEN_RETURN_IF_ERROR(take_names(payload)); break;
    case FrameKind::kSamples: TRAINWARDEN_RETURN_IF_ERROR(take_samples(payload)); break;
    default: break;
  }
  add_frame(header, std::string(as_text(payload)));
  return in_step_ ? Status() : flush();
}

Status SegmentThinner::flush() {
  if (draft_.frames.empty()) return Status();
  TRAINWARDEN_RETURN_IF_ERROR(writer_->append(draft_));
  draft_ = {};
  statistics_.clear();
  statistics_header_.reset();
  texts_.clear();
  values_.clear();
  step_tensors_ = 0;
  step_bytes_ = 0;
  in_step_ = false;
  return Status();
}

void SegmentThinner::add_frame(const FrameHeader& header, std::string payload) {
  journal::FrameDraft& frame = draft_.frames.emplace_back();
  frame.kind = header.kind;
  frame.flags = format::flags_of_content(header);
  frame.step = header.step;
  frame.head = std::move(payload);
}

void SegmentThinner::add_record(std::uint32_t id, RecordForm form, std::size_t row) {
  draft_.records.push_back(
      {id, form, static_cast<std::uint32_t>(draft_.frames.size() - 1), static_cast<std::uint32_t>(row)});
}

Result<std::uint32_t> SegmentThinner::id_of(const std::string& tensor) const {
  const auto known = id_by_name_.find(tensor);
  if (known != id_by_name_.end()) return known->second;
  return Status(Code::kDataLoss, fmt::format("{}: values without the name of their tensor", file_.path()));
}

Status SegmentThinner::take_names(ByteSpan payload) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::Names names, format::decode_names(as_text(payload)));
  for (const format::NameEntry& entry : names.tensors) {
    id_by_name_[entry.name] = entry.id;
    draft_.named_ids.push_back(entry.id);
  }
  for (const format::MetricEntry& entry : names.metrics) draft_.named_metrics.push_back(entry.id);
  return Status();
}

Status SegmentThinner::take_samples(ByteSpan payload) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto table, format::SampleTableReader::open(payload));
  format::SampleIndexRow row;
  row.frame = static_cast<std::uint32_t>(draft_.frames.size());
  row.first_unix_ns = table.first_unix_ns();
  row.last_unix_ns = table.last_unix_ns();
  for (std::size_t i = 0; i < table.series_count(); ++i) {
    row.lowest_metric = i == 0 ? table.metric(i) : std::min(row.lowest_metric, table.metric(i));
    row.highest_metric = std::max(row.highest_metric, table.metric(i));
  }
  draft_.samples.push_back(row);
  return Status();
}

Status SegmentThinner::take_bundle(const FrameHeader& header, ByteSpan payload) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto entries, format::decode_bundle(payload, header.payload_bytes));
  const bool thinned = is_thinned_(header.step);
  const bool changes = thinned && std::any_of(entries.begin(), entries.end(), [&](const format::BundleEntry& entry) {
                         return may_be_thinned(entry.dtype, entry.end - entry.begin, header.step, entry.name, cited_);
                       });
  if (!changes) {
    add_frame(header, std::string(as_text(payload)));
    for (std::size_t row = 0; row < entries.size(); ++row) {
      TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint32_t id, id_of(entries[row].name));
      add_record(id, RecordForm::kValue, row);
    }
    return Status();
  }
  std::vector<format::KeptTensor> kept;
  std::vector<std::string> names;
  for (const format::BundleEntry& entry : entries) {
    const ByteSpan bytes = payload.subspan(entry.begin, entry.end - entry.begin);
    TRAINWARDEN_RETURN_IF_ERROR(keep_or_reduce(header, entry, bytes, kept, names));
  }
  if (!statistics_header_) statistics_header_ = header;
  return kept.empty() ? Status() : add_bundle_of(header, kept, names);
}

Status SegmentThinner::keep_or_reduce(const FrameHeader& header, const format::BundleEntry& entry, ByteSpan bytes,
                                      std::vector<format::KeptTensor>& kept, std::vector<std::string>& names) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint32_t id, id_of(entry.name));
  TRAINWARDEN_ASSIGN_OR_RETURN(TensorValue value, format::decode_bundle_value(entry, bytes));
  if (may_be_thinned(entry.dtype, bytes.size(), header.step, entry.name, cited_)) {
    StatisticsOptions options;
    options.histogram = bytes.size() >= kLeastHistogramBytes;
    format::StatisticsRow row;
    row.id = id;
    row.dtype = entry.dtype;
    row.shape = entry.shape;
    TRAINWARDEN_ASSIGN_OR_RETURN(row.statistics, compute_statistics(value.view(), options));
    statistics_.push_back(std::move(row));
    ++step_tensors_;
    step_bytes_ += bytes.size();
    return Status();
  }
  format::KeptTensor& tensor = kept.emplace_back();
  tensor.id = id;
  tensor.dtype = value.dtype;
  tensor.shape = value.shape;
  if (value.dtype == DType::kString) {
    tensor.strings = texts_.emplace_back(std::move(value.strings));
  } else {
    tensor.data = values_.emplace_back(std::move(value.data));
  }
  names.push_back(entry.name);
  return Status();
}

Status SegmentThinner::add_bundle_of(const FrameHeader& header, const std::vector<format::KeptTensor>& kept,
                                     const std::vector<std::string>& names) {
  const std::vector<std::string_view> views(names.begin(), names.end());
  TRAINWARDEN_ASSIGN_OR_RETURN(format::BundleLayout layout, format::plan_bundle(kept, views));
  add_frame(header, std::move(layout.header));
  for (const std::size_t index : layout.order) {
    format::append_data_parts(kept[index], draft_.frames.back().tail);
  }
  for (std::size_t row = 0; row < layout.order.size(); ++row) {
    add_record(kept[layout.order[row]].id, RecordForm::kValue, row);
  }
  return Status();
}

// What the training itself said of a tensor stands; what it kept whole has no statistics yet, or its shape alone.
Status SegmentThinner::take_statistics(const FrameHeader& header, ByteSpan payload) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto table, format::StatisticsTable::open(payload));
  std::vector<format::StatisticsRow> rows;
  std::unordered_set<std::uint32_t> known;
  for (std::size_t i = 0; i < table.row_count(); ++i) {
    rows.push_back(table.row(i));
    if (!rows.back().shape_only) known.insert(rows.back().id);
  }
  if (statistics_.empty()) {  // as it is
    add_frame(header, std::string(as_text(payload)));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      add_record(rows[i].id, rows[i].shape_only ? RecordForm::kShape : RecordForm::kStatistics, i);
    }
    return Status();
  }
  std::erase_if(statistics_, [&](const format::StatisticsRow& row) { return known.contains(row.id); });
  for (const format::StatisticsRow& row : statistics_) {
    std::erase_if(rows, [&](const format::StatisticsRow& other) { return other.id == row.id; });
  }
  statistics_.insert(statistics_.begin(), std::make_move_iterator(rows.begin()), std::make_move_iterator(rows.end()));
  add_statistics(header);
  return Status();
}

void SegmentThinner::add_statistics(const FrameHeader& header) {
  FrameHeader own = header;
  own.kind = FrameKind::kStatistics;
  add_frame(own, format::encode_statistics(statistics_));
  for (std::size_t i = 0; i < statistics_.size(); ++i) {
    const format::StatisticsRow& row = statistics_[i];
    add_record(row.id, row.shape_only ? RecordForm::kShape : RecordForm::kStatistics, i);
  }
  statistics_.clear();
  statistics_header_.reset();
}

Status SegmentThinner::take_scalars(const FrameHeader& header, ByteSpan payload) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto rows, format::decode_scalars(payload));
  add_frame(header, std::string(as_text(payload)));
  for (std::size_t row = 0; row < rows.size(); ++row) add_record(rows[row].id, RecordForm::kScalar, row);
  return Status();
}

Status SegmentThinner::take_reductions(const FrameHeader& header, ByteSpan payload) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto rows, format::decode_reductions(payload));
  add_frame(header, std::string(as_text(payload)));
  for (const std::size_t row : format::first_rows(rows)) add_record(rows[row].id, RecordForm::kReductions, row);
  return Status();
}

Status SegmentThinner::take_step_end(const FrameHeader& header, ByteSpan payload) {
  TRAINWARDEN_ASSIGN_OR_RETURN(format::StepEndRecord record, format::decode_step_end(as_text(payload)));
  if (!statistics_.empty()) add_statistics(*statistics_header_);  // the step had none of its own
  std::string text(as_text(payload));
  if (step_tensors_ > 0) {
    record.losses.push_back({std::string(format::kThinnedCause), step_tensors_, step_bytes_,
                             "reduced to their statistics by trainwarden gc"});
    text = format::encode_step_end(record);
    ++done_.steps;
    done_.tensors += step_tensors_;
  }
  add_frame(header, std::move(text));
  format::StepIndexRow step;
  step.global_step = header.step;
  step.mode = record.mode;
  step.mode_step = record.mode_step;
  step.frame = static_cast<std::uint32_t>(draft_.frames.size() - 1);
  step.loss_count = static_cast<std::uint32_t>(record.losses.size());
  step.record_count = static_cast<std::uint32_t>(draft_.records.size());
  draft_.step = step;
  return flush();
}

}  // namespace

Result<ThinnedSegment> thin_segment(storage::Storage& run, storage::FolderEdits& changes, const journal::RunInfo& info,
                                    const std::string& writer, const SegmentSurvey& survey,
                                    const StepChoice& is_thinned, const CitedTensors& cited) {
  const std::string segment = segment_path(writer, survey.number);
  const std::string copy = segment + kCopyEnding;
  return no_throw([&]() -> Result<ThinnedSegment> {
    const Status removed = changes.remove_file(copy);  // of one that was interrupted
    if (!removed.ok() && removed.code() != Code::kNotFound) return removed;
    auto thinned = SegmentThinner(run, info, writer, survey, is_thinned, cited).write_copy(copy);
    Status status = thinned.status();
    if (status.ok()) status = changes.replace_file(copy, segment);
    if (status.ok()) return thinned;
    static_cast<void>(changes.remove_file(copy));  // the next call does
    return status;
  });
}

bool is_unfinished_copy(const std::string& file_name) {
  return file_name.ends_with(kCopyEnding);
}

}  // namespace trainwarden::retention
