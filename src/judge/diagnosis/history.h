// TrainingHistory: what the examinations of a training (docs/format/examination.md) have told so far.
//
// Fed step by step, in order; bounded whatever it is fed. A run is untrusted: what is not as the format says is counted
// in `unreadable` and left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "judge/diagnosis/bad_samples.h"
#include "judge/diagnosis/printed_metrics.h"
#include "trainwarden/status.h"

namespace trainwarden::diagnosis {

using Values = std::vector<double>;

// A number over train steps; steps rise.
struct StepNumbers {
  std::vector<std::int64_t> steps;
  Values values;
  std::size_t size() const { return values.size(); }
  bool empty() const { return values.empty(); }
};

// Signals of a run that are sums over all its steps so far.
inline constexpr std::string_view kWallSeconds = "phase_total/wall", kDataWaitSeconds = "phase_total/data_wait",
                                  kDataStartSeconds = "phase_total/data_start", kCountedSteps = "phase_total/steps";

// One full examination of a train step: vectors by name.
struct Snapshot {
  std::int64_t step = 0;
  std::map<std::string, Values, std::less<>> values;

  const Values* find(std::string_view name) const;
  // The element at this place; NaN when it is not there.
  double at(std::string_view name, std::size_t index = 0) const;
};

// The two numbers of an evaluation by which it is judged; NaN where they are not known.
struct EvaluationScore {
  double loss = std::numeric_limits<double>::quiet_NaN();
  double accuracy = std::numeric_limits<double>::quiet_NaN();

  bool is_known() const;
};

// What one stretch of evaluation gave: what was measured, or where too little was, what the program has printed.
struct Evaluated : EvaluationScore {
  std::int64_t after_step = 0;
  std::int64_t batches = 0;  // that were looked at; 0: all that is known is what the program has printed
  EvaluationScore measured, printed;
  Snapshot numbers;
};

// What a program has printed under one name.
struct PrintedSeries {
  std::string name;
  PrintedKind kind = PrintedKind::kLoss;
  bool is_of_training = false;
  bool is_called_so = false;  // of an evaluation
  std::string metric;         // without what it is of
  StepNumbers numbers;
};

struct Parameter {
  std::string name;  // empty: of no model
  std::vector<std::int64_t> shape;
  std::string dtype;
  bool trainable = true;
  std::vector<std::int64_t> optimizers;  // by number, those that have it
  double fan_in() const;                 // inputs of each output, of a matrix or kernel
  std::int64_t elements() const;
};

struct Module {
  std::string name;
  std::string kind;
  std::string place;  // in the user's source; empty for one of the framework
  bool is_leaf = false;
  std::map<std::string, double, std::less<>> settings;
};

struct OptimizerGroup {
  std::int64_t parameters = 0;
  std::map<std::string, double, std::less<>> settings;  // a pair as "betas/0", "betas/1"
};
struct Optimizer {
  std::string kind;
  std::vector<OptimizerGroup> groups;
  bool has_stepped = true;  // so far, as of the last structure
};

// What a loss function compared.
struct Compared {
  std::string function;
  std::vector<std::int64_t> predicted, target;
  std::string predicted_dtype, target_dtype;
};

struct Unregistered {
  std::string module, attribute, kind;
  std::int64_t count = 0;
};

// A state that the program loaded into a module: how many names of it the module has, and which were not there.
struct LoadedState {
  std::string kind;
  std::int64_t wanted = 0, missing = 0, unexpected = 0;
  std::int64_t itself = 0;      // parameters that the state is, not a copy of them
  std::int64_t statistics = 0;  // of what was not in it, running statistics of batch norm
};

// States of optimizers in the checkpoints that were read before the first step, and how many the program gave to one.
struct ResumedOptimizers {
  std::int64_t found = 0, given = 0;
  bool fits = false;  // one of them is that of an optimizer of this training, by its groups and rates
};

// What a module gets that is a view of another one's output, with axes mixed up.
struct Exchange {
  std::string from, to;  // modules; `from` is "" where it is no module's output
  std::string what;      // "samples" or "axes"
  std::vector<std::int64_t> given, taken;
};

// What the program is made of.
struct Structure {
  bool is_known = false;
  std::vector<Module> modules;
  std::vector<Parameter> parameters;  // in the order of the vectors of a Snapshot that have one element for each
  std::vector<Unregistered> unregistered;
  std::vector<Optimizer> optimizers;
  std::vector<Compared> compared;
  std::vector<LoadedState> loaded;
  ResumedOptimizers resumed;
  std::vector<Exchange> exchanged;
  std::vector<std::string> layers;            // in the order of the rows of "layers"
  std::map<std::string, std::string> places;  // "backward" → "train.py:42"
  std::int64_t foreign = 0;                   // parameters of optimizers that are in no model

