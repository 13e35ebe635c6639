// Rule: judges a training step by step, or over windows of time, or both.
//
// A rule is a pure function of what its window shows and of its own bounded state. It answers in one of five ways;
// silence is never an answer. It says what it needs, so that the hook captures just that. It runs in one thread, beside
// the training, inside it, or later over a recorded run, and must not keep references to what it is shown.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/collection.h"
#include "trainwarden/dtype.h"
#include "trainwarden/export.h"
#include "trainwarden/metric.h"
#include "trainwarden/mode.h"
#include "trainwarden/reduction.h"
#include "trainwarden/statistics.h"
#include "trainwarden/status.h"
#include "trainwarden/tensor_value.h"
#include "trainwarden/trial.h"

namespace trainwarden {

// The answer for one step or window of time.
enum class Outcome : std::uint8_t {
  kOk,                // judged, nothing wrong
  kFired,             // the condition is met
  kNotApplicable,     // nothing of what the rule judges was captured there
  kInsufficientData,  // something was captured, but not enough yet (too few steps)
  kError,             // the rule failed
};
TRAINWARDEN_API std::string_view name(Outcome outcome);  // "ok", "fired", "not_applicable", ...

enum class Severity : std::uint8_t { kInfo, kWarning, kError };
TRAINWARDEN_API std::string_view name(Severity severity);

// A number that supports a verdict.
struct Evidence {
  std::string tensor;
  std::string worker;    // empty: the same on all
  std::string quantity;  // "abs_mean", "nan_count", "decrease_percent"
  double value = 0;
  double threshold = 0;
  std::int64_t global_step = 0;
  // Of a sample, in place of tensor and step.
  std::string metric{};
  std::int64_t unix_ns = 0;
};

struct Verdict {
  Outcome outcome = Outcome::kOk;
  Severity severity = Severity::kWarning;
  std::string message;             // one sentence: what is wrong, with numbers
  std::string advice;              // one sentence: what to try next
  std::vector<Evidence> evidence;  // at most kMaxEvidence, the worst first
  double confidence = 1;           // in [0, 1]: of a verdict that fired, how sure it is that this is a fault
  // Not empty: an examination of the next train steps (docs/format/examination.md) would help to judge, and why. Asked
  // for where the run is watched while it trains, not more often than at growing distances of ten seconds and more.
  std::string examine_reason{};

  static constexpr std::size_t kMaxEvidence = 20;
  static Verdict ok() { return {}; }
  static Verdict not_applicable(std::string message) {
    return {Outcome::kNotApplicable, Severity::kInfo, std::move(message), {}, {}};
  }
  static Verdict insufficient_data(std::string message) {
    return {Outcome::kInsufficientData, Severity::kInfo, std::move(message), {}, {}};
  }
  static Verdict error(std::string message) { return {Outcome::kError, Severity::kError, std::move(message), {}, {}}; }
};

// One parameter of a rule, as `trainwarden rules` shows it.
struct RuleParameter {
  std::string name;
  std::string default_value;  // as text; "" means not set
  std::string description;    // with the unit
};

struct RuleDescription {
  std::string name;     // "VanishingGradient"
  std::string summary;  // one sentence
  std::vector<RuleParameter> parameters;
  std::string topic;        // its chapter in the reference: "gradients"
  std::string details;      // Markdown: what exactly fires, what it needs, what it cannot see
  std::string source;       // where the definition comes from: a paper, a specification, "ours"
  bool by_default = false;  // one of `--rules default`
  bool profiles = false;    // one of `--rules profiler`: judges where the time goes, not what is learned
  // What it sees may be harmless: where the training is examined and the rule Diagnosis is there, too, which weighs it,
  // it is told as a note, unless parameters were given to it.
  bool is_symptom = false;
  // What it finds is no fault but what the user wants: always a note, and yet actions follow from it.
  bool is_goal = false;
  bool in_process = false;  // needs statistics and scalars of one step only, and so may judge inside the training
  // Rules whose verdicts at this step or later follow from this one's: they are reported as its consequences.
  std::vector<std::string> consequences;
};

// Which tensors a rule looks at: the union of those of the collections and of those that any pattern is found in.
struct TensorSelection {
  std::vector<std::string> collections;
  std::vector<std::string> patterns;  // PCRE2, found anywhere in the name
  bool all = false;                   // every tensor
  friend auto operator<=>(const TensorSelection&, const TensorSelection&) = default;
};

// A tensor that the step holds on one worker.
struct TensorSpot {
  std::string tensor;
  std::string worker;
  std::string shown_worker;           // for evidence: empty in a run of one worker
  std::uint32_t handle = 0xffffffff;  // of the window that gave it, which finds it faster by this; nobody else's
};

// The step that is judged, wherever it lies: in a run's files, or in the memory of the training. Valid during
// evaluate() only, and so is what it gives.
class TRAINWARDEN_API StepWindow {
 public:
  virtual ~StepWindow();
  virtual std::int64_t global_step() const = 0;
  virtual Mode mode() const = 0;  // kGlobal when the program never set one
  virtual std::int64_t mode_step() const = 0;
  virtual std::vector<std::string> workers() const = 0;  // of the run, sorted
  // When the worker ended the step; 0 when that is not known.
  virtual std::int64_t ended_unix_ns(std::string_view worker) const = 0;

  // The selected tensors that the step holds: by name, then by worker. Valid as long as the window. Collections that
  // the run does not have are empty. kInvalidArgument for a bad pattern, kDataLoss when that record is damaged.
  virtual Result<std::span<const TensorSpot>> select(const TensorSelection& selection) const = 0;

