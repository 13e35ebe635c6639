// Hook: captures tensors of one training process into a run.
//
//   auto hook = trainwarden::Hook::open({.run_dir = "runs/first"});
//   for (...) {
//     hook->save_tensor("conv0.weight", view);       // kept if a collection wants it at this step
//     hook->save_scalar("accuracy", 0.93);
//     if (hook->end_step().stop_requested) break;    // the step is visible to readers from here on
//   }
//
// Promises to the training. No call throws, blocks on a file or aborts. A skipped tensor costs under 100 ns and no
// allocation. What could not be kept is counted with its cause (report()) and written into the run as soon as the run
// can be written. When the hook fails for good it switches itself off and says so once in the log.
//
// Threads. save_*, wants*, declare, next_wanted_step and add_cost may be called from many threads at once. set_mode,
// end_step, flush and close belong to the one thread that drives training.
//
// Fork. A child process gets a hook that is switched off (data-loader workers); it opens its own when it trains.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/collection.h"
#include "trainwarden/export.h"
#include "trainwarden/given_statistics.h"
#include "trainwarden/mode.h"
#include "trainwarden/operator_recorder.h"
#include "trainwarden/reduction.h"
#include "trainwarden/save_policy.h"
#include "trainwarden/statistics.h"
#include "trainwarden/status.h"
#include "trainwarden/tensor_view.h"

namespace trainwarden {

// What happens when tensors come faster than the disk takes them.
enum class WhenFull : std::uint8_t {
  kDrop,        // the tensor is not kept, and counted as lost (default: training never waits)
  kStatistics,  // its statistics are kept in its place, the values counted as lost
  kBlock,       // training waits for the writer
};

// When bytes reach the medium itself; against a killed process all three are equally safe.
enum class Durability : std::uint8_t {
  kNone,      // the operating system decides (default)
  kInterval,  // synced about every second
  kStep,      // synced before a step is acknowledged
};

// Which workers of a job write into the run.
enum class IncludeWorkers : std::uint8_t {
  kOne,  // rank 0 alone: the hooks of the others are switched off, and the run says world_size 1
  kAll,  // each writes a journal of its own (default)
};

namespace capture {
class HookOpener;
struct ConfigSource;
}  // namespace capture

// The last steps, whole, in memory of their own: written into the run's folder blackbox/ when a rule fires, when
// somebody asks, or when the process dies on a signal (docs/guide/black-box.md).
struct BlackBoxOptions {
  int steps = 0;                               // complete steps that are held besides the open one, at most 64; 0: off
  std::size_t bytes = std::size_t{256} << 20;  // of all steps together; only what is needed of it is used
  // What is held, by name of collection, whatever the save policies say. When it does not fit, outputs and collections
  // of your own are given up first, then biases, weights and gradients.
  std::vector<std::string> collections = {"losses",       "gradients", "weights", "biases",
                                          "batch_inputs", "labels",    "signals", "outputs"};
};
// Which operator calls of the framework are recorded (operator_recorder.h): those of `steps` steps, from the one on
// that is the `first_step`-th of this process, counted from 0. More steps can be asked for while the training goes on
// (docs/reference/profile.md).
inline constexpr std::int64_t kMaxWindowCalls = std::int64_t{1} << 21;  // 64 MiB of memory
struct OperatorWindow {
  std::int64_t first_step = 5;
  std::int64_t steps = 0;  // 0: none
  // So many calls are recorded at most, of all threads: the window ends with the step that has more.
  std::int64_t max_calls = kMaxWindowCalls;
  friend bool operator==(const OperatorWindow&, const OperatorWindow&) = default;
};
// How many steps are recorded where somebody wants them and does not say.
inline constexpr std::int64_t kDefaultOperatorSteps = 10;
// How many calls, where nobody has asked for them: 4 MiB, and some 50 ms of the training.
inline constexpr std::int64_t kDefaultOperatorCalls = std::int64_t{1} << 17;

// How often the stacks of Python's threads are sampled in them, in a second, and how often at most.
inline constexpr int kDefaultStackHz = 100;
inline constexpr int kMaxStackHz = 1000;

// How many steps are held where somebody asks for a black box and does not say.
inline constexpr int kDefaultBlackBoxSteps = 3;

struct HookOptions {
  // The run's folder, created if missing. A folder that holds a finished run is refused: runs are never overwritten.
  std::filesystem::path run_dir;

