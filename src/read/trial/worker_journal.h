// WorkerJournal: the journal of one worker, followed while it grows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/large_memory.h"
#include "read/trial/run_source.h"
#include "read/trial/run_state.h"
#include "read/trial/sampled_journal.h"
#include "read/trial/step_table.h"
#include "read/trial/tensor_catalog.h"
#include "read/trial/tensor_index.h"
#include "store/journal/journal_reader.h"
#include "trainwarden/status.h"

namespace trainwarden::trial {

// One thread at a time. What it is constructed from must outlive it.
class WorkerJournal final : public SampledJournal {
 public:
  // Adds steps to `table`, tensors and collections to `catalog`.
  WorkerJournal(RunSource& source, SourceWorker worker, StepTable& table, TensorCatalog& catalog);

  // Takes in what has been written since.
  Status refresh();

  int rank() const { return worker_.rank; }
  const std::string& name() const override { return worker_.name; }  // "rank-00000"
  const WorkerLife& life() const override { return life_; }
  // Of its newest step, 0 when there is none. May have to read it.
  std::int64_t last_unix_ns() const;
  // As JournalReader's.
  Status visit_events(std::size_t first, const journal::EventVisitor& visit) const;
  std::span<const RunLoss> losses() const;

  journal::JournalReader& reader() override { return *reader_; }
  bool readable() const override { return reader_ != nullptr; }

  // The tensor's index in the reader, none when this worker does not know it.
  std::optional<std::uint32_t> tensor(const CatalogTensor& tensor) const;
  CatalogTensor& tensor(std::uint32_t index) const { return *tensors_[index]; }

  // The records of the global step; empty when this worker did not end it.
  Result<std::span<const journal::Record>> records_at(std::int64_t global_step);
  // At least those of the tensor. Who asks for a second tensor of the same step is likely to ask for many: from then on
  // the answer is exact and found by binary search. Valid until the next call.
  Result<std::span<const journal::Record>> records_at(std::int64_t global_step, std::uint32_t tensor);
  // Where the step is among the reader's steps(): the newest, when it was ended more than once.
  std::optional<std::uint32_t> step_index(std::int64_t global_step) const;
  // Was the step of steps()[step_index] ended again later?
  bool is_replaced(std::uint32_t step_index) const;
  // Do the steps rise in the order of writing? They do unless the program went on from an earlier step.
  bool in_order() const { return in_order_; }
  // The index over all steps read so far. Reads the heads of all frames when it is first asked for.
  TensorIndex& tensor_index();

 private:
  struct IndexedStep {
    std::int64_t global_step = 0;
    std::uint32_t step_index = 0;
  };

  void take_in_steps();
  void take_in_tensors();
  Status take_in_events();

  RunSource& source_;
  const SourceWorker worker_;
  StepTable& step_table_;
  TensorCatalog& catalog_;
  WorkerLife life_;
  std::int64_t last_unix_ns_ = 0;  // as far as the reader's steps() say

  // What the reader has returned so far.
  std::unique_ptr<journal::JournalReader> reader_;
  std::size_t steps_read_ = 0;
  std::size_t events_read_ = 0;
  std::vector<IndexedStep, LargeAllocator<IndexedStep>> places_;  // by rising global step
  bool in_order_ = true;
  std::vector<CatalogTensor*> tensors_;  // by the reader's index
  std::unordered_map<const CatalogTensor*, std::uint32_t> tensor_indices_;
  TensorIndex tensor_index_;

  std::optional<std::uint32_t> asked_step_;     // the step_index that records_at() was last asked for by tensor
  std::vector<journal::Record> asked_records_;  // its records by tensor, once it was asked for twice
};

}  // namespace trainwarden::trial
