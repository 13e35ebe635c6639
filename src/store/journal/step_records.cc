#include "store/journal/step_records.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace trainwarden::journal {
namespace {

using format::FrameHeader;
using format::FrameKind;

class RecordLoader {
 public:
  RecordLoader(JournalContents& contents, JournalSegment& segment, DecodedFrames& frames)
      : contents_(contents), segment_(segment), frames_(frames) {}

  Status load(const FrameHeader& header);
  std::span<const format::RecordIndexRow> records() const { return records_; }
  std::span<const std::uint64_t> offsets() const { return offsets_; }

 private:
  Status load_bundle(const FrameHeader& header);
  Status load_statistics(const FrameHeader& header);
  Status load_scalars(const FrameHeader& header);
  Status load_reductions(const FrameHeader& header);
  void add(std::uint32_t tensor, RecordForm form, const FrameHeader& header, std::size_t row);
  void add_by_id(std::uint32_t id, RecordForm form, const FrameHeader& header, std::size_t row);

  JournalContents& contents_;
  JournalSegment& segment_;
  DecodedFrames& frames_;
  std::vector<format::RecordIndexRow> records_;  // frames count from the first of offsets_
  std::vector<std::uint64_t> offsets_;           // of frames with records
  std::uint64_t nameless_ = 0;                   // records of the frame that is loaded
};

Status RecordLoader::load(const FrameHeader& header) {
  nameless_ = 0;
  Status status;
  if (header.kind == FrameKind::kBundle) status = load_bundle(header);
  if (header.kind == FrameKind::kStatistics) status = load_statistics(header);
  if (header.kind == FrameKind::kScalars) status = load_scalars(header);
  if (header.kind == FrameKind::kReductions) status = load_reductions(header);
  if (nameless_ > 0) segment_.intake.add_damage(header.file_offset, kNamelessRecords, nameless_, 0);
  return status;
}

void RecordLoader::add(std::uint32_t tensor, RecordForm form, const FrameHeader& header, std::size_t row) {
  if (offsets_.empty() || offsets_.back() != header.file_offset) offsets_.push_back(header.file_offset);
  records_.push_back({tensor, form, static_cast<std::uint32_t>(offsets_.size() - 1), static_cast<std::uint32_t>(row)});
}

void RecordLoader::add_by_id(std::uint32_t id, RecordForm form, const FrameHeader& header, std::size_t row) {
  if (const std::optional<std::uint32_t> tensor = segment_.intake.tensor_of(id)) {
    add(*tensor, form, header, row);
  } else {
    ++nameless_;
  }
}

// A bundle says its names itself. One that is new is only believed when the payload is whole.
Status RecordLoader::load_bundle(const FrameHeader& header) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const DecodedFrames::Bundle* bundle, frames_.bundle(segment_, header.file_offset));
  const bool named = std::all_of(bundle->entries.begin(), bundle->entries.end(), [&](const format::BundleEntry& entry) {
    return contents_.tensor_by_name.contains(entry.name);
  });
  if (!named) TRAINWARDEN_RETURN_IF_ERROR(frames_.verify(segment_, header));
  for (std::size_t row = 0; row < bundle->entries.size(); ++row) {
    add(contents_.tensor_index(bundle->entries[row].name), RecordForm::kValue, header, row);
  }
  return Status();
}

Status RecordLoader::load_statistics(const FrameHeader& header) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::StatisticsTable* table, frames_.statistics(segment_, header.file_offset));
  for (std::size_t row = 0; row < table->keys().size(); ++row) {
    const format::StatisticsKey& key = table->keys()[row];
    add_by_id(key.tensor, key.shape_only ? RecordForm::kShape : RecordForm::kStatistics, header, row);
  }
  return Status();
}

Status RecordLoader::load_scalars(const FrameHeader& header) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto rows, frames_.scalars(segment_, header.file_offset));
  for (std::size_t row = 0; row < rows.size(); ++row) add_by_id(rows[row].id, RecordForm::kScalar, header, row);
  return Status();
}

// One record for all reductions of a tensor, which points to the first.
Status RecordLoader::load_reductions(const FrameHeader& header) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto rows, frames_.reductions(segment_, header.file_offset));
  for (const std::size_t row : format::first_rows(rows)) {
    add_by_id(rows[row].id, RecordForm::kReductions, header, row);
  }
  return Status();
}

}  // namespace

Status load_records(JournalContents& contents, JournalSegment& segment, DecodedFrames& frames, StepData& step) {
  RecordLoader loader(contents, segment, frames);
  for (const FrameHeader& header : step.frames) {
    const Status status = loader.load(header);
    if (!status.ok() && !is_damage(status)) return status;
  }
  const std::uint64_t offset = step.frames.empty() ? 0 : step.frames.front().file_offset;
  const bool afforded = segment.intake.afford(loader.records().size() * kRecordCost, offset);
  step.first_offset = contents.frame_offsets.size();
  if (afforded) {
    contents.frame_offsets.insert(contents.frame_offsets.end(), loader.offsets().begin(), loader.offsets().end());
  }
  step.layout = contents.layouts.add(afforded ? loader.records() : std::span<const format::RecordIndexRow>());
  step.frames = {};
  return Status();
}

}  // namespace trainwarden::journal
