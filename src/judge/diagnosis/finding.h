// CauseFinding: a cause that the evidence speaks for, and how sure that is. Case: all that a detector looks at.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "judge/diagnosis/history.h"
#include "judge/diagnosis/symptoms.h"

namespace trainwarden::diagnosis {

struct CauseFinding {
  std::string cause;                  // its name in the catalogue (causes.h)
  double confidence = 0;              // in [0, 1]: how much it weighs; of a Diagnosis, how sure it is: of those that
                                      // say 0.9, nine in ten are right
  std::string statement;              // one sentence, with what is special here; without a full stop at the end
  std::vector<std::string> evidence;  // numbers that speak for it, the strongest first
  std::vector<std::string> against;
  std::int64_t step = 0;   // the train step from which on it could be known
  std::string place = {};  // where in the user's source: "train.py:42"
};

struct Case {
  const TrainingHistory& history;
  const Symptoms& symptoms;

  const Structure& structure() const { return history.structure; }
  const std::vector<Snapshot>& snapshots() const { return history.snapshots; }
  // "train.py:42", or nothing.
  std::string place(std::string_view what) const;
  std::vector<std::string> course() const;  // how the loss went, as lines of evidence
  bool has_batch_norm() const;
  bool reconstructs() const;  // are its targets its inputs?
  bool is_ill() const;        // the training does not do what it should, whatever the cause
  // Is it a matrix or a kernel that maps activations, not a table or a scale?
  bool is_map(const Parameter& parameter) const;
  std::string kind_of_owner(const Parameter& parameter) const;  // of the module that has it; empty where none is known
  // How many times too large the weights of matrices and kernels are, by the median; NaN where there are none.
  double weight_gain(const Snapshot& snapshot) const;
  std::string kind_of_optimizer() const;  // of the first one, or words for what is not known
  bool is_adaptive() const;               // is a step of it as large as the rate, whatever the gradients are?
  const Graph* graph() const { return history.graphs.empty() ? nullptr : &history.graphs.front(); }
};

using Findings = std::vector<CauseFinding>;
// Each adds what it finds. One file a class of faults.
void look_at_wiring(const Case& seen, Findings& findings);
void look_at_cuts(const Case& seen, Findings& findings);  // parts that no gradient reaches
void look_at_rates(const Case& seen, Findings& findings);
void look_at_rounding(const Case& seen, Findings& findings);
void look_at_start(const Case& seen, Findings& findings);      // initialisation, activations
void look_at_graph(const Case& seen, Findings& findings);      // of the loss, as a whole
void look_at_axes(const Case& seen, Findings& findings);       // of softmax and sums, of time
void look_at_masks(const Case& seen, Findings& findings);      // of attention
void look_at_signs(const Case& seen, Findings& findings);      // of what a loss is made of
void look_at_broadcast(const Case& seen, Findings& findings);  // shapes that meet in a loss
void look_at_loss(const Case& seen, Findings& findings);
void look_at_class_weights(const Case& seen, Findings& findings);
void look_at_padding(const Case& seen, Findings& findings);
void look_at_inputs(const Case& seen, Findings& findings);
void look_at_evaluation_inputs(const Case& seen, Findings& findings);
void look_at_data(const Case& seen, Findings& findings);          // what it is to learn of them
void look_at_target_means(const Case& seen, Findings& findings);  // features that are made of targets
void look_at_repetition(const Case& seen, Findings& findings);    // of batches and random numbers
void look_at_alignment(const Case& seen, Findings& findings);
void look_at_pairs(const Case& seen, Findings& findings);  // contrastive
void look_at_overlap(const Case& seen, Findings& findings);
void look_at_modes(const Case& seen, Findings& findings);
void look_at_generalisation(const Case& seen, Findings& findings);
void look_at_new_samples(const Case& seen, Findings& findings);  // and what the evaluation makes of others
void look_at_collapse(const Case& seen, Findings& findings);
void look_at_state(const Case& seen, Findings& findings);
void look_at_machine(const Case& seen, Findings& findings);
void look_at_rules(const Case& seen, Findings& findings);          // what rules have found
void look_at_open_symptoms(const Case& seen, Findings& findings);  // last: what no other has explained
// Is the loss of samples that were never seen before far below that of a constant answer?
bool learns_new_samples(const Case& seen);
// Of the looked-at samples of evaluations those that were looked at in the training, too.
struct KnownSamples {
  std::size_t trained = 0;    // different ones of the training
  std::size_t evaluated = 0;  // of the last evaluation
  std::size_t shared = 0;     // of all evaluations
};
KnownSamples known_samples(const Case& seen);
// Of the samples of late examinations the share that earlier ones had seen: how much of the training data is known.
double samples_seen_again(const Case& seen);
// Those that found more than a note, each once.
std::vector<std::string> alarming_rules(const TrainingHistory& history);

}  // namespace trainwarden::diagnosis
