// TensorIndex: for each tensor of one journal, the steps that hold it and in which forms.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "store/journal/journal_reader.h"

namespace trainwarden::trial {

struct Posting {
  std::uint32_t step_index = 0;  // into the reader's steps()
  std::uint8_t forms = 0;        // a bit for each RecordForm
  static_assert(format::kRecordFormCount <= 8);

  bool has(journal::RecordForm form) const { return (forms >> static_cast<int>(form) & 1) != 0; }
};

class TensorIndex {
 public:
  // Takes in the steps that came since the last call. Steps whose records cannot be read are left out; the reader
  // counts them as lost.
  void extend(journal::JournalReader& reader);

  // By rising step index. `tensor` is an index into the reader's tensors().
  std::span<const Posting> of(std::uint32_t tensor) const;
  // Of all tensors together: each step that holds any, with the forms.
  std::span<const Posting> steps() const { return steps_; }

 private:
  static void add(std::vector<Posting>& postings, std::uint32_t step_index, journal::RecordForm form);

  std::vector<std::vector<Posting>> postings_;  // by tensor
  std::vector<Posting> steps_;
  std::size_t indexed_steps_ = 0;
};

}  // namespace trainwarden::trial
