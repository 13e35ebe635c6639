#include "read/trial/tensor_index.h"

#include <algorithm>

namespace trainwarden::trial {
namespace {

std::uint8_t with(std::uint8_t forms, journal::RecordForm form) {
  return static_cast<std::uint8_t>(forms | 1 << static_cast<int>(form));
}

}  // namespace

std::uint8_t TensorIndex::Held::of(std::uint32_t tensor) const {
  const auto found = std::lower_bound(forms.begin(), forms.end(), tensor,
                                      [](const auto& entry, std::uint32_t wanted) { return entry.first < wanted; });
  return found == forms.end() || found->first != tensor ? std::uint8_t{0} : found->second;
}

TensorIndex::Held TensorIndex::held_by(std::span<const journal::Record> records) {
  Held held;
  for (const journal::Record& record : records) {
    held.forms.emplace_back(record.tensor, with(0, record.form));
    held.any_forms = with(held.any_forms, record.form);
  }
  std::sort(held.forms.begin(), held.forms.end());
  std::size_t kept = 0;
  for (const auto& [tensor, forms] : held.forms) {
    if (kept > 0 && held.forms[kept - 1].first == tensor) {
      held.forms[kept - 1].second = static_cast<std::uint8_t>(held.forms[kept - 1].second | forms);
    } else {
      held.forms[kept++] = {tensor, forms};
    }
  }
  held.forms.resize(kept);
  return held;
}

Result<std::uint32_t> TensorIndex::held_at(journal::JournalReader& reader, std::size_t step_index) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto layout, reader.layout(step_index));
  if (layout && last_of_layout_ && last_of_layout_->first == *layout) return last_of_layout_->second;
  if (layout) {
    const auto known = held_by_layout_.find(*layout);
    if (known != held_by_layout_.end()) return (last_of_layout_ = *known)->second;
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto records, reader.records(step_index));
  const auto next = static_cast<std::uint32_t>(held_.size());
  held_.push_back(held_by(records));
  if (layout) held_by_layout_.emplace(*layout, next);
  return next;
}

void TensorIndex::extend(journal::JournalReader& reader) {
  const std::size_t more = reader.steps().size() - held_by_step_.size();
  make_room(held_by_step_, more);
  make_room(steps_, more);
  while (held_by_step_.size() < reader.steps().size()) {
    const std::size_t step_index = held_by_step_.size();
    held_by_step_.push_back(held_at(reader, step_index).value_or(kUnreadable));
    if (held_by_step_.back() == kUnreadable) continue;
    const std::uint8_t forms = held_[held_by_step_.back()].any_forms;
    if (forms != 0) steps_.push_back({static_cast<std::uint32_t>(step_index), forms});
  }
}

std::optional<std::uint32_t> TensorIndex::group_of(std::size_t step_index) const {
  const std::uint32_t held = held_by_step_[step_index];
  return held == kUnreadable ? std::nullopt : std::optional(held);
}

std::span<const Posting> TensorIndex::of(std::uint32_t tensor) {
  if (tensor >= postings_.size()) postings_.resize(tensor + std::size_t{1});
  Postings& postings = postings_[tensor];
  std::uint32_t last_held = kUnreadable;
  std::uint8_t last_forms = 0;
  for (; postings.searched_steps < held_by_step_.size(); ++postings.searched_steps) {
    const std::uint32_t held = held_by_step_[postings.searched_steps];
    if (held == kUnreadable) continue;
    if (held != last_held) last_forms = held_[held].of(tensor);
    last_held = held;
    if (last_forms != 0) postings.found.push_back({static_cast<std::uint32_t>(postings.searched_steps), last_forms});
  }
  return postings.found;
}

}  // namespace trainwarden::trial
