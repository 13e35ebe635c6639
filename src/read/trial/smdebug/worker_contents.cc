#include "read/trial/smdebug/worker_contents.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/base/text.h"
#include "data/foreign/smdebug_layout.h"

namespace trainwarden::trial {
namespace {

using journal::Record;
using journal::RecordForm;

// A record's place must fit into a Record; protobuf allows 2 GiB.
constexpr std::uint64_t kMaxRecordBytes = std::numeric_limits<std::uint32_t>::max();

Status check(const foreign::SmdebugIndex& index) {
  for (const foreign::SmdebugTensorPlace& place : index.tensors) {
    if (place.bytes <= kMaxRecordBytes) continue;
    return Status(Code::kDataLoss, fmt::format("\"{}\" has a record of {} bytes; at most {} are expected",
                                               printable(place.tag), place.bytes, kMaxRecordBytes));
  }
  return {};
}

bool same_reduction(const WorkerContents::ReductionPlace& a, const WorkerContents::ReductionPlace& b) {
  return a.tensor == b.tensor && a.reduction == b.reduction && a.abs == b.abs;
}

}  // namespace

Status WorkerContents::take_in(std::int64_t step, const foreign::SmdebugIndex& index) {
  TRAINWARDEN_RETURN_IF_ERROR(check(index));
  steps_.push_back({step, index.mode, index.mode_step, 0});
  const std::size_t first_reduction = reductions_.size();
  for (const foreign::SmdebugTensorPlace& place : index.tensors) {
    const Tag& meaning = tag(place.tag);
    if (meaning.reduction) {
      add_reduction(meaning, place);
    } else {
      add_value(meaning.tensor, place);
    }
  }
  add_reduction_records(first_reduction);
  for (const foreign::SmdebugShape& shape : index.shapes) add_shape(shape);
  record_ends_.push_back(records_.size());
  if (index.event_file != foreign::smdebug_event_file(step, worker_)) {
    unusual_event_files_.emplace(step_index(), index.event_file);
  }
  return {};
}

const WorkerContents::Tag& WorkerContents::tag(std::string_view text) {
  const auto found = tags_.find(text);
  if (found != tags_.end()) return found->second;
  Tag tag;
  if (const auto reduction = foreign::parse_smdebug_reduction_tag(text)) {
    tag = {tensor_index(reduction->tensor), reduction->reduction, reduction->abs};
  } else {
    tag.tensor = tensor_index(text);
  }
  return tags_.emplace(text, tag).first->second;
}

std::uint32_t WorkerContents::tensor_index(std::string_view name) {
  const auto found = tensor_by_name_.find(name);
  if (found != tensor_by_name_.end()) return found->second;
  const auto index = static_cast<std::uint32_t>(tensors_.size());
  tensors_.push_back({std::string(name), {}});
  last_records_.emplace_back();
  tensor_by_name_.emplace(name, index);
  return index;
}

void WorkerContents::add_value(std::uint32_t tensor, const foreign::SmdebugTensorPlace& place) {
  Record& record = record_of(tensor, RecordForm::kValue);
  record.frame_offset = place.offset;
  record.row = static_cast<std::uint32_t>(place.bytes);
}

void WorkerContents::add_reduction(const Tag& tag, const foreign::SmdebugTensorPlace& place) {
  reductions_.push_back({tag.tensor, *tag.reduction, tag.abs, {place.offset, place.bytes}});
}

// One record for all single reductions of a tensor: those of the step lie together in reductions_, by tensor.
void WorkerContents::add_reduction_records(std::size_t first) {
  if (reductions_.size() == first) return;
  const auto begin = reductions_.begin() + static_cast<std::ptrdiff_t>(first);
  std::stable_sort(begin, reductions_.end(),
                   [](const ReductionPlace& a, const ReductionPlace& b) { return a.tensor < b.tensor; });
  std::vector<ReductionPlace> places(begin, reductions_.end());
  reductions_.erase(begin, reductions_.end());
  for (const ReductionPlace& place : places) {
    const bool new_tensor = reductions_.size() == first || reductions_.back().tensor != place.tensor;
    if (new_tensor) {
      records_.push_back({place.tensor, RecordForm::kReductions, step_index(), 0, reductions_.size()});
    }
    Record& record = records_.back();
    const auto of_tensor = reductions_.begin() + static_cast<std::ptrdiff_t>(record.frame_offset);
    const auto known = std::find_if(of_tensor, reductions_.end(),
                                    [&](const ReductionPlace& other) { return same_reduction(other, place); });
    if (known != reductions_.end()) {
      *known = place;
      continue;
    }
    reductions_.push_back(place);
    ++record.row;
  }
}

void WorkerContents::add_shape(const foreign::SmdebugShape& shape) {
  const auto index = static_cast<std::uint32_t>(shapes_.size());
  const auto [known, is_new] = shape_by_text_.try_emplace(shape.shape.to_string(), index);
  if (is_new) shapes_.push_back(shape.shape);
  record_of(tensor_index(shape.tensor), RecordForm::kShape).row = known->second;
}

// The tensor's record in the step that is being taken in. Of two entries for one name smdebug's reader takes the later.
Record& WorkerContents::record_of(std::uint32_t tensor, RecordForm form) {
  LastRecords& last = last_records_[tensor];
  std::optional<std::size_t>& index = form == RecordForm::kShape ? last.shape : last.value;
  const std::size_t first_of_step = record_ends_.empty() ? 0 : record_ends_.back();
  if (!index || *index < first_of_step) {
    index = records_.size();
    records_.push_back({tensor, form, step_index(), 0, 0});
  }
  return records_[*index];
}

std::span<const Record> WorkerContents::records(std::size_t step_index) const {
  const std::size_t first = step_index == 0 ? 0 : record_ends_[step_index - 1];
  return std::span(records_).subspan(first, record_ends_[step_index] - first);
}

std::string WorkerContents::event_file(std::size_t step_index) const {
  const auto unusual = unusual_event_files_.find(static_cast<std::uint32_t>(step_index));
  if (unusual != unusual_event_files_.end()) return unusual->second;
  return foreign::smdebug_event_file(steps_[step_index].global_step, worker_);
}

std::span<const WorkerContents::ReductionPlace> WorkerContents::reductions(const Record& record) const {
  return std::span(reductions_).subspan(record.frame_offset, record.row);
}

}  // namespace trainwarden::trial