  std::vector<Collection> collections;           // beside, or in place of, the built-in ones of the same name
  std::vector<std::string> include_collections;  // names to save besides `losses` and those in `collections`
  std::vector<std::string> include;              // patterns, added to collection `default`, which is then saved
  bool save_all = false;                         // saves collection `all`
  // What rules need, beside all that: a tensor is kept at the steps and in the forms that either asks for. A collection
  // that is not known says its patterns; one may be needed several times.
  std::vector<Collection> needs;
  SavePolicy save;  // for collections without one
  KeepForm keep;    // for collections without one

  // The share of the training's time that capture may take, in [0, 1]: 0.01 is 1 %. The hook measures what it costs,
  // with what goes on beside the training for it; when that is more it leaves out histograms and hashes, then steps,
  // then whole values; save_steps and save_scalar() never. 0: no limit.
  double budget = 0;

  int rank = 0;  // of this worker, in [0, world_size)
  int world_size = 1;
  IncludeWorkers include_workers = IncludeWorkers::kAll;

  std::size_t staging_bytes = std::size_t{256} << 20;  // of waiting tensors; unless you set it, it grows to 1 GiB
  WhenFull when_full = WhenFull::kDrop;
  Durability durability = Durability::kNone;
  std::size_t segment_bytes = std::size_t{1} << 30;  // a segment is sealed when it grows past this
  // What the run says in words, statistics and other tables are compressed, by the writer thread. False: nothing is, as
  // programs before version 2 of the format read it.
  bool compress = true;
  // Of all journals of the run together: what would be more is left out, whole tensors first, whose statistics are kept
  // until there is no room for those either. Losses come last, and what the run says in words always fits. 0: no limit.
  std::uint64_t max_run_bytes = 0;
  // The same so that the disk keeps so much free. 0: it may become full. Unless you set it, at most a twentieth of it.
  std::uint64_t min_free_bytes = std::uint64_t{1} << 30;
  bool dry_run = false;  // decide and count, write nothing

  // A run that has ended is gone on with. False: its folder is refused.
  bool resume = false;

  // Where counting begins: a program that goes on from a checkpoint hands on where it was, so that its steps do not
  // take the places of those before. Of kGlobal the second means nothing.
  std::int64_t first_global_step = 0;
  std::array<std::int64_t, 4> first_mode_steps = {};  // at index_of(mode)

  BlackBoxOptions black_box;

  OperatorWindow operators;
  // In these steps the stacks of Python's threads are sampled so often in a second, by adapters for Python; 0: never.
  int python_stacks_hz = kDefaultStackHz;

  // Requests to save the training's state are accepted (Hook::offer_checkpoints). False: they are refused.
  bool checkpoint_on_request = true;

  // The run is also shown to TensorBoard here, by whoever follows it; the hook itself writes nothing there. Empty: not.
  std::filesystem::path tensorboard_dir;

  std::string code_version;                   // of the training program; recorded in run.json
  std::string framework;                      // that it trains with, by an adapter: "PyTorch 2.11.0"; in run.json
  std::map<std::string, std::string> labels;  // free text about the run (learning rate, data set), recorded in run.json

