// TensorIndex: for each tensor of one journal, the steps that hold it and in which forms.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/large_memory.h"
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
  // counts them as lost. `reader` is the same at each call.
  void extend(journal::JournalReader& reader);

  // By rising step index, valid until the next extend(). `tensor` is an index into the reader's tensors().
  std::span<const Posting> of(std::uint32_t tensor);
  // Of all tensors together: each step that holds any, with the forms.
  std::span<const Posting> steps() const { return steps_; }

  // Steps that hold the same tensors in the same forms are a group; most steps of a training are. None: the step cannot
  // be read. `step_index` is one that extend() has taken in.
  std::optional<std::uint32_t> group_of(std::size_t step_index) const;
  std::size_t groups() const { return held_.size(); }
  // The tensors of a group, rising, each with a bit for each RecordForm.
  std::span<const std::pair<std::uint32_t, std::uint8_t>> tensors_of(std::uint32_t group) const {
    return held_[group].forms;
  }

 private:
  // Which tensors a step holds, and in which forms: most steps of a training hold the same.
  struct Held {
    std::vector<std::pair<std::uint32_t, std::uint8_t>> forms;  // of each tensor, by tensor
    std::uint8_t any_forms = 0;
    std::uint8_t of(std::uint32_t tensor) const;
  };
  struct Postings {
    std::vector<Posting, LargeAllocator<Posting>> found;
    std::size_t searched_steps = 0;
  };
  static constexpr std::uint32_t kUnreadable = 0xFFFFFFFF;

  static Held held_by(std::span<const journal::Record> records);
  Result<std::uint32_t> held_at(journal::JournalReader& reader, std::size_t step_index);

  template <class T>
  using Long = std::vector<T, LargeAllocator<T>>;
  std::vector<Held> held_;
  std::unordered_map<std::uint32_t, std::uint32_t> held_by_layout_;        // the reader's layouts
  std::optional<std::pair<std::uint32_t, std::uint32_t>> last_of_layout_;  // of these, the one that was asked for last
  Long<std::uint32_t> held_by_step_;                                       // indexes into held_, or kUnreadable
  Long<Posting> steps_;
  std::vector<Postings> postings_;  // by tensor, of those that were asked for
};

}  // namespace trainwarden::trial
