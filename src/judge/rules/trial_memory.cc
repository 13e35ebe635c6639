#include "judge/rules/trial_memory.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "judge/rules/signals.h"

namespace trainwarden::rules {
namespace {

// Kinds of steps that take turns in a run: every one, every tenth, those of another mode.
constexpr std::size_t kLayouts = 8;

bool is_in_any(const std::vector<std::string>& wanted, const std::set<std::string, std::less<>>& collections) {
  return std::any_of(wanted.begin(), wanted.end(), [&](const std::string& name) { return collections.contains(name); });
}

}  // namespace

StepLayout::StepLayout(std::span<const WorkerRecords> workers, trial::TensorCatalog& catalog) {
  for (std::uint32_t w = 0; w < workers.size(); ++w) {
    WorkerShape& shape = shapes_.emplace_back();
    shape.worker = workers[w].worker;
    std::map<std::uint32_t, std::size_t> places;  // by the reader's index
    for (std::uint32_t i = 0; i < workers[w].records.size(); ++i) {
      const journal::Record& record = workers[w].records[i];
      shape.records.emplace_back(record.tensor, record.form);
      const auto [place, is_new] = places.try_emplace(record.tensor, tensors_.size());
      if (is_new) {
        PlacedTensor& added = tensors_.emplace_back();
        added.tensor = &workers[w].worker->tensor(record.tensor);
        added.worker = w;
        added.record.fill(kNoRecord);
      }
      tensors_[place->second].record[static_cast<std::size_t>(record.form)] = i;
    }
  }
  std::sort(tensors_.begin(), tensors_.end(), [](const PlacedTensor& a, const PlacedTensor& b) {
    return a.tensor != b.tensor ? a.tensor->name < b.tensor->name : a.worker < b.worker;
  });
  for (const PlacedTensor& placed : tensors_)
    collection_counts_.push_back(catalog.collections_of(*placed.tensor).size());
}

bool StepLayout::fits(std::span<const WorkerRecords> workers, trial::TensorCatalog& catalog) const {
  const auto same_worker = [](const WorkerShape& shape, const WorkerRecords& now) {
    return shape.worker == now.worker && shape.records.size() == now.records.size() &&
           std::equal(shape.records.begin(), shape.records.end(), now.records.begin(),
                      [](const auto& known, const journal::Record& record) {
                        return known.first == record.tensor && known.second == record.form;
                      });
  };
  if (!std::equal(shapes_.begin(), shapes_.end(), workers.begin(), workers.end(), same_worker)) return false;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (catalog.collections_of(*tensors_[i].tensor).size() != collection_counts_[i]) return false;
  }
  return true;
}

Result<std::span<const TensorSpot>> StepLayout::select(const TensorSelection& selection, trial::TensorCatalog& catalog,
                                                       bool show_workers) {
  const auto known = selected_.find(selection);
  if (known != selected_.end()) return std::span<const TensorSpot>(known->second);
  TRAINWARDEN_ASSIGN_OR_RETURN(const RegexSet patterns, RegexSet::compile(selection.patterns));
  std::vector<TensorSpot> spots;
  for (std::uint32_t i = 0; i < tensors_.size(); ++i) {
    trial::CatalogTensor& tensor = *tensors_[i].tensor;
    const bool is_own = tensor.name.compare(0, signals::kExamination.size(), signals::kExamination) == 0;
    const bool selected = (selection.all && !is_own) ||
                          is_in_any(selection.collections, catalog.collections_of(tensor)) ||
                          patterns.found_in(tensor.name);
    if (!selected) continue;
    const std::string& worker = shapes_[tensors_[i].worker].worker->name();
    spots.push_back({tensor.name, worker, show_workers ? worker : "", i});
  }
  return std::span<const TensorSpot>(selected_.emplace(selection, std::move(spots)).first->second);
}

StepLayout& TrialMemory::layout_of(std::span<const WorkerRecords> workers, trial::TensorCatalog& catalog) {
  for (auto layout = layouts_.begin(); layout != layouts_.end(); ++layout) {
    if (!layout->fits(workers, catalog)) continue;
    std::rotate(layouts_.begin(), layout, layout + 1);
    return layouts_.front();
  }
  if (layouts_.size() >= kLayouts) layouts_.pop_back();
  layouts_.emplace_front(workers, catalog);
  return layouts_.front();
}

}  // namespace trainwarden::rules
