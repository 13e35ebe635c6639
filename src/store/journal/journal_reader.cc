#include "store/journal/journal_reader.h"

#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/base/no_throw.h"
#include "store/journal/decoded_frames.h"
#include "store/journal/file_maps.h"
#include "store/journal/journal_contents.h"
#include "store/journal/journal_operators.h"
#include "store/journal/journal_samples.h"
#include "store/journal/journal_segment.h"
#include "store/journal/step_records.h"

namespace trainwarden::journal {
namespace {

class SegmentedJournalReader final : public JournalReader {
 public:
  SegmentedJournalReader(const storage::Storage& storage, const RunInfo& run, std::string_view writer,
                         const JournalReaderOptions& options)
      : storage_(storage),
        run_id_(run.id),
        writer_(writer),
        options_(options),
        owner_{run_salt(run), writer_id_of(writer)},
        frames_(options.verify_payloads) {
    if (options_.budget != nullptr) contents_.budget = options_.budget;
    if (options_.open_files != nullptr) contents_.open_files = options_.open_files;
  }

  Status refresh() override;

  std::span<const JournalTensor> tensors() const override { return contents_.tensors; }
  std::span<const StepEntry> steps() const override { return contents_.steps; }
  std::span<const Collection> collections() const override { return contents_.collections; }
  std::span<const RunLoss> losses() const override { return contents_.losses.all(); }
  std::span<const Metric> metrics() const override { return contents_.metrics; }
  std::size_t event_count() const override { return contents_.events.size(); }
  std::size_t sample_frames() const override { return contents_.sample_frames.size(); }

  Status visit_events(std::size_t first, const EventVisitor& visit) override;
  Status samples(const SampleQuery& query, const SampleVisitor& visit) override {
    return no_throw([&] { return samples_.visit(query, visit); });
  }
  Result<std::optional<SampleTimes>> sample_times(std::int64_t from_unix_ns) override {
    return no_throw([&] { return samples_.times(from_unix_ns); });
  }

  std::vector<std::int64_t> operator_steps() const override { return operators_.steps(); }
  Result<OperatorBatch> operators(std::int64_t global_step) override {
    return no_throw([&] { return operators_.read(global_step); });
  }

  Result<std::span<const Record>> records(std::size_t step_index) override;
  Result<std::optional<std::uint32_t>> layout(std::size_t step_index) override;
  Result<TensorValue> read_value(const Record& record) override;
  Result<SharedTensorValue> read_shared_value(const Record& record) override;
  Result<SharedTensorValue> map_value(const Record& record) override;
  Result<StatisticsRow> read_statistics(const Record& record) override;
  Result<double> read_scalar(const Record& record) override;
  Result<std::vector<SavedReduction>> read_reductions(const Record& record) override;
  Result<std::pair<DType, Shape>> read_shape(const Record& record) override;
  Status verify_all() override;

 private:
  Status find_segments();
  void add_segment(std::uint64_t number);
  void add_unlisted(std::uint64_t before);
  Status read_segment(JournalSegment& segment, bool newest);
  Status walk_segment(JournalSegment& segment);
  void finish_segment(JournalSegment& segment);
  void presume_end(JournalSegment& segment);
  bool goes_on(const JournalSegment& segment) const;
  bool is_late(const JournalSegment& segment) const;
  Result<const StepData*> loaded_step(std::size_t step_index);
  JournalSegment& use(std::uint32_t segment_index);
  Result<JournalSegment*> segment_of(const Record& record, std::initializer_list<RecordForm> forms);
  Result<const DecodedFrames::Bundle*> bundle_of(const Record& record, JournalSegment& segment);
  Status misplaced(const Record& record, JournalSegment& segment);

