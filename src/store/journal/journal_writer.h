// JournalWriter: appends the steps, events, samples and operator calls of one writer to its segments.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/clock.h"
#include "data/format/frame.h"
#include "data/format/records.h"
#include "store/journal/run_folder.h"
#include "store/storage/storage.h"
#include "trainwarden/collection.h"
#include "trainwarden/dtype.h"
#include "trainwarden/mode.h"
#include "trainwarden/operator_calls.h"
#include "trainwarden/statistics.h"
#include "trainwarden/status.h"
#include "trainwarden/tensor_view.h"

namespace trainwarden::journal {

using format::KeptTensor;
using format::LossRow;
using format::MetricEntry;
using format::NameEntry;
using format::ReductionRow;
using format::SampleSeries;
using format::SampleTable;
using format::ScalarRow;
using format::StatisticsRow;

// Everything of one step of one worker.
struct StepBatch {
  std::int64_t global_step = 0;
  Mode mode = Mode::kGlobal;
  std::int64_t mode_step = 0;
  std::vector<NameEntry> new_names;  // first used in this step
  std::vector<KeptTensor> tensors;
  std::vector<StatisticsRow> statistics;
  std::vector<ScalarRow> scalars;
  std::vector<ReductionRow> reductions;  // the rows of one tensor lie together
  std::vector<LossRow> losses;
};

// What was sampled since the last batch. A batch for each second of 200 metrics at 10 ticks takes 2.7 bytes a sample,
// one for each ten seconds 1.2.
struct SampleBatch {
  std::vector<MetricEntry> new_metrics;  // first used in this batch
  std::vector<SampleTable> tables;       // one for all metrics that were sampled at the same ticks
};

struct JournalOptions {
  std::string writer;                                    // "rank-00000", "watch-0"
  std::uint32_t writer_id = 0;                           // the rank; watch journals count from 0x10000
  std::uint64_t segment_bytes = std::uint64_t{1} << 30;  // sealed when it grows past this
  std::int64_t segment_age_ns = 0;                       // or older than this; 0: never
  bool sync_each_step = false;
  bool sync_each_segment = false;       // when it is sealed; without it sync() covers the open segment only
  std::vector<Collection> collections;  // written to each segment
  std::int64_t pid = 0;                 // of this process, written to each segment for people to see
};

// One thread at a time. After a failed append the segment is left as it is (a torn tail) and the next append starts
// a new segment: nothing is truncated or repaired. When that fails as well, appends fail at once for a while (100 ms at
// first, 10 s at most) before the storage is tried again.
class JournalWriter {
 public:
  // Takes the writer's lock (kAlreadyExists when another process writes this journal) and finds the number of the next
  // segment. The first segment file is created by the first append.
  static Result<std::unique_ptr<JournalWriter>> open(storage::Storage& storage, const Clock& clock, const RunInfo& run,
                                                     JournalOptions options);
  virtual ~JournalWriter() = default;

  // Appends the frames of a step and its step_end with one write. When it returns ok, the step survives a kill.
  virtual Status append_step(const StepBatch& batch) = 0;
  // Names and tensors of the step that is open, ahead of its own append, which makes them visible: so a large step
  // needs not be held whole. Only these two fields of the batch are looked at; one without tensors is no part, and
  // kInvalidArgument.
  virtual Status append_part(const StepBatch& batch) = 0;
  // False: what append_part() has appended since the last step lies in a segment that was left, and is lost.
  virtual bool holds_parts() const = 0;
  // One frame of words (event, verdict, action) with a JSON payload. `step` is -1 when it belongs to no step.
  virtual Status append_event(format::FrameKind kind, std::int64_t step, std::string_view json) = 0;
  // Appends the tables with one write. When it returns ok, they survive a kill. kInvalidArgument when a table is not as
  // format::check_samples() wants it, or a metric was never given a name; nothing is written then. Nothing to write is
  // no error.
  virtual Status append_samples(const SampleBatch& batch) = 0;
  // Appends the operator calls of a step with one write. When it returns ok, they survive a kill. A step may have
  // several batches, before and after its own append, and readers see them as one. kInvalidArgument when the batch is
  // not as format::check_operators() wants it; nothing is written then. A batch that says nothing is no error.
  virtual Status append_operators(const OperatorBatch& batch) = 0;
  // What is captured has changed: the open segment is sealed, and the next one lists these collections.
  virtual Status change_collections(std::vector<Collection> collections) = 0;
  virtual Status sync() = 0;
  // Writes index and trailer to the open segment, if any, and says that nothing more is to come. Idempotent; the next
  // append starts a new segment.
  virtual Status seal() = 0;
  // Keeps word that this process lives (store/storage/lease.h), which appends do as well: call it where nothing may be
  // appended for some seconds. Cheap until it is due.
  virtual void beat() = 0;
  virtual std::uint64_t written_bytes() const = 0;  // over all segments
};

}  // namespace trainwarden::journal
