// JournalReader: the headers of one journal, taken in as it grows, and its payloads when asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/read_budget.h"
#include "data/format/frame.h"
#include "data/format/records.h"
#include "store/journal/journal_writer.h"
#include "store/journal/open_files.h"
#include "store/journal/run_folder.h"
#include "store/storage/storage.h"
#include "trainwarden/metric.h"
#include "trainwarden/operator_calls.h"
#include "trainwarden/run_loss.h"
#include "trainwarden/statistics.h"
#include "trainwarden/status.h"
#include "trainwarden/tensor_value.h"

namespace trainwarden::journal {

using format::RecordForm;

// One tensor at one step in one form.
struct Record {
  std::uint32_t tensor = 0;  // index into tensors()
  RecordForm form = RecordForm::kValue;
  std::uint32_t segment = 0;       // opaque: which file
  std::uint32_t row = 0;           // opaque: which row of the frame
  std::uint64_t frame_offset = 0;  // opaque: where its frame starts
  friend bool operator==(const Record&, const Record&) = default;
};

struct StepEntry {
  std::int64_t global_step = 0;
  Mode mode = Mode::kGlobal;
  std::int64_t mode_step = 0;
  std::int64_t unix_ns = 0;
};

struct JournalTensor {
  std::string name;
  std::vector<std::string> collections;  // sorted
};

// An event, verdict or action, as visit_events() gives it.
struct EventEntry {
  format::FrameKind kind = format::FrameKind::kEvent;
  std::int64_t step = -1;
  std::int64_t unix_ns = 0;
  std::string json;
};

// `index`: which of the events() it is. Must not call the reader.
using EventVisitor = std::function<void(std::size_t index, const EventEntry& event)>;

// Which samples are wanted.
struct SampleQuery {
  std::vector<std::uint32_t> metrics;  // indexes into metrics()
  std::int64_t from_unix_ns = std::numeric_limits<std::int64_t>::min();
  std::int64_t to_unix_ns = std::numeric_limits<std::int64_t>::max();  // not in it any more
  std::size_t first_frame = 0;  // those only that lie behind so many sample_frames(): what is new since then
};

// The samples of one metric that lie in one frame, by rising time. Valid during the visit.
struct SampleChunk {
  std::uint32_t metric = 0;  // index into metrics()
  std::span<const Sample> samples;
};
using SampleVisitor = std::function<void(const SampleChunk&)>;  // must not call the reader

struct SampleTimes {
  std::int64_t first_unix_ns = 0;
  std::int64_t last_unix_ns = 0;
};

struct JournalReaderOptions {
  // live: the end of the data is where the writer has got to. Otherwise (strict) it is a torn tail, and a loss, when
  // the last segment is not sealed.
  bool live = true;
  bool verify_payloads = true;
  // What all journals of a run spend from together; none: this one has a budget of its own.
  std::shared_ptr<ReadBudget> budget{};
  // What they keep open together; none: as many as this process may have by half, for this one alone.
  std::shared_ptr<OpenFiles> open_files{};
};

// One thread at a time. Never throws on any input; damage is counted in losses() and skipped over, to the next frame.
class JournalReader {
 public:
  // Refreshes once. A journal that is not there yet is empty. `storage` must outlive the reader.
  static Result<std::unique_ptr<JournalReader>> open(const storage::Storage& storage, const RunInfo& run,
                                                     std::string_view writer, const JournalReaderOptions& options);
  virtual ~JournalReader() = default;

  // Takes in what has been written since. Sealed segments are read through their index; the others by their headers.
  // An error is the storage's; nothing is lost or taken twice by it, call again. What is over the budget is a loss.
  virtual Status refresh() = 0;

  // All of these only ever grow, and are valid until the next call of a method that is not const. Damage is one loss
  // for each place, what the writer did not keep one for each cause.
  virtual std::span<const JournalTensor> tensors() const = 0;  // each name once, whatever ids the writers gave it
  virtual std::span<const StepEntry> steps() const = 0;  // in the order of writing; a later entry of the same step wins
  virtual std::span<const Collection> collections() const = 0;
  virtual std::span<const RunLoss> losses() const = 0;

