// Trial: a read handle on a run's tensors, while the run is written or after.
//
//   auto trial = trainwarden::Trial::open("runs/first");
//   auto names = trial->tensor_names({.collection = "gradients"});
//   auto value = trial->value("conv0.weight", 100, trainwarden::Mode::kTrain);
//
// Opening reads headers only; values are read when asked for. One thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/collection.h"
#include "trainwarden/export.h"
#include "trainwarden/metric.h"
#include "trainwarden/mode.h"
#include "trainwarden/operator_calls.h"
#include "trainwarden/reduction.h"
#include "trainwarden/run_loss.h"
#include "trainwarden/statistics.h"
#include "trainwarden/status.h"
#include "trainwarden/tensor_value.h"
#include "trainwarden/tensor_view.h"

namespace trainwarden {

// Is a step there? Source: smdebug's StepState.
enum class StepState : std::uint8_t {
  kUnavailable,      // it was never saved, or never will be
  kAvailable,        // every worker that will write it has
  kNotYetAvailable,  // it may still come
};
TRAINWARDEN_API std::string_view name(StepState state);  // "unavailable", "available", "not yet available"

enum class RunState : std::uint8_t {
  kRunning,
  kCompleted,  // closed by the program
  kStopped,    // closed after a stop request
  kDied,       // the writer is gone without closing it (killed, power loss)
};
TRAINWARDEN_API std::string_view name(RunState state);  // "running", "completed", "stopped", "died"

// In which form a tensor was kept at a step. Several, joined by |: in any of them.
enum class Kept : std::uint8_t {
  // Whole or as a scalar, so that value() or scalar() answers; in any form where no step holds it so. What a loop over
  // steps usually wants: rules may have had statistics of it kept at many more steps.
  kFullest = 0,
  kValue = 1 << 0,
  kStatistics = 1 << 1,
  kScalar = 1 << 2,
  kShape = 1 << 3,
  kReductions = 1 << 4,  // single ones
  kAny = kValue | kStatistics | kScalar | kShape | kReductions,
};
constexpr Kept operator|(Kept a, Kept b) {
  return static_cast<Kept>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}

// All fields narrow the answer.
struct TensorQuery {
  std::vector<std::string> include{};  // PCRE2, found anywhere in the name; several: any of them
  std::string collection{};
  std::optional<Mode> mode{};          // seen in this mode
  std::optional<std::int64_t> step{};  // seen at this step of `mode` (global step when no mode is given)
};

// What is known of a tensor without reading its value.
struct TensorInfo {
  std::string name;
  std::vector<std::string> collections;
  bool has_shape = false;  // the newest record has dtype and shape; single reductions alone do not
  DType dtype = DType::kFloat32;
  Shape shape;
  std::uint64_t values = 0;      // how many steps hold it whole
  std::uint64_t statistics = 0;  // how many hold its statistics
  std::uint64_t scalars = 0;
  std::uint64_t reductions = 0;  // how many hold single reductions of it
};

// A tensor whose parts lie on several workers, put together.
struct ShardedTensor {
  Shape shape;                       // of the whole
  Statistics statistics;             // of the whole, exact; without a hash
  std::vector<std::string> workers;  // whose parts these are, one for each part
};

struct TrialOptions {
  // Steps that may be waiting for a straggling worker before the reader goes on without it.
  std::int64_t incomplete_step_window = 1000;
  bool verify_payloads = true;  // check each payload's CRC when it is read
};

class TRAINWARDEN_API Trial {
 public:
  // A folder with a run.json, or one that smdebug wrote (it has collections/ or index/). kNotFound when there is no
  // run, kDataLoss when run.json cannot be read.
  static Result<std::unique_ptr<Trial>> open(const std::filesystem::path& run_dir, const TrialOptions& options = {});
  ~Trial();
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  // Takes in what the workers have written since. Everything below answers from the last refresh.
  Status refresh();

  // The run.
  const std::filesystem::path& path() const;
  std::string_view recorder() const;  // who wrote it: "trainwarden", or "smdebug" (its folders are only read)
  const std::string& run_id() const;
  const std::string& framework() const;  // that it was trained with: "PyTorch 2.11.0"; empty where nobody said so
  std::int64_t created_unix_ns() const;
  std::int64_t last_unix_ns() const;  // of the newest step, 0 when there is none
  const std::map<std::string, std::string>& labels() const;
  RunState state() const;
  int world_size() const;
  std::vector<std::string> workers() const;  // sorted, "rank-00000"; of smdebug's as it named them, "worker_0"
  std::vector<RunLoss> losses() const;

