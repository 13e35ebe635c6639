// What would tell two causes apart that the same evidence speaks for: one measurement that their user can make.
#include <algorithm>
#include <array>

#include "judge/diagnosis/causes.h"

namespace trainwarden::diagnosis {
namespace {

struct Apart {
  std::string_view one, other, measurement;
};

constexpr std::array kApart = {
    Apart{"labels_misaligned", "label_noise",
          "Shuffle the labels on purpose for one short run: if the loss is no worse, labels and inputs never belonged "
          "together; if it is, only some labels are wrong."},
    Apart{"labels_misaligned", "inputs_scrambled",
          "Draw ten samples as the model gets them, with their labels: either the labels are those of others, or the "
          "inputs are no longer what they were."},
    Apart{"labels_misaligned", "attention_mask",
          "Change an input token that decides the answer: if the output stays the same, the attention does not see it; "
          "if "
          "it changes, look at the labels."},
    Apart{"labels_misaligned", "learning_rate_too_low",
          "Train on one batch alone for 200 steps: if its loss does not fall either, the rate is too low; if it does, "
          "look "
          "at the labels."},
    Apart{"labels_misaligned", "overfitting",
          "Evaluate samples of the training by the evaluation's own code: if they are right there, the model overfits; "
          "if "
          "not, the two prepare their data or labels differently."},
    Apart{"inputs_scrambled", "label_noise",
          "Draw ten samples as the model gets them, with their labels, and count how many you would have labelled so."},
    Apart{"learning_rate_too_high", "initialisation_scale",
          "Compute the loss before the first step: far above that of a constant answer it is the initialisation; if it "
          "jumps only after the first steps, it is the rate."},
    Apart{"learning_rate_too_high", "exploding_gradients",
          "Clip the norm of the gradients to 1 for 100 steps: if the loss falls then, gradients explode; if it still "
          "jumps, the rate is too high."},
    Apart{"learning_rate_too_high", "momentum_too_high",
          "Set the momentum to 0 for 100 steps: if the loss still jumps, it is the rate."},
    Apart{"learning_rate_too_high", "input_scale",
          "Standardise the inputs and keep the rate: if the loss falls then, the rate was right."},
    Apart{"learning_rate_too_high", "target_scale",
          "Standardise the targets and keep the rate: if the loss falls then, the rate was right."},
    Apart{"learning_rate_too_high", "loss_reduction",
          "Use reduction=\"mean\" and keep the rate: if the loss falls then, the rate was right."},
    Apart{"learning_rate_too_high", "numerically_unstable_operation",
          "Divide the rate by 100: if the loss becomes NaN all the same, an operation is undefined for its input."},
    Apart{"learning_rate_too_high", "bad_samples",
          "Look at the largest value of each batch: a jump of the loss with an ordinary batch is the rate's."},
    Apart{"learning_rate_too_high", "dead_relu",
          "Count dead units before the first step: those that die after it are the rate's."},
    Apart{"learning_rate_too_low", "underfitting",
          "Multiply the rate by 10 for 200 steps: if the loss falls faster, it was the rate."},
    Apart{"learning_rate_too_low", "no_learning",
          "Multiply the rate by 10 for 200 steps: if the loss falls, it was the rate."},
    Apart{"learning_rate_too_low", "vanishing_gradients",
          "Compare the gradients of the first and the last layer: where they are alike, it is the rate."},
    Apart{"learning_rate_too_low", "gradient_clipping_too_strong",
          "Switch clipping off for 200 steps: if the loss falls, it was the clipping."},
    Apart{"learning_rate_too_low", "weight_decay_too_strong",
          "Set weight_decay to 0 for 200 steps: if the loss falls further, it was the decay."},
    Apart{"learning_rate_too_low", "learning_rate_schedule",
          "Keep the rate constant for 200 steps: if the loss falls further, it was the schedule."},
    Apart{"dropout_too_strong", "underfitting",
          "Set p to 0 for 200 steps: if the loss falls further, it was the dropout."},
    Apart{"overfitting", "evaluation_preprocessing",
          "Evaluate samples of the training by the evaluation's own code: if they are right there, the model overfits; "
          "if "
          "not, the two prepare their data differently."},
    Apart{"overfitting", "training_mode_in_evaluation",
          "Evaluate the same samples twice: if the answers differ, the model was in training mode."},
    Apart{"overfitting", "same_batch_repeated",
          "Print what indices the loader gives at two steps: if they are the same, it is the loader."},
    Apart{"overfitting", "overtraining",
          "Stop at the step where the evaluation was best, and compare what is left of the gap."},
    Apart{"class_imbalance", "predicts_one_class",
          "Train on batches with as many samples of each class: if the model still gives one class, it is not the "
          "imbalance."},
    Apart{"class_imbalance", "label_noise",
          "Look at ten samples of the rare class that the model gets wrong: their labels are right, or they are not."},
    Apart{"target_leak", "too_good_to_be_true",
          "Leave out the feature that tells most, and train again: what leaks is gone with it."},
    Apart{
        "representation_collapse", "predicts_one_class",
        "Compare the outputs before the last layer for two samples: if they are the same there, the representation has "
        "collapsed."},
    Apart{"saturated_activations", "vanishing_gradients",
          "Count units beyond 0.99 before the first step: if there are few, it is the depth."},
    Apart{"frozen_parameters", "graph_cut",
          "List the parameters with requires_grad=True whose .grad is None after backward(): those are cut off."},
    Apart{"memory_leak", "slow_data_loading",
          "Train 100 steps on one batch kept in memory: if it still slows down, memory is what it lacks."}};

}  // namespace

std::string_view what_tells_apart(std::string_view one, std::string_view other) {
  const auto found = std::find_if(kApart.begin(), kApart.end(), [&](const Apart& each) {
    return (each.one == one && each.other == other) || (each.one == other && each.other == one);
  });
  return found == kApart.end() ? std::string_view() : found->measurement;
}

}  // namespace trainwarden::diagnosis