  const storage::Storage& storage_;
  const std::string run_id_;
  const std::string writer_;
  const JournalReaderOptions options_;
  const FrameOwner owner_;
  JournalContents contents_;
  std::vector<std::unique_ptr<JournalSegment>> segments_;
  std::set<std::uint64_t> known_segments_;  // numbers
  std::vector<Record> records_;             // of the step that was last asked for
  std::optional<std::size_t> records_of_;   // which that was
  std::uint32_t used_segment_ = 0;          // whose file the last read left open
  DecodedFrames frames_;
  JournalSamples samples_{contents_, frames_, [this](std::uint32_t index) -> JournalSegment& { return use(index); }};
  JournalOperators operators_{contents_, frames_,
                              [this](std::uint32_t index) -> JournalSegment& { return use(index); }};
};

Status SegmentedJournalReader::refresh() {
  return no_throw([&]() -> Status {
    TRAINWARDEN_RETURN_IF_ERROR(find_segments());
    for (const auto& segment : segments_) {
      if (segment->over && !goes_on(*segment)) continue;
      const Status status = read_segment(*segment, segment == segments_.back());
      if (status.code() == Code::kNotFound && is_late(*segment)) return Status();
      if (status.code() == Code::kNotFound) segment->intake.add_damage(0, "segment that is no file", 1, 0);
      if (!status.ok() && status.code() != Code::kNotFound) return status;
      segment->over ? segment->file.release() : segment->file.rest();
    }
    return Status();
  });
}

Status SegmentedJournalReader::find_segments() {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> numbers, list_segments(storage_, writer_));
  for (const std::uint64_t number : numbers) {
    if (known_segments_.contains(number)) continue;
    add_unlisted(number);
    add_segment(number);
  }
  return Status();
}

// The list of a network file system may lag behind its files, which are found by their names: those right before one
// that is listed.
void SegmentedJournalReader::add_unlisted(std::uint64_t before) {
  const std::uint64_t first = known_segments_.empty() ? 0 : *known_segments_.rbegin() + 1;
  std::uint64_t found = before;
  while (found > first && storage_.exists(journal_folder(writer_) + "/" + segment_file(found - 1))) --found;
  for (std::uint64_t number = found; number < before; ++number) add_segment(number);
}

// It was listed. What is there and cannot be opened is no file; what is not there has not come to this machine yet, as
// long as somebody writes, or when a part of it was read already.
bool SegmentedJournalReader::is_late(const JournalSegment& segment) const {
  if (!options_.live || storage_.exists(segment.file.path())) return false;
  return segment.decoder.position() > 0 || has_living_writer(storage_, writer_);
}

void SegmentedJournalReader::add_segment(std::uint64_t number) {
  const std::string folder = journal_folder(writer_) + "/";
  SegmentIdentity identity;
  identity.run = run_id_;
  identity.writer = writer_;
  identity.number = number;
  identity.index = static_cast<std::uint32_t>(segments_.size());
  identity.path = folder + segment_file(number);
  segments_.push_back(std::make_unique<JournalSegment>(storage_, owner_, std::move(identity), contents_));
  if (!known_segments_.empty() && number > *known_segments_.rbegin() + 1) {
    const std::uint64_t first_missing = *known_segments_.rbegin() + 1;
    contents_.losses.add_damage(folder + segment_file(first_missing), 0, "missing segment", number - first_missing, 0);
  }
  known_segments_.insert(number);
}

// Whether the writer lives is asked first: what it has written before it let go is then read before it is taken for
// gone.
Status SegmentedJournalReader::read_segment(JournalSegment& segment, bool newest) {
  segment.over = false;
  segment.may_grow = newest && options_.live && has_living_writer(storage_, writer_);
  segment.decoder.wait_for_late_bytes(segment.may_grow);
  // Who opens a file again is told its true length, also by network file systems; the one that is open may lag behind.
  if (!segment.may_grow) segment.file.release();
  if (segment.decoder.position() == 0 && !segment.may_grow) {
    TRAINWARDEN_ASSIGN_OR_RETURN(segment.over, take_sealed(segment));
    if (segment.over) return Status();
  }
  TRAINWARDEN_RETURN_IF_ERROR(walk_segment(segment));
  if (segment.decoder.done() || !newest || !options_.live) {
    finish_segment(segment);
    return Status();
  }
  // An unfinished end is nothing special while the writer lives. When it is gone, the end is what it left.
  const bool unfinished = segment.decoder.position() < segment.seen_bytes || segment.intake.in_step();
  if (unfinished && !segment.may_grow) presume_end(segment);
  return Status();
}

// That it is gone may be wrong: clocks of machines differ more than they should, or its promise could not be read.
void SegmentedJournalReader::presume_end(JournalSegment& segment) {
  segment.decoder.report_rest(segment.seen_bytes);
  segment.intake.report_pending();
  segment.over = segment.presumed_over = true;
}

bool SegmentedJournalReader::goes_on(const JournalSegment& segment) const {
  if (!segment.presumed_over) return false;
  const auto info = storage_.info(segment.file.path());
  return info.ok() && info->bytes > segment.seen_bytes;
}

Status SegmentedJournalReader::walk_segment(JournalSegment& segment) {
  TRAINWARDEN_ASSIGN_OR_RETURN(segment.seen_bytes, segment.file.bytes());
  if (segment.decoder.position() == segment.seen_bytes) return Status();
  segment.file.forget();
  return walk(segment.file, segment.decoder, segment.budget, segment.seen_bytes);
}

void SegmentedJournalReader::finish_segment(JournalSegment& segment) {
  segment.presumed_over = false;
  segment.decoder.finish(segment.seen_bytes);
  segment.intake.finish();
  segment.over = true;
}

Result<const StepData*> SegmentedJournalReader::loaded_step(std::size_t step_index) {
  if (step_index >= contents_.step_data.size()) {
    return Status(Code::kOutOfRange, fmt::format("step index {} of {}", step_index, contents_.step_data.size()));
  }
  StepData& step = contents_.step_data[step_index];
  if (!step.loaded()) {
    JournalSegment& segment = use(step.segment);
    TRAINWARDEN_RETURN_IF_ERROR(no_throw([&] { return load_records(contents_, segment, frames_, step); }));
  }
  return &step;
}

Result<std::optional<std::uint32_t>> SegmentedJournalReader::layout(std::size_t step_index) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const StepData* step, loaded_step(step_index));
  return std::optional(step->layout);
}