  // The file that TRAINWARDEN_CONFIG or SMDEBUG_CONFIG_FILE_PATH named, if one did: set by
  // hook_options_from_environment(). The hook follows its changes while the training goes on.
  std::shared_ptr<const capture::ConfigSource> config_source;
};

// Reads the JSON file (docs/reference/config.md). Unknown keys are errors that name the nearest known one.
TRAINWARDEN_API Result<HookOptions> load_hook_options(const std::filesystem::path& json_file);
TRAINWARDEN_API Result<HookOptions> parse_hook_options(std::string_view json, std::string_view source_name);

// Both take smdebug's schema, too. This one shows what such a document says, with smdebug's precedence applied, as JSON
// for programs that speak smdebug's language: {"out_dir", "export_tensorboard", "tensorboard_dir", "dry_run",
// "save_all", "include_regex", "include_workers", "include_collections", "save_config": {"TRAIN": {"save_interval",
// "start_step", "end_step", "save_steps"}, "EVAL", "PREDICT", "GLOBAL"}, "reduction_config": {"reductions": "a,b",
// "save_raw_tensor", "save_shape"}, "collections": {NAME: {"include_regex", "save_histogram", "save_config",
// "reduction_config"}}}. Null: out_dir, tensorboard_dir, include_collections, end_step, reduction_config not given.
TRAINWARDEN_API Result<std::string> parse_smdebug_config(std::string_view json, std::string_view source_name);

// `base` overlaid by the file that TRAINWARDEN_CONFIG (else SMDEBUG_CONFIG_FILE_PATH) names and then by
// TRAINWARDEN_RUN_DIR, TRAINWARDEN_RANK, TRAINWARDEN_WORLD_SIZE, ... (docs/reference/config.md has them all).
TRAINWARDEN_API Result<HookOptions> hook_options_from_environment(HookOptions base = {});

// What is captured of a program that does not call the hook. As hook_options_from_environment() when the environment
// says what to capture (TRAINWARDEN_CONFIG, SMDEBUG_CONFIG_FILE_PATH, TRAINWARDEN_INCLUDE, _INCLUDE_COLLECTIONS,
// _SAVE_ALL or _SAVE_INTERVAL is set). Else, at every step and under a budget of 1 %: losses whole, and the statistics
// of weights, biases, gradients and outputs; the other variables overlay that. In both cases the operator calls of
// kDefaultOperatorSteps steps, where nothing else is said.
TRAINWARDEN_API Result<HookOptions> hook_options_for_attach();

// Why something is missing from the run.
enum class LossCause : std::uint8_t {
  kStagingFull,  // the staging area had no room
  kTooLarge,     // a tensor larger than the whole staging area
  kWriteFailed,  // the storage refused it (disk full, read-only)
  kUnsupported,  // a device or dtype that cannot be read here
  kHookOff,      // the hook had switched itself off, or was closed
  kOutOfMemory,
  kDeviceFailed,  // a GPU or its driver refused to read a tensor, or failed while it did
  kSyncFailed,    // what was written is not known to be on the medium; counted once for each sync that failed
  kRunBytes,      // the run has the bytes that it may have (max_run_bytes)
  kDiskReserve,   // the disk is nearly full (min_free_bytes)
};
inline constexpr int kLossCauseCount = 10;
TRAINWARDEN_API std::string_view name(LossCause cause);  // "staging_full", ...

struct CaptureLoss {
  LossCause cause = LossCause::kStagingFull;
  std::uint64_t count = 0;  // of tensors, statistics, scalars, reductions or operator calls
  std::uint64_t bytes = 0;
  std::string first_message;  // of the first such loss
};

// What capture costs the training, and what is left out to keep to the budget.
struct CaptureBill {
  double budget = 0;                 // in force; 0: no limit
  std::int64_t training_ns = 0;      // wall time of the steps that have ended, capture included
  std::int64_t capture_ns = 0;       // inside the hook's calls, Hook::add_cost(), and CPU time beside the training
  std::int64_t interval_factor = 1;  // in the current mode, save intervals are this many times as long: a power of two
  std::vector<std::string> dropped;  // forms left out in the current mode: "histogram", "hash", "values"

