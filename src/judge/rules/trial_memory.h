// TrialMemory: what the steps of a run have in common, kept from step to step: which tensors a step holds, where their
// records are, and which of them a rule selects. Steps are much alike: a layout serves as long as the same tensors come
// in the same forms.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/regex.h"
#include "read/trial/tensor_catalog.h"
#include "read/trial/worker_journal.h"
#include "store/journal/journal_reader.h"
#include "trainwarden/rule.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"

namespace trainwarden::rules {

inline constexpr std::uint32_t kNoRecord = 0xffffffff;
inline constexpr std::size_t kRecordForms = 5;
static_assert(static_cast<std::size_t>(journal::RecordForm::kReductions) + 1 == kRecordForms);

// The records of one step on one worker.
struct WorkerRecords {
  trial::WorkerJournal* worker = nullptr;
  std::vector<journal::Record> records;
};

// A tensor on a worker, and where its records are among those of the worker.
struct PlacedTensor {
  trial::CatalogTensor* tensor = nullptr;
  std::uint32_t worker = 0;                        // index into the step's WorkerRecords
  std::array<std::uint32_t, kRecordForms> record;  // by form; kNoRecord
};

class StepLayout {
 public:
  StepLayout(std::span<const WorkerRecords> workers, trial::TensorCatalog& catalog);

  // The step holds the same tensors of the same workers in the same forms and order, of the same collections.
  bool fits(std::span<const WorkerRecords> workers, trial::TensorCatalog& catalog) const;
  std::span<const PlacedTensor> tensors() const { return tensors_; }  // by name, then by worker

  // The place in tensors() is the spot's handle. kInvalidArgument for a bad pattern.
  Result<std::span<const TensorSpot>> select(const TensorSelection& selection, trial::TensorCatalog& catalog,
                                             bool show_workers);

 private:
  struct WorkerShape {
    const trial::WorkerJournal* worker = nullptr;
    std::vector<std::pair<std::uint32_t, journal::RecordForm>> records;
  };

  std::vector<WorkerShape> shapes_;
  std::vector<PlacedTensor> tensors_;
  std::vector<std::size_t> collection_counts_;  // by tensor: a tensor may join collections, and leaves none
  std::map<TensorSelection, std::vector<TensorSpot>> selected_;
};

// One thread at a time; for one trial.
class TrialMemory {
 public:
  StepLayout& layout_of(std::span<const WorkerRecords> workers, trial::TensorCatalog& catalog);

  // Of the window that there is: reductions by place, reduction and abs.
  std::vector<double> reductions;
  std::vector<std::uint8_t> has_reduction;

 private:
  std::deque<StepLayout> layouts_;  // the one used last in front
};

}  // namespace trainwarden::rules