  // Steps. With kGlobal these are global steps, else steps of the mode.
  std::vector<Mode> modes() const;  // seen, without kGlobal unless the program never set a mode
  std::vector<std::int64_t> steps(Mode mode = Mode::kGlobal, bool include_incomplete = false) const;
  // Those that hold any tensor so.
  std::vector<std::int64_t> steps_with(Kept kept, Mode mode = Mode::kGlobal, bool include_incomplete = false) const;
  std::vector<std::int64_t> steps_of(std::string_view tensor, Mode mode = Mode::kGlobal, Kept kept = Kept::kFullest,
                                     bool include_incomplete = false) const;
  std::optional<std::int64_t> global_step(Mode mode, std::int64_t mode_step) const;
  std::optional<Mode> mode_of(std::int64_t global_step) const;
  std::optional<std::int64_t> mode_step_of(std::int64_t global_step) const;
  std::int64_t last_complete_step() const;  // global, -1 when there is none
  std::vector<std::int64_t> complete_steps_after(
      std::int64_t global_step) const;  // global steps; for programs that follow a run
  bool loaded_all_steps() const;        // the run has ended and everything it left has been read

  StepState step_state(std::int64_t step, Mode mode = Mode::kGlobal) const;
  // Refreshes until each step is available. kOutOfRange when one never will be (the message says why),
  // kDeadlineExceeded after `timeout`.
  Status wait_for_steps(std::span<const std::int64_t> steps, Mode mode = Mode::kGlobal,
                        std::chrono::milliseconds timeout = std::chrono::hours(24 * 365));

  // Tensors. kInvalidArgument for a bad pattern, kNotFound for an unknown collection or step.
  Result<std::vector<std::string>> tensor_names(const TensorQuery& query = {}) const;  // sorted
  bool has_tensor(std::string_view name) const;
  Result<TensorInfo> tensor_info(std::string_view name) const;
  std::vector<std::string> collections() const;  // sorted
  Result<Collection> collection(std::string_view name) const;

  // Reading. `worker` empty: the first that has the tensor at this step. kNotFound when there is no such tensor or
  // worker, kOutOfRange when it is not there at this step (the message says what is), kDataLoss when its bytes are
  // damaged.
  Result<TensorValue> value(std::string_view tensor, std::int64_t step, Mode mode = Mode::kGlobal,
                            std::string_view worker = {});
  // The same in memory that many may look at, strings too. It is read into memory: a file that is cut while somebody
  // looks at a mapping of it would kill the process.
  Result<SharedTensorValue> shared_value(std::string_view tensor, std::int64_t step, Mode mode = Mode::kGlobal,
                                         std::string_view worker = {});
  Result<Statistics> statistics(std::string_view tensor, std::int64_t step, Mode mode = Mode::kGlobal,
                                std::string_view worker = {});  // saved, else computed from the saved value or scalar
  // A single one that was saved, as it is; else from statistics, else from the value or scalar. prod is the product of
  // the elements as doubles.
  Result<double> reduction(std::string_view tensor, std::int64_t step, Reduction reduction, bool abs = false,
                           Mode mode = Mode::kGlobal, std::string_view worker = {});
  // The single ones that were saved; when there are none, those that the saved statistics give. kOutOfRange when
  // neither was saved.
  Result<std::vector<SavedReduction>> saved_reductions(std::string_view tensor, std::int64_t step,
                                                       Mode mode = Mode::kGlobal, std::string_view worker = {});
  Result<double> scalar(std::string_view tensor, std::int64_t step, Mode mode = Mode::kGlobal,
                        std::string_view worker = {});  // of a scalar, or of a value with one element
  Result<Shape> shape(std::string_view tensor, std::int64_t step, Mode mode = Mode::kGlobal,
                      std::string_view worker = {});
  // Of a parameter that is sharded over the workers (DTensor, FSDP), its gradient or its optimizer state. A part that
  // several workers have counts once. kFailedPrecondition when the run does not say that it is sharded, kOutOfRange
  // when not all parts are there at this step, kDataLoss when what the workers say does not fit together.
  Result<ShardedTensor> sharded(std::string_view tensor, std::int64_t step, Mode mode = Mode::kGlobal);
  std::vector<std::string> workers_of(std::string_view tensor, std::int64_t step, Mode mode = Mode::kGlobal) const;

  // What was sampled over time, beside the steps. By name, source, instance and worker.
  std::vector<SampledMetric> metrics() const;
  // Those in [from_unix_ns, to_unix_ns), by rising time; damaged ones are among the losses. kNotFound when the run has
  // no such metric.
  Result<std::vector<Sample>> samples(const SampledMetric& metric, std::int64_t from_unix_ns, std::int64_t to_unix_ns);
  // The steps that a program printed beside such samples, as values, at the times of the samples. Those that it printed
  // without a step are left out. As samples() for the rest.
  Result<std::vector<Sample>> sample_steps(const SampledMetric& metric, std::int64_t from_unix_ns,
                                           std::int64_t to_unix_ns);

  // The global steps of a worker of which operator calls were recorded, rising. None for a worker that is not there.
  std::vector<std::int64_t> operator_steps(std::string_view worker) const;
  // Those of one step. What was recorded and cannot be read counts among `lost_calls`. kNotFound when the run has no
  // such worker, or no operator calls of the step; kDataLoss when all of them are damaged.
  Result<OperatorBatch> operators(std::string_view worker, std::int64_t global_step);

 private:
  class Impl;
  friend class TrialAccess;  // our own floors above: runs on other storages, the events of the journals
  explicit Trial(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainwarden
