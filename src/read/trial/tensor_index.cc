#include "read/trial/tensor_index.h"

namespace trainwarden::trial {

void TensorIndex::extend(journal::JournalReader& reader) {
  for (; indexed_steps_ < reader.steps().size(); ++indexed_steps_) {
    const auto records = reader.records(indexed_steps_);
    if (!records.ok()) continue;
    postings_.resize(reader.tensors().size());
    for (const journal::Record& record : *records) {
      add(postings_[record.tensor], static_cast<std::uint32_t>(indexed_steps_), record.form);
      add(steps_, static_cast<std::uint32_t>(indexed_steps_), record.form);
    }
  }
}

void TensorIndex::add(std::vector<Posting>& postings, std::uint32_t step_index, journal::RecordForm form) {
  if (postings.empty() || postings.back().step_index != step_index) postings.push_back({step_index, 0});
  postings.back().forms = static_cast<std::uint8_t>(postings.back().forms | 1 << static_cast<int>(form));
}

std::span<const Posting> TensorIndex::of(std::uint32_t tensor) const {
  if (tensor >= postings_.size()) return {};
  return postings_[tensor];
}

}  // namespace trainwarden::trial
