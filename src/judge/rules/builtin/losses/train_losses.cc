#include "judge/rules/builtin/losses/train_losses.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace trainwarden::rules {
namespace {

constexpr double kRestartFactor = 2;  // a rise that is a restart, at least
constexpr double kRaisedFactor = 1.5;
constexpr double kKnownLevel = 1.05;  // and up to this many times the highest rate so far

}  // namespace

Verdict judge_train_losses(const TensorSelection& selection, TrainingFacts& facts, const StepWindow& window,
                           const std::function<Verdict(const StepReductions& losses)>& judge) {
  if (window.mode() == Mode::kEval || window.mode() == Mode::kPredict) {
    return Verdict::not_applicable(fmt::format("a {} step; the losses of train steps are judged", name(window.mode())));
  }
  const Status status = facts.update(window);
  if (!status.ok()) return Verdict::insufficient_data(fmt::format("signals could not be read: {}", status.message()));
  const StepReductions losses = read_reductions(selection, Reduction::kMean, false, window);
  if (losses.tensors.empty()) return nothing_to_judge(losses.gaps, "loss", window);
  return judge(losses);
}

void RestartWatch::next_step(const TrainingFacts& facts) {
  steps_since_ = std::min(steps_since_ + 1, kNever);
  const double rate = facts.largest_learning_rate().value_or(0);
  if (!(rate > 0)) return;
  if (last_ > 0 && rate >= kRestartFactor * last_ && rate <= kKnownLevel * highest_) steps_since_ = 0;
  last_ = rate;
  lowest_ = rate > highest_ || lowest_ == 0 ? rate : std::min(lowest_, rate);
  is_raised_ = rate >= kRaisedFactor * lowest_ && rate <= kKnownLevel * highest_;
  highest_ = std::max(highest_, rate);
}

}  // namespace trainwarden::rules