  const Module* module(std::string_view name) const;
  bool compares_squares() const;  // is the loss a mean squared error?
};

// The operators between parameters and loss; the first is the loss.
struct GraphNode {
  std::string operation;
  std::vector<std::size_t> from;
  std::int64_t number = -1;  // of a parameter
  std::map<std::string, double, std::less<>> settings;
  std::vector<std::int64_t> sizes;
};
struct Graph {
  bool is_complete = false;
  std::vector<GraphNode> nodes;
};

// How often something was seen. Steps that were only counted are not in it.
struct Counts {
  double forward = 0, backward = 0, step = 0, zero = 0;
  double no_grad = 0, no_grad_training = 0, grad_in_eval = 0, clip = 0, optimizers_made = 0, repeats = 0;
  double no_grad_steps = 0;  // that had calls without gradients in training mode; 0 in runs of older versions
  double train_steps = 0;    // that have ended, also those of which only such calls were seen; the same
  double other_steps = 0;    // of evaluation and prediction: a call without gradients each; the same
};

// What a rule has found, for the diagnosis to weigh.
struct RuleFinding {
  std::string rule;
  std::string cause;  // that the user says it speaks for; empty: that of the rule, if it has one
  std::string message;
  std::int64_t step = 0;
  bool is_note = false;
  double confidence = 1;   // of the verdict, in [0, 1]
  std::string quantity{};  // of its first evidence
};

class TrainingHistory {
 public:
  // Of several trainings that the process makes one after the other, what is known of the current one; best_known() is
  // that, or the one that was looked at most as long as it was looked at more. A training may go on after another one
  // that has interrupted it.
  //
  // One record of the collection `signals`, by the name behind "trainwarden/". Texts and numbers of examinations, and
  // the scalar signals that a diagnosis knows.
  void take_text(std::string_view name, std::string_view text);
  void take_numbers(std::span<const double> numbers, std::int64_t mode_step);
  void take_signal(std::string_view name, double value, std::int64_t mode_step);
  // The loss of a step of a run without examinations, which has nothing else to go by: of training, or of an
  // evaluation. What was told before the first examination is forgotten with it.
  void take_loss(bool is_evaluation, double loss, std::int64_t mode_step);
  // The signal trainwarden/batch/bad_samples of a step.
  void take_bad_samples(std::string_view text, std::int64_t mode_step);
  void take_rule(RuleFinding finding);
  void forget_rules();
  const TrainingHistory& best_known() const;
  // The other one of these two, where it was looked at at all; null otherwise.
  const TrainingHistory* other_known() const;
  // Was it looked at enough to be judged by its course?
  bool is_well_known() const;

  bool is_empty() const { return examinations == 0 && rules.empty(); }

  std::vector<Snapshot> snapshots;  // of full examinations; of very many a part
  std::int64_t fulls = 0;           // all of them
  double outside_changed = 0,
         outside_seen = 0;  // steps before which something else had changed weights, of those compared
  double evaluated_changed = 0, evaluated_seen = 0;  // the same of steps before which there was an evaluation
  std::vector<Evaluated> evaluations;
  std::vector<PrintedSeries> printed;                   // in the order in which the names came
  StepNumbers losses;                                   // of steps that were looked at; of very many a part
  std::optional<double> saved_loss, printed_loss;       // of training, the last that the run has, and the program says
  std::vector<std::pair<std::int64_t, double>> prints;  // fingerprints of batches
  std::vector<double> light_prints;                     // the same, of light looks
  std::vector<std::pair<std::int64_t, double>> memory;  // bytes of the process that are in memory, by step
  std::map<std::string, StepNumbers, std::less<>> signals;
  std::vector<BadBatch> bad_batches;  // in the order of the steps
  Structure structure;
  std::set<std::string, std::less<>> once_stepped;  // parameters that an optimizer had, in a structure before
  std::set<std::string, std::less<>> once_frozen;   // that were frozen then
  std::vector<Graph> graphs;
  Counts counts;                       // of the process
  Counts counts_before;                // when the training was first looked at; of the first one of a process none
  std::optional<Counts> counts_after;  // when another one was; none where none has followed
  std::vector<RuleFinding> rules;
  std::int64_t last_step = -1;
  bool has_ended = true;       // no more comes; who judges while it runs says so
  bool has_seen_start = true;  // its first steps were looked at; of a second training of the process they are not
  std::int64_t examinations = 0;
  std::int64_t unreadable = 0;
  double spent_seconds = 0;

 private:
  void take_printed(const PrintedLine& line);
  bool is_like_ours(double loss);
  void take_printed_evaluation(std::int64_t after_step, const EvaluationScore& printed_score);
  void take_evaluation(Evaluated evaluation);
  void choose_scores();
  void set_aside();
  void begin_training(double training);
  bool resume_training(double training);
  const TrainingHistory* best_former() const;
  std::int64_t span() const;  // train steps from the first loss that is known to the last

  std::vector<std::pair<std::string, std::size_t>> layout_;
  double training_ = 0;
  std::optional<bool> is_printed_loss_like_ours_;          // is it of the size of the training's? Unknown at first
  std::vector<std::shared_ptr<TrainingHistory>> formers_;  // of the trainings before, those that were looked at most
  bool was_resumed_ = false;                               // another training has interrupted it
  bool has_new_structure_ = false;                         // since the last numbers
  Structure older_structure_;                              // the one before that, likewise
  std::size_t older_graphs_ = 0;                           // those that came before the last numbers
};

}  // namespace trainwarden::diagnosis