Result<std::span<const Record>> SegmentedJournalReader::records(std::size_t step_index) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const StepData* step, loaded_step(step_index));
  if (records_of_ == step_index) return std::span<const Record>(records_);
  return no_throw([&]() -> Result<std::span<const Record>> {
    records_of_.reset();
    records_.clear();
    for (const format::RecordIndexRow& row : contents_.layouts.records(step->layout)) {
      const std::uint64_t offset = contents_.frame_offsets[step->first_offset + row.frame];
      records_.push_back({row.tensor, row.form, step->segment, row.row, offset});
    }
    records_of_ = step_index;
    return std::span<const Record>(records_);
  });
}

Status SegmentedJournalReader::visit_events(std::size_t first, const EventVisitor& visit) {
  return no_throw([&]() -> Status {
    EventEntry event;
    for (std::size_t i = first; i < contents_.events.size(); ++i) {
      const EventPlace& place = contents_.events[i];
      if (const std::string* recent = contents_.recent_texts.find(i)) {
        event.json = *recent;
      } else {
        const Result<ByteSpan> text = frames_.event(use(place.segment), place.offset, place.kind);
        if (!text.ok() && !is_damage(text.status())) return text.status();
        if (!text.ok()) continue;
        event.json = as_text(*text);
      }
      event.kind = place.kind;
      event.step = place.step;
      event.unix_ns = place.unix_ns;
      visit(i, event);
    }
    return Status();
  });
}

// The segment, for reading. The one that was used before may close its file.
JournalSegment& SegmentedJournalReader::use(std::uint32_t segment_index) {
  if (segment_index != used_segment_ && used_segment_ < segments_.size()) segments_[used_segment_]->file.release();
  used_segment_ = segment_index;
  return *segments_[segment_index];
}

Result<JournalSegment*> SegmentedJournalReader::segment_of(const Record& record,
                                                           std::initializer_list<RecordForm> forms) {
  bool right_form = false;
  for (const RecordForm form : forms) right_form = right_form || record.form == form;
  if (!right_form) return Status(Code::kInvalidArgument, "the record is of another form than what is read");
  if (record.segment < segments_.size() && record.tensor < contents_.tensors.size()) {
    return &use(record.segment);
  }
  return Status(Code::kInvalidArgument, "the record is not of this journal");
}