  // Of the training's time that was capture.
  double share() const {
    return training_ns > 0 ? static_cast<double>(capture_ns) / static_cast<double>(training_ns) : 0.0;
  }
};

// Of the black box.
struct BlackBoxReport {
  bool on = false;
  std::uint64_t bytes = 0;               // of memory, at most
  std::int64_t spent_ns = 0;             // by training threads on copying into it; in training_thread_ns, too
  std::uint64_t missing = 0;             // tensors that found no room, over all steps
  std::uint64_t steps_without_room = 0;  // not held at all, as all of it was being written
  std::vector<std::string> given_up;     // collections that did not fit or cost too much, in that order
  std::vector<std::string> dumps;        // that were written, relative to the run's folder
};

// What the hook did and cost so far.
struct HookReport {
  std::int64_t steps = 0;  // ended
  // Written to the run; what still waits for the writer comes later (flush()).
  std::uint64_t kept_tensors = 0;
  std::uint64_t kept_bytes = 0;
  std::uint64_t statistics = 0;
  std::uint64_t scalars = 0;
  std::uint64_t reductions = 0;  // single ones
  std::uint64_t operator_calls = 0;
  // Time spent inside the hook's calls by training threads, where something was kept.
  std::int64_t training_thread_ns = 0;
  CaptureBill bill;
  BlackBoxReport black_box;
  std::uint64_t vetoes = 0;  // how often judge_step() said that an optimizer's step is to be left out
  bool on = true;            // false once the hook has switched itself off or was closed
  std::string off_reason;
  std::vector<CaptureLoss> losses;  // only causes that occurred
};

// What the caller is to do with the optimizer's next step.
enum class StepAdvice : std::uint8_t {
  kProceed,   // make it
  kSkipStep,  // leave it out: the weights and the optimizer's state stay as they are
  kStop,      // leave it out and end the training
};
TRAINWARDEN_API std::string_view name(StepAdvice advice);  // "proceed", "skip_step", "stop"

// Why the black box is written.
struct BlackBoxReason {
  std::string kind = "request";    // one word: "rule", "loss" (not finite), "exception", "request"
  std::string message;             // a sentence for people
  std::string rule;                // the rule's id, of kind "rule"
  std::int64_t failing_step = -1;  // global; -1: the newest that is held
  std::string key;                 // of a request in the control folder
};

// A person or a rule's action asks to save the training's state now, so that it can go on from there
// (docs/guide/save-now.md).
struct CheckpointRequest {
  std::string key;
  std::string reason;             // a sentence for people
  std::string rule;               // the rule's id; empty when a person asks
  std::int64_t global_step = -1;  // that the reason speaks of; -1: none
  std::string requested_by;       // "watch-0", "user"
};

struct StepEnd {
  std::int64_t global_step = 0;  // of the step that just ended
  Mode mode = Mode::kGlobal;
  std::int64_t mode_step = 0;
  bool stop_requested = false;   // somebody asked the training to stop; it stays true
  std::string_view stop_reason;  // valid as long as the hook
  // A checkpoint is requested: take_checkpoint_request(). Look at it before stop_requested: who asked for both
  // wants both.
  bool checkpoint_requested = false;
};

// A tensor that the hook knows by number; cheaper than a name.
struct TensorId {
  std::uint32_t value = 0xffffffff;
  friend bool operator==(TensorId, TensorId) = default;
};

class TRAINWARDEN_API Hook {
 public:
  // kInvalidArgument for bad options (a pattern that does not compile, ...), kAlreadyExists when the folder holds a
  // finished run or another living process writes this rank, kPermissionDenied and kResourceExhausted from storage.
  // With TRAINWARDEN=0 or USE_SMDEBUG=0 in the environment the hook is disabled(), whatever the options.
  static Result<std::unique_ptr<Hook>> open(HookOptions options);

  // A hook that is switched off: every call is a cheap no-op, and only steps are counted. For programs that must run
  // without a store.
  static std::unique_ptr<Hook> disabled();

  ~Hook();  // close(), errors logged
  Hook(const Hook&) = delete;
  Hook& operator=(const Hook&) = delete;

