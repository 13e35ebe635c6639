#include "store/journal/step_draft.h"

#include <span>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"
#include "data/format/records.h"

namespace trainwarden::journal {
namespace {

using format::FrameKind;
using format::RecordForm;

constexpr std::size_t kBundleBytes = std::size_t{128} << 10;  // of small tensors together

std::size_t stored_bytes_of(const KeptTensor& tensor) {
  std::size_t bytes = tensor.data.size();
  for (const std::string& text : tensor.strings) bytes += text.size();
  return bytes;
}

class StepDrafter {
 public:
  StepDrafter(const StepBatch& batch, const NamesById& names, const std::unordered_set<std::uint32_t>& named)
      : batch_(batch), names_(names), named_(named) {}

  Result<AppendDraft> draft_part() && {
    TRAINWARDEN_RETURN_IF_ERROR(add_names());
    TRAINWARDEN_RETURN_IF_ERROR(add_bundles());
    return std::move(draft_);
  }

  Result<AppendDraft> draft() && {
    TRAINWARDEN_RETURN_IF_ERROR(add_names());
    TRAINWARDEN_RETURN_IF_ERROR(add_bundles());
    add_statistics();
    add_scalars();
    TRAINWARDEN_RETURN_IF_ERROR(add_reductions());
    add_step_end();
    return std::move(draft_);
  }

 private:
  Status add_names();
  Status add_bundles();
  Status add_bundle(std::span<const KeptTensor> tensors);
  void add_statistics();
  void add_scalars();
  Status add_reductions();
  void add_step_end();

  Status add_name(std::uint32_t id, std::vector<format::NameEntry>& entries);
  Status add_name_if_new(std::uint32_t id, std::vector<format::NameEntry>& entries);
  FrameDraft& add_frame(FrameKind kind, std::string head);
  void add_record(std::uint32_t id, RecordForm form, std::size_t row);

  const StepBatch& batch_;
  const NamesById& names_;
  const std::unordered_set<std::uint32_t>& named_;
  std::unordered_set<std::uint32_t> named_here_;
  AppendDraft draft_;
};

FrameDraft& StepDrafter::add_frame(FrameKind kind, std::string head) {
  FrameDraft frame;
  frame.kind = kind;
  frame.flags = static_cast<std::uint16_t>(batch_.mode);
  frame.step = batch_.global_step;
  frame.head = std::move(head);
  draft_.frames.push_back(std::move(frame));
  return draft_.frames.back();
}

void StepDrafter::add_record(std::uint32_t id, RecordForm form, std::size_t row) {
  const auto frame = static_cast<std::uint32_t>(draft_.frames.size() - 1);
  draft_.records.push_back({id, form, frame, static_cast<std::uint32_t>(row)});
}

Status StepDrafter::add_name(std::uint32_t id, std::vector<format::NameEntry>& entries) {
  if (!named_here_.insert(id).second) return Status();
  const auto known = names_.find(id);
  if (known == names_.end()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("step {} uses tensor id {}, which was never given a name", batch_.global_step, id));
  }
  entries.push_back(known->second);
  draft_.named_ids.push_back(id);
  return Status();
}

Status StepDrafter::add_name_if_new(std::uint32_t id, std::vector<format::NameEntry>& entries) {
  return named_.contains(id) ? Status() : add_name(id, entries);
}

Status StepDrafter::add_names() {
  std::vector<format::NameEntry> entries;
  // What the batch itself names is always written: a known tensor may have joined a collection.
  for (const NameEntry& entry : batch_.new_names) TRAINWARDEN_RETURN_IF_ERROR(add_name(entry.id, entries));
  for (const KeptTensor& tensor : batch_.tensors) TRAINWARDEN_RETURN_IF_ERROR(add_name_if_new(tensor.id, entries));
  for (const StatisticsRow& row : batch_.statistics) TRAINWARDEN_RETURN_IF_ERROR(add_name_if_new(row.id, entries));
  for (const ScalarRow& row : batch_.scalars) TRAINWARDEN_RETURN_IF_ERROR(add_name_if_new(row.id, entries));
  for (const ReductionRow& row : batch_.reductions) TRAINWARDEN_RETURN_IF_ERROR(add_name_if_new(row.id, entries));
  if (!entries.empty()) add_frame(FrameKind::kNames, format::encode_names(entries));
  return Status();
}

// A payload has one CRC, which whoever reads one tensor of it has to check: large tensors have a bundle each, and small
// ones share one.
Status StepDrafter::add_bundles() {
  const std::span<const KeptTensor> tensors(batch_.tensors);
  std::unordered_set<std::string_view> seen;
  std::size_t begin = 0;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::string_view name = names_.at(tensors[i].id).name;
    if (!seen.insert(name).second) {
      return Status(Code::kInvalidArgument,
                    fmt::format("step {} has two tensors named \"{}\"", batch_.global_step, printable(name)));
    }
    const std::size_t tensor_bytes = stored_bytes_of(tensors[i]);
    if (i > begin && bytes + tensor_bytes > kBundleBytes) {
      TRAINWARDEN_RETURN_IF_ERROR(add_bundle(tensors.subspan(begin, i - begin)));
      begin = i;
      bytes = 0;
    }
    bytes += tensor_bytes;
  }
  return begin < tensors.size() ? add_bundle(tensors.subspan(begin)) : Status();
}

