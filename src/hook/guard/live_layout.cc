#include "hook/guard/live_layout.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace trainwarden::guard {
namespace {

// Calls `visit` (row's id, its place from the mark on, pointer to the member of LiveTensor) for each row.
template <class Visit>
void visit_rows(const capture::OpenStep& step, const RowMark& from, Visit visit) {
  const auto visit_kind = [&](auto rows, std::size_t first, std::uint32_t LiveTensor::*place) {
    for (std::size_t i = first; i < rows.size(); ++i) visit(rows[i].id, static_cast<std::uint32_t>(i - first), place);
  };
  visit_kind(step.tensors(), from.tensors, &LiveTensor::value);
  visit_kind(step.statistics(), from.statistics, &LiveTensor::statistics);
  visit_kind(step.scalars(), from.scalars, &LiveTensor::scalar);
  visit_kind(step.reductions(), from.reductions, &LiveTensor::reductions);
}

RowMark difference(const RowMark& now, const RowMark& from) {
  return {now.tensors - from.tensors, now.statistics - from.statistics, now.scalars - from.scalars,
          now.reductions - from.reductions};
}

bool is_any_of(const std::vector<std::string>& wanted, const std::vector<std::string>& sorted) {
  return std::any_of(wanted.begin(), wanted.end(), [&](const std::string& collection) {
    return std::binary_search(sorted.begin(), sorted.end(), collection);
  });
}

}  // namespace

RowMark rows_of(const capture::OpenStep& step) {
  return {step.tensors().size(), step.statistics().size(), step.scalars().size(), step.reductions().size()};
}

LiveLayout::LiveLayout(const capture::OpenStep& step, const RowMark& from) : counts_(difference(rows_of(step), from)) {
  std::unordered_map<std::uint32_t, std::size_t> places;
  visit_rows(step, from, [&](std::uint32_t id, std::uint32_t row, std::uint32_t LiveTensor::*place) {
    ids_.push_back(id);
    const auto [found, is_new] = places.try_emplace(id, tensors_.size());
    if (is_new) {
      tensors_.push_back({.id = id, .name = step.name_of(id), .membership = &step.membership_of(id)});
    }
    LiveTensor& tensor = tensors_[found->second];
    if (tensor.*place == kNoRow) tensor.*place = row;
    if (place == &LiveTensor::reductions) ++tensor.reduction_count;
  });
  std::sort(tensors_.begin(), tensors_.end(), [](const LiveTensor& a, const LiveTensor& b) { return a.name < b.name; });
}

bool LiveLayout::fits(const capture::OpenStep& step, const RowMark& from) const {
  if (difference(rows_of(step), from) != counts_) return false;
  auto expected = ids_.begin();
  bool same = true;
  visit_rows(step, from,
             [&](std::uint32_t id, std::uint32_t, std::uint32_t LiveTensor::*) { same &= id == *expected++; });
  return same && std::all_of(tensors_.begin(), tensors_.end(), [&](const LiveTensor& tensor) {
           return &step.membership_of(tensor.id) == tensor.membership;
         });
}

Result<std::span<const TensorSpot>> LiveLayout::select(const TensorSelection& selection, const capture::OpenStep& step,
                                                       SelectionBook& book, const std::string& worker,
                                                       const std::string& shown_worker) {
  const auto known = selected_.find(selection);
  if (known != selected_.end()) return std::span<const TensorSpot>(known->second);
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto places, book.select(selection, tensors_, step));
  std::vector<TensorSpot> spots;
  spots.reserve(places.size());
  for (const std::uint32_t place : places) {
    spots.push_back({std::string(tensors_[place].name), worker, shown_worker, place});
  }
  return std::span<const TensorSpot>(selected_.emplace(selection, std::move(spots)).first->second);
}

Result<std::vector<std::uint32_t>> SelectionBook::select(const TensorSelection& selection,
                                                         std::span<const LiveTensor> tensors,
                                                         const capture::OpenStep& step) {
  auto chapter = chapters_.find(selection);
  if (chapter == chapters_.end()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(RegexSet patterns, RegexSet::compile(selection.patterns));
    chapter = chapters_.emplace(selection, Chapter{std::move(patterns), {}}).first;
  }
  std::vector<Answer>& answers = chapter->second.answers;
  std::vector<std::uint32_t> selected;
  for (std::uint32_t i = 0; i < tensors.size(); ++i) {
    const LiveTensor& tensor = tensors[i];
    if (tensor.id >= answers.size()) answers.resize(tensor.id + std::size_t{1});
    Answer& answer = answers[tensor.id];
    if (answer.membership != tensor.membership) {
      answer = {tensor.membership, is_selected(selection, chapter->second, tensor, step)};
    }
    if (answer.selected) selected.push_back(i);
  }
  return selected;
}

bool SelectionBook::is_selected(const TensorSelection& selection, const Chapter& chapter, const LiveTensor& tensor,
                                const capture::OpenStep& step) {
  return selection.all || is_any_of(selection.collections, step.collections_of(*tensor.membership)) ||
         chapter.patterns.found_in(tensor.name);
}

}  // namespace trainwarden::guard
