// StagedStep: what was saved in one step, on its way from the training threads to the journal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "data/device/device_reader.h"
#include "data/device/device_span.h"
#include "hook/capture/black_box/box_dumper.h"
#include "hook/capture/capture_plan.h"
#include "hook/capture/operators/operator_batch.h"
#include "hook/capture/staging/staging_area.h"
#include "hook/capture/step_counter.h"
#include "hook/capture/writing/loss_tally.h"
#include "store/journal/journal_writer.h"
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

// A tensor on its way from a device; whoever writes the step waits for it (settle_device_items).
struct DeviceItem {
  std::uint32_t id = 0;
  FormBits form = 0;  // kValuesBit, and the statistics that are wanted; 0: lost, only to be waited for
  TensorView view;    // as it was saved
  device::DeviceSpan span;
  device::DeviceReader* reader = nullptr;
  device::StatisticsRead read;  // of a copy: its ticket alone
  MutableByteSpan memory;       // in the staging area, for the copy; empty: the device computes the statistics
  Status outcome;
};

// What was saved, in the order of saving.
struct StagedRows {
  std::vector<journal::NameEntry> new_names;
  std::vector<StagedTensor> tensors;
  std::vector<journal::StatisticsRow> statistics;
  std::vector<journal::ScalarRow> scalars;
  std::vector<journal::ReductionRow> reductions;

  void append(StagedRows later);
};

struct StagedStep : StagedRows {
  explicit StagedStep(StagingArea& staging) : share(staging) {}

  StepId id;
  bool is_part = false;     // names and tensors of a step that goes on
  std::uint64_t parts = 0;  // of this step that went to the writer ahead of it
  LossTally losses;
  StagingArea::Share share;
  std::vector<DeviceItem> device_items;  // goes before the share, which they are copied into

  // Not a step, but what the writer thread is asked to write beside the journal, in its turn.
  std::unique_ptr<BoxDump> dump;
  // The same of operator calls, which go to the journal.
  std::unique_ptr<StepCalls> operators;

  // Nothing was saved, and nothing lost.
  bool empty() const { return item_count() == 0 && losses.empty() && parts == 0; }
  std::uint64_t item_count() const;
  std::uint64_t tensor_bytes() const;
};

// Appends the statistics of elements that the host can read; what cannot be computed is added to the step's losses.
void add_statistics(StagedStep& step, std::uint32_t id, const TensorView& view, FormBits form);

// The step as the journal takes it. It borrows the tensors' bytes from the staging area and strings from `strings`.
// Computes the statistics that were left to the writer thread; what cannot be computed is added to the step's losses.
journal::StepBatch make_batch(StagedStep& step, std::vector<std::vector<std::string>>& strings);

}  // namespace trainwarden::capture
