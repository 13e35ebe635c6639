#include "cli/train_loop.h"

#include <chrono>
#include <cstdio>

#include "cli/capture.h"
#include "cli/setup.h"
#include "training/gradients.h"
#include "training/lamb.h"

namespace bert {
namespace {

namespace fs = std::filesystem;
using trainwarden::Mode;

constexpr std::int64_t kStepsBetweenLines = 20;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

TrainLoop::TrainLoop(const TrainOptions& options, Task& task, at::Device device, std::int64_t evaluation_interval)
    : options_(options),
      task_(task),
      device_(device),
      precision_(precision_from_name(options.precision)),
      evaluation_interval_(evaluation_interval),
      order_(order_options()),
      state_{.model = task.model(),
             .optimizer = make_optimizer(options, named_parameters(task.model())),
             .scaler = {},
             .progress = {}} {
  check_precision(device_, precision_);
  if (precision_ == at::kHalf) state_.scaler.emplace();
  Progress& progress = state_.progress;
  progress.total_steps = options.max_steps > 0 ? options.max_steps : options.epochs * steps_in_epoch();
  schedule_ = {.peak = options.learning_rate,
               .warmup_steps = warmup_steps(options.warmup, progress.total_steps),
               .total_steps = progress.total_steps,
               .decay = decay_from_name(options.decay)};
  schedule_.check();
  const std::string described = describe(options_, task_.identity());
  resumed_ = restore_newest(state_, checkpoint_folder(), described);
  hook_ = open_hook(options_, task_.config(), progress);
  watcher_.emplace(trainwarden::torch::watch(*hook_, task_.model(), {.prefix = {}, .activations = false}));
  watcher_->on_checkpoint([this, described](const fs::path& file) {
    save_for_python(to_checkpoint(state_, described), file);
  });
}

TrainOutcome TrainLoop::run() {
  const Progress& progress = state_.progress;
  std::printf("%s, %ld steps of %ld on %s\n", task_.summary().c_str(), progress.total_steps,
              options_.batch_size * options_.accumulate, device_.str().c_str());
  if (!resumed_) evaluate();
  const auto begin = std::chrono::steady_clock::now();
  const std::int64_t first = progress.steps;
  while (progress.steps < progress.total_steps && !stop_reason_) {
    step();
    if (is_time_for_checkpoint()) save();
    if (is_time_for_evaluation() && progress.steps < progress.total_steps && !stop_reason_) evaluate();
  }
  TrainOutcome outcome;
  outcome.seconds = seconds_since(begin);
  outcome.steps = progress.steps;
  outcome.examples = (progress.steps - first) * options_.batch_size * options_.accumulate;
  outcome.resumed = resumed_;
  outcome.stop_reason = stop_reason_.value_or("");
  if (stop_reason_ && options_.checkpoint_interval > 0) save();  // so that it can go on from here
  evaluate(/*at_end=*/true);
  if (stop_reason_) std::printf("stopped after step %ld: %s\n", progress.steps, stop_reason_->c_str());
  return outcome;
}

BatchOrderOptions TrainLoop::order_options() const {
  return {.examples = task_.example_count(), .batch = options_.batch_size, .seed = options_.seed};
}

std::int64_t TrainLoop::steps_in_epoch() const {
  return (order_.steps_in_epoch() + options_.accumulate - 1) / options_.accumulate;
}

fs::path TrainLoop::checkpoint_folder() const {
  return checkpoint_folder_of_job().value_or(options_.out / "checkpoints");
}

// Gradients of all batches of a step, summed; the mean of their losses.
at::Tensor TrainLoop::forward_and_backward() {
  at::Tensor sum;
  for (std::int64_t part = 0; part < options_.accumulate; ++part) {
    const Batch batch = order_.batch(state_.progress.steps * options_.accumulate + part);
    at::Tensor loss;
    {
      const AutocastScope autocast(device_.type(), precision_);
      loss = task_.loss(batch, static_cast<double>(batch.real * options_.accumulate));
    }
    (state_.scaler ? state_.scaler->scaled(loss) : loss).backward();
    sum = sum.defined() ? sum + loss.detach() : loss.detach();
  }
  return sum;
}

void TrainLoop::step() {
  state_.optimizer->zero_grad();
  const at::Tensor loss = watcher_->loss(task_.loss_name(), forward_and_backward());
  const double unscale = state_.scaler ? state_.scaler->factor() : 1.0;
  const Clipping clip = clipping(gradient_norm(named_parameters(state_.model)) * unscale, options_.max_gradient_norm);
  const double rate = schedule_.learning_rate(state_.progress.steps);
  if (clip.finite || !state_.scaler) state_.optimizer->step(rate, clip.factor * unscale);
  if (state_.scaler) state_.scaler->update(clip.finite);
  save_signal(*hook_, "trainwarden/learning_rate/0", rate);
  save_signal(*hook_, "trainwarden/clip/norm", clip.norm);
  save_trust();
  tell_step(loss, rate);
  ++state_.progress.steps;  // so that a state that is saved at the step's end has it
  const trainwarden::StepEnd end = watcher_->end_step();
  if (end.stop_requested) {
    stop_reason_ = std::string(end.stop_reason);
  } else if (options_.step_threshold > 0 && state_.progress.steps >= options_.step_threshold) {
    stop_reason_ = "the threshold of " + std::to_string(options_.step_threshold) + " steps is reached";
  }
}

void TrainLoop::save_trust() {
  const auto* lamb = dynamic_cast<const Lamb*>(state_.optimizer.get());
  if (lamb == nullptr || !hook_->wants("trust/ratio")) return;
  for (const LayerTrust& layer : lamb->trust()) hook_->save_scalar("trust/" + layer.name, layer.ratio);
}

void TrainLoop::tell_step(const at::Tensor& loss, double rate) const {
  const Progress& progress = state_.progress;
  if (progress.steps % kStepsBetweenLines != 0 && progress.steps + 1 != progress.total_steps) return;
  std::printf("step %6ld of %ld  loss %.4f  learning rate %.3g\n", progress.steps, progress.total_steps,
              loss.item<double>(), rate);
}

std::int64_t TrainLoop::steps_between_evaluations() const {
  return evaluation_interval_ > 0 ? evaluation_interval_ : steps_in_epoch();
}

std::int64_t TrainLoop::evaluation_count() const {
  return 1 + (state_.progress.total_steps - 1) / steps_between_evaluations();
}

bool TrainLoop::is_time_for_evaluation() const {
  return state_.progress.steps % steps_between_evaluations() == 0;
}

bool TrainLoop::is_time_for_checkpoint() const {
  return options_.checkpoint_interval > 0 && state_.progress.steps % options_.checkpoint_interval == 0;
}

void TrainLoop::save() {
  save_checkpoint(to_checkpoint(state_, describe(options_, task_.identity())), checkpoint_folder());
}

// A step of mode eval.
void TrainLoop::evaluate(bool at_end) {
  watcher_->set_mode(Mode::kEval);
  const std::string found = at_end ? task_.evaluate_at_end(*hook_) : task_.evaluate(*hook_);
  watcher_->end_step();
  watcher_->set_mode(Mode::kTrain);
  ++state_.progress.evaluations;
  std::printf("after step %6ld  %s\n", state_.progress.steps, found.c_str());
  if (const std::string reason = task_.reason_to_stop(); !at_end && !reason.empty()) stop_reason_ = reason;
}

}  // namespace bert