// The frame does not hold what the record says.
Status SegmentedJournalReader::misplaced(const Record& record, JournalSegment& segment) {
  constexpr std::string_view kCause = "record that points elsewhere";
  segment.intake.add_damage(record.frame_offset, kCause, 1, 0);
  return Status(Code::kDataLoss, fmt::format("{} at byte {}: {}", segment.file.path(), record.frame_offset, kCause));
}

Result<const DecodedFrames::Bundle*> SegmentedJournalReader::bundle_of(const Record& record, JournalSegment& segment) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const DecodedFrames::Bundle* bundle, frames_.bundle(segment, record.frame_offset));
  if (record.row < bundle->entries.size() &&
      bundle->entries[record.row].name == contents_.tensors[record.tensor].name) {
    return bundle;
  }
  return misplaced(record, segment);
}

Result<TensorValue> SegmentedJournalReader::read_value(const Record& record) {
  return no_throw([&]() -> Result<TensorValue> {
    TRAINWARDEN_ASSIGN_OR_RETURN(JournalSegment * segment, segment_of(record, {RecordForm::kValue}));
    TRAINWARDEN_ASSIGN_OR_RETURN(const DecodedFrames::Bundle* bundle, bundle_of(record, *segment));
    const format::BundleEntry& entry = bundle->entries[record.row];
    if (entry.dtype == DType::kString) {
      TRAINWARDEN_ASSIGN_OR_RETURN(const ByteSpan bytes, frames_.entry_bytes(*segment, *bundle, entry));
      return format::decode_bundle_value(entry, bytes);
    }
    TRAINWARDEN_RETURN_IF_ERROR(frames_.check_entry(*segment, *bundle));
    TensorValue value{.dtype = entry.dtype, .shape = entry.shape};
    value.data.resize(entry.end - entry.begin);
    TRAINWARDEN_RETURN_IF_ERROR(frames_.read_entry(*segment, *bundle, entry, value.data));
    return value;
  });
}

Result<SharedTensorValue> SegmentedJournalReader::read_shared_value(const Record& record) {
  return no_throw([&]() -> Result<SharedTensorValue> {
    TRAINWARDEN_ASSIGN_OR_RETURN(JournalSegment * segment, segment_of(record, {RecordForm::kValue}));
    TRAINWARDEN_ASSIGN_OR_RETURN(const DecodedFrames::Bundle* bundle, bundle_of(record, *segment));
    const format::BundleEntry& entry = bundle->entries[record.row];
    const std::uint64_t bytes = entry.end - entry.begin;
    TensorView view = TensorView::of(nullptr, entry.dtype, entry.shape);
    if (entry.dtype == DType::kString || bytes != view.packed_bytes()) {
      return Status(Code::kUnimplemented, "texts are read as values");
    }
    TRAINWARDEN_RETURN_IF_ERROR(frames_.check_entry(*segment, *bundle));
    const std::shared_ptr<std::byte[]> memory = std::make_shared_for_overwrite<std::byte[]>(bytes);
    TRAINWARDEN_RETURN_IF_ERROR(frames_.read_entry(*segment, *bundle, entry, MutableByteSpan(memory.get(), bytes)));
    view.data = memory.get();
    return SharedTensorValue{view, memory, false};
  });
}

Result<SharedTensorValue> SegmentedJournalReader::map_value(const Record& record) {
  if (!file_maps_allowed()) return Status(Code::kUnimplemented, "files are not mapped here; read them");
  return no_throw([&]() -> Result<SharedTensorValue> {
    TRAINWARDEN_ASSIGN_OR_RETURN(JournalSegment * segment, segment_of(record, {RecordForm::kValue}));
    if (!segment->over) return Status(Code::kFailedPrecondition, "the segment is still being written");
    TRAINWARDEN_ASSIGN_OR_RETURN(const DecodedFrames::Bundle* bundle, bundle_of(record, *segment));
    return frames_.map_entry(*segment, *bundle, bundle->entries[record.row]);
  });
}

