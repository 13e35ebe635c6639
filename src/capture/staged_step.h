// StagedStep: what was saved in one step, on its way from the training threads to the journal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "capture/capture_plan.h"
#include "capture/loss_tally.h"
#include "capture/staging_area.h"
#include "capture/step_counter.h"
#include "store/journal_writer.h"
#include "trainwarden/dtype.h"
#include "trainwarden/tensor_view.h"

namespace trainwarden::capture {

struct StagedTensor {
  std::uint32_t id = 0;
  DType dtype = DType::kFloat32;
  Shape shape;
  ByteSpan data;            // in the staging area; for kString as packed_strings.h has it
  FormBits statistics = 0;  // which of them the writer thread is to compute from the data
};

struct StagedStep {
  explicit StagedStep(StagingArea& staging) : share(staging) {}

  StepId id;
  std::vector<store::NameEntry> new_names;
  std::vector<StagedTensor> tensors;
  std::vector<store::StatisticsRow> statistics;
  std::vector<store::ScalarRow> scalars;
  LossTally losses;
  StagingArea::Share share;

  // Nothing was saved, and nothing lost.
  bool empty() const { return item_count() == 0 && losses.empty(); }
  std::uint64_t item_count() const { return tensors.size() + statistics.size() + scalars.size(); }
  std::uint64_t tensor_bytes() const;
};

// The step as the journal takes it. It borrows the tensors' bytes from the staging area and strings from `strings`.
// Computes the statistics that were left to the writer thread; what cannot be computed is added to the step's losses.
store::StepBatch make_batch(StagedStep& step, std::vector<std::vector<std::string>>& strings);

}  // namespace trainwarden::capture