Status StepDrafter::add_bundle(std::span<const KeptTensor> tensors) {
  std::vector<std::string_view> names;
  names.reserve(tensors.size());
  for (const KeptTensor& tensor : tensors) names.push_back(names_.at(tensor.id).name);
  TRAINWARDEN_ASSIGN_OR_RETURN(format::BundleLayout layout, format::plan_bundle(tensors, names));
  FrameDraft& frame = add_frame(FrameKind::kBundle, std::move(layout.header));
  for (const std::size_t index : layout.order) format::append_data_parts(tensors[index], frame.tail);
  for (std::size_t row = 0; row < layout.order.size(); ++row) {
    add_record(tensors[layout.order[row]].id, RecordForm::kValue, row);
  }
  return Status();
}

void StepDrafter::add_statistics() {
  if (batch_.statistics.empty()) return;
  add_frame(FrameKind::kStatistics, format::encode_statistics(batch_.statistics));
  for (std::size_t row = 0; row < batch_.statistics.size(); ++row) {
    const StatisticsRow& entry = batch_.statistics[row];
    add_record(entry.id, entry.shape_only ? RecordForm::kShape : RecordForm::kStatistics, row);
  }
}

void StepDrafter::add_scalars() {
  if (batch_.scalars.empty()) return;
  add_frame(FrameKind::kScalars, format::encode_scalars(batch_.scalars));
  for (std::size_t row = 0; row < batch_.scalars.size(); ++row) {
    add_record(batch_.scalars[row].id, RecordForm::kScalar, row);
  }
}

Status StepDrafter::add_reductions() {
  if (batch_.reductions.empty()) return Status();
  if (!format::lie_together(batch_.reductions)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("step {}: the reductions of each tensor must lie together", batch_.global_step));
  }
  add_frame(FrameKind::kReductions, format::encode_reductions(batch_.reductions));
  for (const std::size_t row : format::first_rows(batch_.reductions)) {
    add_record(batch_.reductions[row].id, RecordForm::kReductions, row);
  }
  return Status();
}

void StepDrafter::add_step_end() {
  add_frame(FrameKind::kStepEnd, format::encode_step_end({batch_.mode, batch_.mode_step, batch_.losses}));
  format::StepIndexRow step;
  step.global_step = batch_.global_step;
  step.mode = batch_.mode;
  step.mode_step = batch_.mode_step;
  step.frame = static_cast<std::uint32_t>(draft_.frames.size() - 1);
  step.loss_count = static_cast<std::uint32_t>(batch_.losses.size());
  step.record_count = static_cast<std::uint32_t>(draft_.records.size());
  draft_.step = step;
}

}  // namespace

Result<AppendDraft> draft_step(const StepBatch& batch, const NamesById& names,
                               const std::unordered_set<std::uint32_t>& named) {
  return StepDrafter(batch, names, named).draft();
}

Result<AppendDraft> draft_part(const StepBatch& batch, const NamesById& names,
                               const std::unordered_set<std::uint32_t>& named) {
  return StepDrafter(batch, names, named).draft_part();
}

}  // namespace trainwarden::journal