  // Modes and steps. A step belongs to the mode that was set when it began. Switching the mode ends a step in which
  // anything was saved.
  void set_mode(Mode mode);
  Mode mode() const;
  std::int64_t global_step() const;  // of the current step, from 0
  std::int64_t mode_step() const;    // of the current step in the current mode, from 0
  StepEnd end_step();
  // Several steps that one call of the program computes, as a compiled loop does, and of which only the last is seen:
  // begin_steps() before the call, so that until the open step ends whatever is wanted at one of them is wanted; and
  // end_steps() behind it, with as many as they were. What was saved is then of the last, and their time is divided
  // among them (save_step_times()). Where each of them is seen, each is saved and ended by itself behind the call.
  void begin_steps(std::int64_t steps);
  StepEnd end_steps(std::int64_t steps);

  // Asks the rules that judge inside the training (guard.h), if there are any, about what was saved in this step so
  // far. To be called when the gradients are saved, right before an optimizer steps; from the thread that drives
  // training. After kStop, end_step() asks for the stop, too. Waits for tensors that come from a GPU.
  StepAdvice judge_step();
  // Why the last advice was not kProceed: "ExplodingTensor fired at step 7: ...". Valid until the next judge_step().
  std::string_view judge_reason() const;

  // Names.
  TensorId declare(std::string_view name);
  // As declare, and makes the tensor a member of these collections, created (and saved) when missing.
  TensorId declare(std::string_view name, std::span<const std::string_view> collections);
  // Is the tensor wanted, in any form, at the current step? Ask before an expensive computation.
  bool wants(TensorId id);
  bool wants(std::string_view name);
  // Would any tensor of this collection be wanted at the current step? Tensors that the hook has not heard of yet are
  // judged by the collection's own policy and that of `all`.
  bool wants_collection(std::string_view collection);
  // Is any tensor at all wanted at the current step? One load: ask it before anything else.
  bool wants_anything() const;
  // Are losses all that is wanted at the current step, while signals are kept at others? Then an adapter need not do
  // what it does for signals. One load.
  bool wants_only_losses() const;
  // The first step, from the current one on, at which the tensor is wanted: a mode step of the current mode. None:
  // never again, or an id that was not declared. What is captured, and the mode, may change with each step: the answer
  // holds until end_step(), and is for planning; whether a step is wanted is asked when it is there.
  std::optional<std::int64_t> next_wanted_step(TensorId id);

  // Each is a no-op when the tensor is not wanted at the current step. The memory may be changed or freed after return.
  // Saving a name twice within a step: the later one gets the suffix that is free ("name#1", "name#2").
  void save_tensor(TensorId id, const TensorView& tensor);
  void save_tensor(std::string_view name, const TensorView& tensor);
  void save_strings(std::string_view name, std::span<const std::string_view> strings);
  // Numbers in place of the tensor, or beside its value, that the caller has computed. Of the same reduction given
  // twice, readers take the first.
  void save_reductions(TensorId id, std::span<const SavedReduction> reductions);
  void save_reductions(std::string_view name, std::span<const SavedReduction> reductions);
  // The tensor's statistics where the program has computed them itself, as on an accelerator: kept where the tensor is
  // wanted in any form, marked as approximate, for all that reads statistics. Numbers that cannot be of one tensor
  // count as lost (unsupported).
  void save_statistics(TensorId id, const GivenStatistics& given);
  void save_statistics(std::string_view name, const GivenStatistics& given);
  // One part of a tensor that lies in several places of this process, as shards of a jax.Array do: a block with its
  // first element at `offsets` (one for each dimension) of a tensor of `global_shape`. When all parts have come, the
  // step has the tensor: its statistics, merged exactly (without a hash), or its values, put together. `replica`: which
  // copy of this part it is; all but 0 are left out. A tensor whose parts do not all come before the step ends counts
  // as lost.
  void save_shard(TensorId id, const TensorView& part, const Shape& global_shape, std::span<const std::int64_t> offsets,
                  int replica = 0);
  // Written at every step, whatever the policy, as float64, under collection `scalars`.
  void save_scalar(std::string_view name, double value);
  // Written at this step, with the step, whatever the policies and the budget say: what an adapter has measured itself,
  // at steps of its own choosing and within an allowance of its own. Numbers or strings.
  void save_observation(TensorId id, const TensorView& tensor);
  // How long each train step took since this was last saved, up to the open one: the tensor trainwarden/step_times of
  // collection `signals`, float32 of shape [steps], in seconds, the oldest first; at most 4,096 of them. The first call
  // only begins to measure. A step that is not saved costs a look at the clock. For the thread that drives training.
  void save_step_times();