Result<StatisticsRow> SegmentedJournalReader::read_statistics(const Record& record) {
  return no_throw([&]() -> Result<StatisticsRow> {
    TRAINWARDEN_ASSIGN_OR_RETURN(JournalSegment * segment,
                                 segment_of(record, {RecordForm::kStatistics, RecordForm::kShape}));
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto* table, frames_.statistics(*segment, record.frame_offset));
    if (record.row >= table->row_count()) return misplaced(record, *segment);
    StatisticsRow row = table->row(record.row);
    if (segment->intake.tensor_of(row.id) != record.tensor) return misplaced(record, *segment);
    row.id = record.tensor;
    return row;
  });
}

Result<double> SegmentedJournalReader::read_scalar(const Record& record) {
  return no_throw([&]() -> Result<double> {
    TRAINWARDEN_ASSIGN_OR_RETURN(JournalSegment * segment, segment_of(record, {RecordForm::kScalar}));
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto rows, frames_.scalars(*segment, record.frame_offset));
    if (record.row >= rows.size()) return misplaced(record, *segment);
    if (segment->intake.tensor_of(rows[record.row].id) != record.tensor) return misplaced(record, *segment);
    return rows[record.row].value;
  });
}

Result<std::vector<SavedReduction>> SegmentedJournalReader::read_reductions(const Record& record) {
  return no_throw([&]() -> Result<std::vector<SavedReduction>> {
    TRAINWARDEN_ASSIGN_OR_RETURN(JournalSegment * segment, segment_of(record, {RecordForm::kReductions}));
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto rows, frames_.reductions(*segment, record.frame_offset));
    if (record.row >= rows.size()) return misplaced(record, *segment);
    const std::uint32_t id = rows[record.row].id;
    if (segment->intake.tensor_of(id) != record.tensor) return misplaced(record, *segment);
    std::vector<SavedReduction> saved;
    for (const ReductionRow& row : rows.subspan(record.row)) {
      if (row.id != id) break;
      saved.push_back({row.reduction, row.abs, row.value});
    }
    return saved;
  });
}

Result<std::pair<DType, Shape>> SegmentedJournalReader::read_shape(const Record& record) {
  using Answer = Result<std::pair<DType, Shape>>;
  return no_throw([&]() -> Answer {
    TRAINWARDEN_ASSIGN_OR_RETURN(JournalSegment * segment,
                                 segment_of(record, {RecordForm::kValue, RecordForm::kStatistics, RecordForm::kShape}));
    if (record.form == RecordForm::kValue) {
      TRAINWARDEN_ASSIGN_OR_RETURN(const DecodedFrames::Bundle* bundle, bundle_of(record, *segment));
      const format::BundleEntry& entry = bundle->entries[record.row];
      return std::pair(entry.dtype, entry.shape);
    }
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto* table, frames_.statistics(*segment, record.frame_offset));
    return record.row < table->row_count() ? Answer(table->shape(record.row)) : Answer(misplaced(record, *segment));
  });
}

Status SegmentedJournalReader::verify_all() {
  return no_throw([&]() -> Status {
    for (std::uint32_t i = 0; i < segments_.size(); ++i) {
      JournalSegment& segment = use(i);
      TRAINWARDEN_ASSIGN_OR_RETURN(std::uint64_t file_bytes, segment.file.bytes());
      if (!segment.over) file_bytes = segment.decoder.position();
      TRAINWARDEN_RETURN_IF_ERROR(verify_frames(segment, file_bytes));
    }
    return Status();
  });
}

}  // namespace

Result<std::unique_ptr<JournalReader>> JournalReader::open(const storage::Storage& storage, const RunInfo& run,
                                                           std::string_view writer,
                                                           const JournalReaderOptions& options) {
  using Opened = Result<std::unique_ptr<JournalReader>>;
  return no_throw([&]() -> Opened {
    std::unique_ptr<JournalReader> reader = std::make_unique<SegmentedJournalReader>(storage, run, writer, options);
    TRAINWARDEN_RETURN_IF_ERROR(reader->refresh());
    return reader;
  });
}

}  // namespace trainwarden::journal
