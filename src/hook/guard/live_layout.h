// LiveLayout: which tensors an open step holds, and where. Steps are much alike: a layout serves as long as the same
// rows come in the same order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/regex.h"
#include "hook/capture/step_judge.h"
#include "trainwarden/rule.h"
#include "trainwarden/status.h"

namespace trainwarden::guard {

// How many rows of each kind a step held at some time.
struct RowMark {
  std::size_t tensors = 0;
  std::size_t statistics = 0;
  std::size_t scalars = 0;
  std::size_t reductions = 0;
  friend bool operator==(const RowMark&, const RowMark&) = default;
};
RowMark rows_of(const capture::OpenStep& step);

inline constexpr std::uint32_t kNoRow = 0xffffffff;

// One tensor, and which rows from the layout's mark on are about it.
struct LiveTensor {
  std::uint32_t id = 0;
  std::string_view name;
  const capture::Membership* membership = nullptr;
  std::uint32_t value = kNoRow;
  std::uint32_t statistics = kNoRow;
  std::uint32_t scalar = kNoRow;
  std::uint32_t reductions = kNoRow;  // the first of reduction_count
  std::uint32_t reduction_count = 0;
};

// Which tensors are selected, by selection. Asked once for each tensor, and again when its collections have changed.
class SelectionBook {
 public:
  // kInvalidArgument for a bad pattern.
  Result<std::vector<std::uint32_t>> select(const TensorSelection& selection, std::span<const LiveTensor> tensors,
                                            const capture::OpenStep& step);

 private:
  struct Answer {
    const capture::Membership* membership = nullptr;  // null: not asked yet
    bool selected = false;
  };
  struct Chapter {
    RegexSet patterns;
    std::vector<Answer> answers;  // by id
  };
  static bool is_selected(const TensorSelection& selection, const Chapter& chapter, const LiveTensor& tensor,
                          const capture::OpenStep& step);

  std::map<TensorSelection, Chapter> chapters_;
};

class LiveLayout {
 public:
  LiveLayout(const capture::OpenStep& step, const RowMark& from);

  // The step's rows from the mark on are those that the layout was made from.
  bool fits(const capture::OpenStep& step, const RowMark& from) const;
  std::span<const LiveTensor> tensors() const { return tensors_; }  // by name

  // As StepWindow::select(), with the place in tensors() as handle.
  Result<std::span<const TensorSpot>> select(const TensorSelection& selection, const capture::OpenStep& step,
                                             SelectionBook& book, const std::string& worker,
                                             const std::string& shown_worker);

 private:
  std::vector<std::uint32_t> ids_;  // of the rows, kind after kind
  RowMark counts_;                  // of them
  std::vector<LiveTensor> tensors_;
  std::map<TensorSelection, std::vector<TensorSpot>> selected_;
};

}  // namespace trainwarden::guard
