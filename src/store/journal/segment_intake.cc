#include "store/journal/segment_intake.h"

#include <algorithm>
#include <utility>

#include "data/format/records.h"
#include "store/journal/journal_segment.h"

namespace trainwarden::journal {

using format::FrameHeader;
using format::FrameKind;

namespace {

constexpr std::string_view kStepWithoutEnd = "data of a step without its end";

}  // namespace

void SegmentIntake::on_frame(const FrameHeader& header, ByteSpan payload) {
  if (refused_) return;
  if (is_data(header.kind)) {
    if (afford_or_stop(sizeof(header), header)) pending_.push_back(header);
  } else if (header.kind == FrameKind::kStepEnd) {
    take_step_end(header, payload);
  } else if (header.kind == FrameKind::kSamples) {
    take_samples(header);
  } else if (header.kind == FrameKind::kOperators) {
    take_operators(header);
  } else if (is_words(header.kind)) {
    take_words(header, payload);
  } else if (format::name(header.kind) == "unknown") {
    add_damage(header.file_offset, "frame of an unknown kind", 1, header.frame_bytes());
  }
}

void SegmentIntake::on_damage(const Damage& damage) {
  add_damage(damage.offset, damage.cause, damage.frames, damage.bytes);
}

void SegmentIntake::finish() {
  drop_pending(std::nullopt);
}

void SegmentIntake::report_pending() {
  for (const FrameHeader& header : pending_) {
    add_damage(header.file_offset, kStepWithoutEnd, 1, header.frame_bytes());
  }
}

void SegmentIntake::take_words(const FrameHeader& header, ByteSpan payload) {
  switch (header.kind) {
    case FrameKind::kSegmentStart: return take_start(header, payload);
    case FrameKind::kNames: return take_names(header, payload);
    default: return take_event(header, payload);
  }
}

void SegmentIntake::take_event(const FrameHeader& header, std::optional<ByteSpan> payload) {
  if (!afford_or_stop(kEventCost, header)) return;
  if (payload) contents_.recent_texts.add(contents_.events.size(), as_text(*payload));
  contents_.events.push_back({header.kind, identity_.index, header.file_offset, header.step, header.unix_ns});
}

// What it holds is looked at when somebody asks for samples.
void SegmentIntake::take_samples(const FrameHeader& header) {
  if (!afford_or_stop(kSampleFrameCost, header)) return;
  SampleFrame frame;
  frame.segment = identity_.index;
  frame.offset = header.file_offset;
  contents_.sample_frames.push_back(frame);
}

void SegmentIntake::take_operators(const FrameHeader& header) {
  if (!afford_or_stop(kOperatorFrameCost, header)) return;
  contents_.operator_frames.push_back({identity_.index, header.file_offset, header.step});
}

// Its list of frames says all: where they lie, and of which step each is.
void SegmentIntake::take_index_of_operators(const format::SegmentIndexView& index) {
  for (std::size_t i = 0; i < index.frames.size(); ++i) {
    const format::FrameIndexRow frame = index.frames[i];
    if (frame.kind != FrameKind::kOperators) continue;
    if (!afford(kOperatorFrameCost, frame.offset)) return;
    contents_.operator_frames.push_back({identity_.index, frame.offset, frame.step});
  }
}

void SegmentIntake::take_start(const FrameHeader& header, ByteSpan payload) {
  const Result<format::SegmentStart> start = format::decode_segment_start(as_text(payload));
  if (!start.ok()) return add_undecodable(header, start.status());
  if (start->run == identity_.run && start->writer == identity_.writer && start->segment == identity_.number) {
    if (afford_or_stop(cost_of(start->collections), header)) contents_.add_collections(start->collections);
    return;
  }
  refused_ = true;
  add_damage(0, "segment that is not what its file name says", 1, header.frame_bytes());
}

void SegmentIntake::take_names(const FrameHeader& header, ByteSpan payload) {
  const Result<format::Names> names = format::decode_names(as_text(payload));
  if (!names.ok()) return add_undecodable(header, names.status());
  for (const format::NameEntry& entry : names->tensors) {
    if (!afford_or_stop(cost_of(entry), header)) return;
    tensor_by_id_[entry.id] = contents_.add_name(entry);
  }
  for (const auto& [id, metric] : names->metrics) {
    if (!afford_or_stop(cost_of(metric), header)) return;
    metric_by_id_[id] = contents_.add_metric(metric);
  }
}

std::uint64_t SegmentIntake::cost_of(const Metric& metric) const {
  if (contents_.knows(metric)) return 0;
  return kMetricCost + 2 * (metric.name.size() + metric.unit.size() + metric.instance.size());
}

// What is known already costs nothing: every segment repeats names and collections.
std::uint64_t SegmentIntake::cost_of(const format::NameEntry& entry) const {
  std::uint64_t cost = 0;
  if (!contents_.tensor_by_name.contains(entry.name)) {
    cost = kTensorCost + 2 * entry.name.size();
    for (const std::string& name : entry.collections) cost += kMembershipCost + 2 * name.size();
  }
  return cost;
}

std::uint64_t SegmentIntake::cost_of(std::span<const Collection> collections) const {
  std::uint64_t cost = 0;
  for (const Collection& collection : collections) {
    const auto known = contents_.collection_by_name.find(collection.name);
    if (known != contents_.collection_by_name.end() && contents_.collections[known->second] == collection) continue;
    cost += kCollectionCost;
    for (const std::string& name : collection.tensor_names) cost += kMembershipCost + 2 * name.size();
  }
  return cost;
}

void SegmentIntake::take_step_end(const FrameHeader& header, ByteSpan payload) {
  const Result<format::StepEndRecord> record = format::decode_step_end(as_text(payload));
  if (!record.ok()) return add_undecodable(header, record.status());
  drop_pending(header.step);
  if (!afford_or_stop(kStepCost, header)) return;
  contents_.steps.push_back({header.step, record->mode, record->mode_step, header.unix_ns});
  StepData data;
  data.segment = identity_.index;
  data.frames = std::move(pending_);
  contents_.step_data.push_back(std::move(data));
  pending_.clear();
  for (const format::LossRow& row : record->losses) contents_.losses.add_unkept(identity_.writer, header.step, row);
}

void SegmentIntake::take_step_losses(const FrameHeader& header, ByteSpan payload) {
  const Result<format::StepEndRecord> record = format::decode_step_end(as_text(payload));
  if (!record.ok()) return add_undecodable(header, record.status());
  for (const format::LossRow& row : record->losses) contents_.losses.add_unkept(identity_.writer, header.step, row);
}

std::uint64_t SegmentIntake::cost_of(const format::SegmentIndexView& index) const {
  std::uint64_t shared_records = 0;
  if (!index.layouts.empty()) {
    for (std::size_t i = 0; i < index.steps.size(); ++i) shared_records += index.layouts[index.steps[i].layout];
  }
  return index.steps.size() * kStepCost + index.records.size() * kRecordCost + shared_records * kSharedRecordCost +
         index.samples.size() * kSampleFrameCost;
}

void SegmentIntake::take_index(const format::SegmentIndexView& index) {
  if (!afford(cost_of(index), 0)) return;
  // The end of each step is a frame without records.
  contents_.make_room_for_steps(index.steps.size(), index.frames.size() - index.steps.size());
  index.layouts.empty() ? take_steps(index) : take_sharing_steps(index);
  for (const format::SampleIndexRow& row : index.samples) {
    contents_.sample_frames.push_back({SampleFrame::State::kKnown, identity_.index, index.frames[row.frame].offset,
                                       row.first_unix_ns, row.last_unix_ns, row.lowest_metric, row.highest_metric});
  }
  take_index_of_operators(index);
}

void SegmentIntake::add_step(const format::StepIndexRow& step, std::uint32_t layout) {
  contents_.steps.push_back({step.global_step, step.mode, step.mode_step, step.unix_ns});
  StepData data;
  data.segment = identity_.index;
  data.layout = layout;
  data.first_offset = contents_.frame_offsets.size();
  contents_.step_data.push_back(std::move(data));
}

// Puts the journal's numbers of the tensors in place of the segment's. Returns how many records were left out because
// their names are lost.
std::uint64_t SegmentIntake::name_tensors(std::vector<format::RecordIndexRow>& records) const {
  const std::size_t all = records.size();
  std::erase_if(records, [&](format::RecordIndexRow& record) {
    const std::optional<std::uint32_t> tensor = tensor_of(record.tensor);
    record.tensor = tensor.value_or(0);
    return !tensor;
  });
  return all - records.size();
}

// Each step has records of its own, which count frames from the segment's first.
void SegmentIntake::take_steps(const format::SegmentIndexView& index) {
  std::uint64_t nameless = 0;
  std::vector<format::RecordIndexRow> records;
  for (std::size_t row = 0; row < index.steps.size(); ++row) {
    const format::StepIndexRow step = index.steps[row];
    const auto first = index.records.begin() + step.first_record;
    records.assign(first, first + step.record_count);
    std::uint32_t first_frame = step.frame;
    for (const format::RecordIndexRow& record : records) first_frame = std::min(first_frame, record.frame);
    std::uint32_t needed = 0;
    for (format::RecordIndexRow& record : records) {
      record.frame -= first_frame;
      needed = std::max(needed, record.frame + 1);
    }
    nameless += name_tensors(records);
    add_step(step, contents_.layouts.add(records));
    for (std::uint32_t i = 0; i < needed; ++i) {
      contents_.frame_offsets.push_back(index.frames[first_frame + i].offset);
    }
  }
  if (nameless > 0) add_damage(0, kNamelessRecords, nameless, 0);
}

void SegmentIntake::take_sharing_steps(const format::SegmentIndexView& index) {
  struct Layout {
    std::uint32_t number = 0;  // among the journal's
    std::uint32_t frames = 0;  // that its records need
    std::uint64_t nameless = 0;
  };
  std::vector<Layout> layouts;
  std::vector<format::RecordIndexRow> records;
  auto first = index.records.begin();
  for (const std::uint32_t count : index.layouts) {
    records.assign(first, first + count);
    first += count;
    Layout layout;
    for (const format::RecordIndexRow& record : records) layout.frames = std::max(layout.frames, record.frame + 1);
    layout.nameless = name_tensors(records);
    layout.number = contents_.layouts.add(records);
    layouts.push_back(layout);
  }
  std::uint64_t nameless = 0;
  for (std::size_t row = 0; row < index.steps.size(); ++row) {
    const format::StepIndexRow step = index.steps[row];
    const Layout& layout = layouts[step.layout];
    nameless += layout.nameless;
    add_step(step, layout.number);
    for (std::uint32_t i = 0; i < layout.frames; ++i) {
      contents_.frame_offsets.push_back(index.frames[step.first_frame + i].offset);
    }
  }
  if (nameless > 0) add_damage(0, kNamelessRecords, nameless, 0);
}

std::optional<std::uint32_t> SegmentIntake::metric_of(std::uint32_t id) const {
  const auto known = metric_by_id_.find(id);
  return known == metric_by_id_.end() ? std::nullopt : std::optional(known->second);
}

std::optional<std::uint32_t> SegmentIntake::tensor_of(std::uint32_t id) const {
  const auto known = tensor_by_id_.find(id);
  return known == tensor_by_id_.end() ? std::nullopt : std::optional(known->second);
}

void SegmentIntake::add_damage(std::uint64_t offset, std::string_view cause, std::uint64_t count, std::uint64_t bytes) {
  contents_.losses.add_damage(identity_.path, offset, cause, count, bytes);
}

bool SegmentIntake::afford(std::uint64_t bytes, std::uint64_t offset) {
  const bool enough = contents_.budget->hold(bytes, identity_.path).ok();
  if (!enough) add_damage(offset, kOverBudget, 1, bytes);
  return enough;
}

bool SegmentIntake::afford_or_stop(std::uint64_t bytes, const FrameHeader& header) {
  refused_ = refused_ || !afford(bytes, header.file_offset);
  return !refused_;
}

void SegmentIntake::add_undecodable(const FrameHeader& header, const Status& status) {
  add_damage(header.file_offset, cause_of(status, kUndecodable), 1, header.frame_bytes());
}

// Pending frames of other steps than this lost their step_end.
void SegmentIntake::drop_pending(std::optional<std::int64_t> but_step) {
  std::vector<FrameHeader> kept;
  for (const FrameHeader& header : pending_) {
    if (header.step == but_step) {
      kept.push_back(header);
    } else {
      add_damage(header.file_offset, kStepWithoutEnd, 1, header.frame_bytes());
    }
  }
  pending_ = std::move(kept);
}

}  // namespace trainwarden::journal
