// SmdebugJournal: one worker of a folder of smdebug's, as a journal. The source of the run gives it steps; values
// are read from the event files when asked for.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/read_budget.h"
#include "data/foreign/tf_event.h"
#include "read/trial/smdebug/worker_contents.h"
#include "store/journal/journal_reader.h"
#include "store/journal/loss_list.h"
#include "store/storage/storage.h"

namespace trainwarden::trial {

class SmdebugJournal final : public journal::JournalReader {
 public:
  // All must outlive the journal. `run_ended`: nothing will be written any more.
  SmdebugJournal(const storage::Storage& storage, ReadBudget& budget, const WorkerContents& contents,
                 const bool& run_ended)
      : storage_(storage), budget_(budget), contents_(contents), run_ended_(run_ended) {}

  Status refresh() override { return {}; }  // the source does
  std::span<const journal::JournalTensor> tensors() const override { return contents_.tensors(); }
  std::span<const journal::StepEntry> steps() const override { return contents_.steps(); }  // unix_ns is 0
  std::span<const Collection> collections() const override { return {}; }
  std::span<const RunLoss> losses() const override { return losses_.all(); }

  // Of the step's smallest record.
  std::int64_t unix_ns(std::size_t step_index) override;
  Result<std::span<const journal::Record>> records(std::size_t step_index) override {
    return contents_.records(step_index);
  }

  // When the event file is not there: "event file missing", kUnavailable as long as it may come, then kOutOfRange.
  Result<TensorValue> read_value(const journal::Record& record) override;
  Result<SharedTensorValue> map_value(const journal::Record& record) override;
  Result<journal::StatisticsRow> read_statistics(const journal::Record& record) override;
  Result<double> read_scalar(const journal::Record& record) override;
  Result<std::vector<SavedReduction>> read_reductions(const journal::Record& record) override;
  Result<std::pair<DType, Shape>> read_shape(const journal::Record& record) override;

  // Reads and decodes every record. What is missing of the run's last step may still come while the run goes on.
  Status verify_all() override;

 private:
  Status missing(std::size_t step_index, const Status& cause) const;
  Result<std::unique_ptr<storage::ReadableFile>> open_events(std::size_t step_index) const;
  Result<std::string> read_record(std::size_t step_index, const EventSpan& place) const;
  Result<TensorValue> read_tensor(std::size_t step_index, std::string_view tag, const EventSpan& place) const;
  void verify_step(std::size_t step_index);

  const storage::Storage& storage_;
  ReadBudget& budget_;
  const WorkerContents& contents_;
  const bool& run_ended_;
  journal::LossList losses_;
};

}  // namespace trainwarden::trial