  virtual std::size_t event_count() const { return 0; }
  virtual std::span<const Metric> metrics() const { return {}; }  // each once, whatever ids the writers gave it
  virtual std::size_t sample_frames() const { return 0; }         // found so far

  // Gives the events from number `first` on to `visit`, in the order of writing. Their texts are read from the files,
  // but for the newest, and one at a time is in memory; damage that was not there before is a loss and is passed over.
  // An error is the storage's; what had been given until then was whole.
  virtual Status visit_events(std::size_t first, const EventVisitor& visit) {
    static_cast<void>(first), static_cast<void>(visit);
    return {};
  }

  // Gives the samples to `visit`, frame after frame in the order of their first ticks, and holds one frame at a time.
  // Sealed segments are read only where they have what is wanted; of the others each frame is read once to find out.
  // A damaged frame is a loss and is passed over. An error is the storage's.
  virtual Status samples(const SampleQuery& query, const SampleVisitor& visit) {
    static_cast<void>(query), static_cast<void>(visit);
    return {};
  }
  // Over all metrics, of the frames that have a sample at `from_unix_ns` or later, cut off there; none when there are
  // none. Reads as samples() does.
  virtual Result<std::optional<SampleTimes>> sample_times(
      std::int64_t from_unix_ns = std::numeric_limits<std::int64_t>::min()) {
    static_cast<void>(from_unix_ns);
    return std::optional<SampleTimes>();
  }

  // The global steps that have operator calls, rising.
  virtual std::vector<std::int64_t> operator_steps() const { return {}; }
  // Those of one step, over all batches that were appended of it. What a batch says to have and is not there (damaged,
  // or not written yet) counts among `lost_calls`. kNotFound when the step has none, kDataLoss when none can be read.
  virtual Result<OperatorBatch> operators(std::int64_t global_step) {
    static_cast<void>(global_step);
    return Status(Code::kNotFound, "this journal has no operator calls");
  }

  // When steps()[step_index] was ended. Where steps() has 0 it is read; 0 when that fails.
  virtual std::int64_t unix_ns(std::size_t step_index) { return steps()[step_index].unix_ns; }

  // The records of steps()[step_index], valid until those of another step are asked for. Reads frame heads of unsealed
  // segments on first use.
  virtual Result<std::span<const Record>> records(std::size_t step_index) = 0;
  // A number that steps have in common which hold the same tensors in the same forms; most steps of a training do.
  // Reads as records() does. None where the journal knows no such numbers.
  virtual Result<std::optional<std::uint32_t>> layout(std::size_t step_index) {
    static_cast<void>(step_index);
    return std::optional<std::uint32_t>();
  }

  virtual Result<TensorValue> read_value(const Record& record) = 0;
  // The same in memory that many may look at, which nobody has cleared first. kUnimplemented when read_value() has to
  // do: for strings, and where values are not kept as they lie in memory.
  virtual Result<SharedTensorValue> read_shared_value(const Record& record) {
    static_cast<void>(record);
    return Status(Code::kUnimplemented, "values are not kept as they lie in memory; read them");
  }
  // The same without a copy. kFailedPrecondition when the segment may still grow, kUnimplemented when its storage or
  // the dtype does not allow it.
  virtual Result<SharedTensorValue> map_value(const Record& record) = 0;
  virtual Result<StatisticsRow> read_statistics(const Record& record) = 0;  // also for kShape; `id` is the tensor index
  virtual Result<double> read_scalar(const Record& record) = 0;
  // All single reductions of the tensor at this step, in the order of writing.
  virtual Result<std::vector<SavedReduction>> read_reductions(const Record& record) = 0;
  // Shape and dtype without the bytes, of kValue, kStatistics and kShape records.
  virtual Result<std::pair<DType, Shape>> read_shape(const Record& record) = 0;

  // Reads every payload and checks its CRC; damage goes to losses(). For `trainwarden doctor`.
  virtual Status verify_all() = 0;
};

}  // namespace trainwarden::journal
