// ProfileReport: where the time of a run went, as one document: what the page draws, `report` writes and programs read.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trainwarden/operator_calls.h"
#include "trainwarden/trial.h"

namespace trainwarden::views {

// NaN stands for what is not known, in all numbers below that are no option.

struct ProfiledRun {
  std::string name;
  RunState state = RunState::kRunning;
  std::string host;
  std::vector<std::string> command;
  std::int64_t created_unix_ns = 0;
  std::int64_t from_unix_ns = 0;  // when the training began
  std::int64_t to_unix_ns = 0;    // when it ended, or what is known last
};

// How much faster the training is when a fault is mended, as a ratio of throughput.
struct Gain {
  double expected = 1;
  double min = 1;
  double max = 1;
};

struct ProfileVerdict {
  enum class Kind : std::uint8_t { kFinding, kNothingFound, kNotEnoughData };
  Kind kind = Kind::kNotEnoughData;
  std::string rule;
  std::string text;
  std::string advice;
  std::optional<double> step_share;
  std::optional<Gain> gain;
};

struct ValueSpread {
  double min = 0, p50 = 0, p95 = 0, p99 = 0, max = 0, mean = 0;
};

struct ProfiledHistogram {
  std::vector<double> edges_ms;
  std::vector<std::uint64_t> counts;
};

// A step that took far longer than its neighbours.
struct OutlyingStep {
  std::int64_t step = 0;  // global
  std::string worker;
  std::int64_t unix_ns = 0;  // when it ended
  double ms = 0;
  double median_ms = 0;
  std::string phase;  // the one that grew most; empty: not known
  double phase_ms = 0;
  std::string cause;  // "checkpoint", "evaluation", "data wait", "capture"; empty: not known
};

struct ModeTime {
  Mode mode = Mode::kGlobal;
  std::size_t count = 0;
  double seconds = 0;
};

struct ProfiledSteps {
  std::size_t count = 0;    // train steps that there were
  std::size_t divided = 0;  // of the first worker, into phases
  double wall_seconds = 0;
  std::optional<double> start_seconds;  // until the first train step had ended
  std::vector<ModeTime> modes;
  std::optional<ValueSpread> duration_ms;
  std::optional<ProfiledHistogram> histogram;
  std::vector<OutlyingStep> outliers;  // the longest first
  std::size_t outlier_count = 0;       // with those that are not listed
};

struct WorkerPhase {
  std::string phase;
  double share = 0;  // of its wall time
  double ms_per_step = 0;
  bool known_of_all_steps = false;
};

struct ProfiledWorker {
  std::string worker;
  std::string host;
  double steps = 0;
  double wall_seconds = 0;
  double median_ms = 0;
  double skew = 1;  // its median over that of the workers' medians
  std::vector<WorkerPhase> phases;
};

struct SystemLine {
  std::string kind;
  std::string label;
  std::string unit;
  std::string instance;
  std::string part;
  std::vector<double> values;
};

struct PhaseLine {
  std::string worker;
  std::string phase;
  std::vector<double> values;  // shares
};

// Means over stretches of the same length, all on one axis.
struct ProfileTimeline {
  std::int64_t from_unix_ns = 0;
  std::int64_t to_unix_ns = 0;
  std::size_t buckets = 0;
  std::vector<SystemLine> system;
  std::vector<PhaseLine> phases;
  std::size_t left_out_lines = 0;  // more than are shown
};

struct UsageRow {
  std::string kind;
  std::string label;
  std::string unit;
  std::string instance;
  std::string part;
  ValueSpread values;
};

struct ProfiledOperator {
  std::string name;  // any bytes
  OperatorKind kind = OperatorKind::kOperator;
  std::uint64_t calls = 0;
  double total_ms = 0;
  double self_ms = 0;
  double share = 0;
  double longest_ms = 0;
};

struct ProfiledOperators {
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
  std::uint64_t steps = 0;
  std::uint64_t calls = 0;
  std::uint64_t lost_calls = 0;
  std::uint64_t damaged_steps = 0;
  std::uint64_t left_out_steps = 0;  // that there was no time for
  double wall_ms = 0;
  std::vector<ProfiledOperator> rows;
};

struct MemoryPoint {
  std::int64_t unix_ns = 0;
  double bytes = 0;
};

struct ProfiledMemory {
  std::string worker;
  std::int32_t device = -1;  // -1: the host
  double peak_bytes = 0;
  std::int64_t peak_step = -1;
  double at_end_bytes = 0;
  std::vector<MemoryPoint> points;
};

struct FindingNumber {
  std::string quantity;
  double value = 0;
  double threshold = 0;
  std::string worker;
  std::string metric;
  std::int64_t step = -1;
};

// A rule over the whole run, as it is judged anew.
struct JudgedRule {
  enum class Status : std::uint8_t { kFired, kOk, kNotApplicable, kInsufficientData, kError };
  std::string rule;
  std::string summary;
  Status status = Status::kOk;
  std::string message;
  std::string advice;
  std::optional<double> step_share;
  std::optional<Gain> gain;
  std::string explained_by;  // another rule, whose finding this one follows from
  std::vector<FindingNumber> evidence;
  std::map<std::string, std::string> parameters;
  std::uint64_t judgements = 0;  // steps and windows that had what it judges
  std::uint64_t firings = 0;     // of those in which it fired, above a note
  std::uint64_t episodes = 0;    // times that it began to
};

// What the profiling itself cost.
struct ProfileCost {
  std::optional<double> capture_share;
  std::optional<double> capture_budget;
  std::optional<double> sampler_core_share;  // of one processor
  std::size_t window_steps = 0;              // whose operators were recorded
  std::optional<double> window_slowdown;     // these steps over their neighbours; 1: none
};

struct ComparedNumber {
  std::string what;
  std::string unit;
  double here = 0;
  double there = 0;
};

struct ProfileComparison {
  std::string run;
  std::vector<ComparedNumber> rows;
};

struct ProfileReport {
  ProfiledRun run;
  ProfileVerdict verdict;
  ProfiledSteps steps;
  std::vector<ProfiledWorker> workers;
  ProfileTimeline timeline;
  std::vector<UsageRow> usage;
  std::optional<ProfiledOperators> operators;
  std::optional<ProfiledOperators> stacks;
  std::vector<ProfiledMemory> memory;
  std::vector<JudgedRule> rules;  // findings first, by gain
  ProfileCost cost;
  std::optional<ProfileComparison> comparison;
};

}  // namespace trainwarden::views