  // Tensors on a GPU that this thread saves between the two are read together, which costs one launch in place of many.
  // Until end_group() their memory must stay as it is: the promise of save_tensor holds from then on. end_step() ends a
  // group, too. Other tensors and other threads are not affected.
  void begin_group();
  void end_group();

  // Operator calls. Are they wanted in the current step? One load. It changes in end_step() and set_mode(), where who
  // listens to a framework begins and ends; and it ends within a step that has more calls than there is room for.
  bool wants_operators() const;
  // The same for as long as the process lives, also when the hook is closed. It records nothing in a hook that is off.
  OperatorRecorder& operators();

  // For adapters that examine a training for its diagnosis (docs/format/examination.md): so many train steps somebody
  // wants examined now, and has wanted since the last call; 0: none. Costs one load then. From any thread.
  std::int64_t take_examination();

  // Adds to the bill what capture cost the training outside the hook's own calls (an adapter's work in the training
  // thread). From any thread.
  void add_cost(std::chrono::nanoseconds spent);

  // The black box. remember() keeps a copy in the open step for it alone: states of random generators, numbers of
  // samples; a no-op where remembers() is false, as in steps that it does not hold: ask before computing something.
  bool remembers() const;
  void remember(std::string_view name, const TensorView& tensor);
  // The writer thread writes the steps that are held, and the open one as far as it is; training goes on.
  // True, without a second dump, when the failing step is in one already. False when there is no black box, nothing is
  // held, or it was written 8 times. flush() waits for it. A loss that is not finite does it by itself, once.
  bool dump_black_box(const BlackBoxReason& reason);

  // Checkpoints on request, all from the thread that drives training.
  // Says that this program looks for requests. They wait until the first step has ended; a program that has not said so
  // by then has them refused.
  void offer_checkpoints();
  // One checkpoint answers all requests that wait: this is the first of them. None when there is no request.
  std::optional<CheckpointRequest> take_checkpoint_request();
  // What became of it: the file or folder where the state is, a URL, an empty path (saved, at a place that is not
  // given), or why nothing was saved. A path at which there is nothing counts as not saved.
  void answer_checkpoint(const CheckpointRequest& request, const Result<std::filesystem::path>& saved);
  // Calls `write` to write a new file, and moves that into the run's folder, whole or not at all, as
  // checkpoints/step-000123-rank-00000<ending>. Nothing is overwritten. What `write` throws becomes a Status.
  Result<std::filesystem::path> write_checkpoint(std::string_view ending,
                                                 const std::function<Status(const std::filesystem::path& file)>& write);

  // Waits until everything up to the last ended step is in the run's files. kDeadlineExceeded when it took too long, or
  // the storage's code when a step since the last flush could not be written.
  Status flush(std::chrono::milliseconds timeout = std::chrono::seconds(30));
  // Ends an open step, flushes, writes the end of the run and seals. Idempotent. Waits at most 30 s.
  Status close();

  HookReport report() const;
  const HookOptions& options() const;  // as the hook was opened

 private:
  friend class capture::HookOpener;
  class Impl;
  explicit Hook(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Would this signal end the process now? A handler of the hook's own, which writes the black box and hands the signal
// on, counts as none.
TRAINWARDEN_API bool signal_ends_process(int signal_number);

}  // namespace trainwarden