  // Reading, of what was kept of the tensor at this step. kOutOfRange: in no form that has what is asked.
  // kInvalidArgument: it has no such thing (strings have no statistics). kDataLoss: damaged.
  virtual Result<const Statistics*> statistics(const TensorSpot& spot) const = 0;  // saved, else computed
  virtual Result<double> reduction(const TensorSpot& spot, Reduction reduction, bool abs = false) const = 0;
  virtual Result<std::vector<SavedReduction>> saved_reductions(const TensorSpot& spot) const = 0;
  virtual Result<SharedTensorValue> value(const TensorSpot& spot) const = 0;
  virtual Result<double> scalar(const TensorSpot& spot) const = 0;
  virtual Result<Shape> shape(const TensorSpot& spot) const = 0;
  // Of the tensor in the program, in whatever form it was kept; float64 for a scalar.
  virtual Result<DType> dtype(const TensorSpot& spot) const = 0;

  // The run as far as it is known; null inside the training.
  virtual Trial* trial() const { return nullptr; }
};

// Which metrics a rule looks at: those of the sources in whose name any pattern is found.
struct MetricSelection {
  std::vector<std::string> patterns;    // PCRE2; none: no metric at all
  std::vector<MetricSource> sources{};  // none: of any
};

// When a rule is asked about time, and what it wants to see then.
struct TimeSchedule {
  // With metrics it judges their samples, beside the training or later, with the same answers. Without any it judges
  // only that time passes: it is asked by the clock, beside a training that goes on, and what it finds is reported as a
  // verdict on the last step.
  MetricSelection metrics{};
  std::int64_t window_ns = 0;   // how far back it looks; up to 366 days
  std::int64_t cadence_ns = 0;  // a window ends at each multiple of it, in Unix time
};

// The samples of one metric in a window.
struct MetricSeries {
  Metric metric;
  std::string worker;               // "rank-00000"
  std::span<const Sample> samples;  // by rising time, one at least
};

// A stretch of time of a run. Valid during evaluate_time() only.
struct TimeWindow {
  Trial& trial;
  std::int64_t from_unix_ns = 0;
  std::int64_t to_unix_ns = 0;             // exclusive; without metrics: now
  std::int64_t last_step = -1;             // global, of those that were complete before its end; -1: none
  std::int64_t last_step_unix_ns = 0;      // when that was ended; before the first step, when the run was created
  std::span<const MetricSeries> series{};  // what has samples in it, by name, source, instance and worker
};

class TRAINWARDEN_API Rule {
 public:
  virtual ~Rule() = default;
  // Judges the step. Called for each complete step in rising order.
  virtual Verdict evaluate(const StepWindow& window) = 0;
  // Once, when the run has ended and every step was judged, of a rule that has not fired: what the whole of it shows.
  // Counts only where it fires or fails, as a verdict on the last step.
  virtual Verdict conclude() { return Verdict::not_applicable("the rule judges step by step"); }

  // What must be captured for it: collections with the policy and the form that it needs. A collection that is not
  // built in says its patterns. Asked once.
  virtual std::vector<Collection> needs() const { return {}; }

  // Windows of time that it judges beside the steps; none: it judges steps only. Asked once.
  virtual std::optional<TimeSchedule> schedule() const { return std::nullopt; }
  // Judges the window. Called for one after the other in the order of time, for each in which any of its metrics was
  // sampled.
  virtual Verdict evaluate_time(const TimeWindow& window) {
    static_cast<void>(window);
    return Verdict::not_applicable("the rule judges no time");
  }
  // False for a rule that judges time alone.
  virtual bool judges_steps() const { return true; }
};

// A rule that judges time alone.
class TRAINWARDEN_API TimeRule : public Rule {
 public:
  Verdict evaluate(const StepWindow& window) final {
    static_cast<void>(window);
    return Verdict::not_applicable("the rule judges time, not steps");
  }
  bool judges_steps() const final { return false; }
  std::optional<TimeSchedule> schedule() const override = 0;
  Verdict evaluate_time(const TimeWindow& window) override = 0;
};

using RuleParameters = std::map<std::string, std::string>;  // values are text, as they come from the command line

struct RuleKind {
  RuleDescription description;
  // kInvalidArgument for a bad value. Every parameter of the description is in `parameters`, defaults filled in.
  std::function<Result<std::unique_ptr<Rule>>(const RuleParameters& parameters)> create;
};

// The rules that exist, by name.
TRAINWARDEN_API const std::vector<RuleKind>& builtin_rules();

// A rule as the user named it: "VanishingGradient:threshold=1e-6,collection_names=gradients".
struct RuleSpec {
  std::string name;
  RuleParameters parameters;
};
// kInvalidArgument: names the unknown rule or parameter and the nearest known one.
TRAINWARDEN_API Result<RuleSpec> parse_rule_spec(std::string_view text);
TRAINWARDEN_API Result<std::unique_ptr<Rule>> create_rule(const RuleSpec& spec);

// Where a rule stands over the whole run. Source: the rule evaluation states of SageMaker Debugger, and one of ours.
enum class RuleStatus : std::uint8_t {
  kInProgress,
  kIssuesFound,
  kNoIssuesFound,  // judged at least one step or window of time, and found nothing
  kStopping,       // the engine is being stopped before the run has ended
  kStopped,        // it was
  kError,
  kNotApplicable,  // the run ended, and what the rule judges was never captured, or never enough of it
};
TRAINWARDEN_API std::string_view name(RuleStatus status);  // "InProgress", "IssuesFound", ...

}  // namespace trainwarden
