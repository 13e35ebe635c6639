#include "cli/train_loop.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "cli/capture.h"
#include "cli/setup.h"
#include "parallel/replicas.h"
#include "training/determinism.h"
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

void add_ranks(nlohmann::ordered_json& result, const TrainOutcome& outcome) {
  if (outcome.ranks == 1) return;
  const Overlap& overlap = outcome.overlap;
  result["ranks"] = outcome.ranks;
  result["gradients"] = {{"bytes", overlap.bytes},
                         {"wire_bytes", overlap.wire_bytes},
                         {"travelled_seconds", static_cast<double>(overlap.travelled_ns) * 1e-9},
                         {"hidden_seconds", static_cast<double>(overlap.hidden_ns) * 1e-9}};
}

TrainLoop::TrainLoop(const TrainOptions& options, Task& task, ThisRank& rank, std::int64_t evaluation_interval)
    : options_(with_global_batch(options, rank.group().size())),
      task_(task),
      device_(rank.device()),
      group_(rank.group()),
      precision_(precision_from_name(options.precision)),
      evaluation_interval_(evaluation_interval),
      order_(order_options()),
      state_{.model = task.model(),
             .optimizer = make_optimizer(options, named_parameters(task.model())),
             .scaler = {},
             .progress = {}},
      described_(describe(options_, task.identity())) {
  check_precision(device_, precision_);
  if (precision_ == at::kHalf) state_.scaler.emplace();
  Progress& progress = state_.progress;
  progress.total_steps = options.max_steps > 0 ? options.max_steps : options.epochs * order_.steps_in_epoch();
  schedule_ = {.peak = options.learning_rate,
               .warmup_steps = warmup_steps(options.warmup, progress.total_steps),
               .total_steps = progress.total_steps,
               .decay = decay_from_name(options.decay)};
  schedule_.check();
  resumed_ = restore_newest(state_, checkpoint_folder(), described_, group_);
  if (group_.size() > 1) sync_.emplace(group_, state_.model, options_.ranks);
  hook_ = open_hook(options_, task_.config(), progress, group_);
  watcher_.emplace(trainwarden::torch::watch(*hook_, task_.model(), {.prefix = {}, .activations = false}));
  watcher_->set_mode(Mode::kTrain);
  offer_state();
}

TrainOutcome TrainLoop::run() {
  const Progress& progress = state_.progress;
  std::printf("%s, %ld steps of %ld on %s, %d rank%s\n", task_.summary().c_str(), progress.total_steps,
              options_.global_batch, device_.str().c_str(), group_.size(), group_.size() == 1 ? "" : "s");
  const std::int64_t first = progress.steps;
  TrainOutcome outcome;
  try {
    if (!resumed_) evaluate();
    const auto begin = std::chrono::steady_clock::now();
    train();
    outcome.seconds = seconds_since(begin);
    outcome.stop_reason = stop_reason_.value_or("");  // what is asked while the end is judged stops nothing
    if (stop_reason_ && options_.checkpoint_interval > 0) save();  // so that it can go on from here
    evaluate(/*at_end=*/true);
  } catch (const PeerLost& error) {
    tell_lost(error);
    throw;
  }
  outcome.steps = progress.steps;
  outcome.examples = (progress.steps - first) * options_.global_batch;
  outcome.resumed = resumed_;
  outcome.ranks = group_.size();
  if (sync_) outcome.overlap = sync_->all_steps();
  if (!outcome.stop_reason.empty())
    std::printf("stopped after step %ld: %s\n", progress.steps, outcome.stop_reason.c_str());
  return outcome;
}

void TrainLoop::train() {
  const Progress& progress = state_.progress;
  while (progress.steps < progress.total_steps && !stop_reason_) {
    step();
    if (is_time_for_checkpoint()) save();
    if (is_time_for_evaluation() && progress.steps < progress.total_steps && !stop_reason_) evaluate();
  }
}

BatchOrderOptions TrainLoop::order_options() const {
  return {.examples = task_.example_count(),
          .global_batch = options_.global_batch,
          .ranks = group_.size(),
          .rank = group_.rank(),
          .seed = options_.seed};
}

fs::path TrainLoop::checkpoint_folder() const {
  return checkpoint_folder_of_job().value_or(options_.out / "checkpoints");
}

// To whoever asks for it: the first rank saves what all have.
void TrainLoop::offer_state() {
  if (group_.rank() > 0) return hook_->offer_checkpoints();
  watcher_->on_checkpoint([this](const fs::path& file) { save_for_python(to_checkpoint(state_, described_), file); });
}

void TrainLoop::step() {
  seed_step(options_.seed, state_.progress.steps, group_.rank());
  state_.optimizer->zero_grad();
  phases_.ended("zero_grad");
  const at::Tensor loss = share(forward_and_backward());
  watcher_->loss(task_.loss_name(), loss);
  phases_.ended("capture");
  const double rate = schedule_.learning_rate(state_.progress.steps);
  update(rate);
  tell_step(loss, rate);
  ++state_.progress.steps;  // so that a state that is saved at the step's end has it
  if (!stop_reason_ && options_.step_threshold > 0 && state_.progress.steps >= options_.step_threshold) {
    stop_reason_ = "the threshold of " + std::to_string(options_.step_threshold) + " steps is reached";
  }
  if (is_time_for_comparison()) compare_ranks();
  phases_.save(*hook_);
  end_step();
  phases_.ended("capture");
}

// Gradients of this rank's part of the step's batch, summed, and sent while they are made; their part of the mean loss,
// times the ranks.
at::Tensor TrainLoop::forward_and_backward() {
  const Batch batch = order_.batch(state_.progress.steps);
  const std::vector<Batch> parts = cut_real(batch, options_.batch_size);
  const double divisor = static_cast<double>(batch.real_of_all_ranks) / group_.size();
  at::Tensor sum = at::zeros({}, at::TensorOptions(device_).dtype(at::kFloat));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::optional<Reducer::LocalScope> scope;
    if (sync_ && i + 1 < parts.size()) scope.emplace(sync_->reducer());
    at::Tensor loss;
    {
      const AutocastScope autocast(device_.type(), precision_);
      loss = task_.loss(parts[i], divisor);
    }
    phases_.ended("forward");
    (state_.scaler ? state_.scaler->scaled(loss) : loss).backward();
    phases_.ended("backward");
    sum = sum + loss.detach();
  }
  if (parts.empty()) sync_->loss_of_nothing().backward();  // of a last, small batch this rank has none
  phases_.ended("backward");
  if (sync_) sync_->backward_ended();
  return sum;
}

// The mean loss of all ranks' parts, and means of their gradients. Where one was asked to stop, all know it then.
at::Tensor TrainLoop::share(const at::Tensor& loss) {
  if (!sync_) return loss;
  const at::Tensor asked = at::full({}, asked_to_stop_ ? 1.0 : 0.0, loss.options().dtype(at::kDouble));
  const at::Tensor shared = at::stack({loss.to(at::kDouble) / group_.size(), asked});
  Pending pending = group_.sum(shared);
  sync_->finish();
  pending.wait();
  if (shared[1].item<double>() > 0) stop_reason_ = asked_to_stop_.value_or("another rank was asked to stop");
  phases_.ended("gradient_sync");
  return shared[0].to(at::kFloat);
}

void TrainLoop::update(double rate) {
  const double unscale = state_.scaler ? state_.scaler->factor() : 1.0;
  const Clipping clip = clipping(gradient_norm(named_parameters(state_.model)) * unscale, options_.max_gradient_norm);
  phases_.ended("clip");
  if (clip.finite || !state_.scaler) state_.optimizer->step(rate, clip.factor * unscale);
  if (state_.scaler) state_.scaler->update(clip.finite);
  phases_.ended("optimizer");
  save_signal(*hook_, "trainwarden/learning_rate/0", rate);
  save_signal(*hook_, "trainwarden/clip/norm", clip.norm);
  save_trust();
  if (sync_) sync_->save(*hook_);
  phases_.ended("capture");
}

void TrainLoop::end_step() {
  const trainwarden::StepEnd end = watcher_->end_step();
  if (end.stop_requested) asked_to_stop_ = std::string(end.stop_reason);
  if (!sync_ && !stop_reason_) stop_reason_ = asked_to_stop_;  // ranks agree on it in share()
  if (!end.checkpoint_requested || group_.rank() == 0) return;
  if (const auto request = hook_->take_checkpoint_request()) hook_->answer_checkpoint(*request, fs::path());
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
  return evaluation_interval_ > 0 ? evaluation_interval_ : order_.steps_in_epoch();
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

// What is saved or judged is to be what all ranks have.
bool TrainLoop::is_time_for_comparison() const {
  if (group_.size() == 1) return false;
  const std::int64_t interval = options_.ranks.comparison_interval;
  const bool is_time = interval > 0 && state_.progress.steps % interval == 0;
  const bool is_last = state_.progress.steps == state_.progress.total_steps || stop_reason_;
  return is_time || is_last || is_time_for_checkpoint() || is_time_for_evaluation();
}

// Where they differ, the hook's step ends with what was found.
void TrainLoop::compare_ranks() {
  const std::vector<int> different = ranks_that_differ(group_, named_parameters(state_.model));
  const bool differs = std::find(different.begin(), different.end(), group_.rank()) != different.end();
  save_signal(*hook_, "trainwarden/replica_differs", differs ? 1 : 0);
  phases_.ended("gradient_sync");
  if (different.empty()) return;
  hook_->end_step();
  std::string ranks;
  for (const int rank : different) ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
  throw ReplicasDiffer("After step " + std::to_string(state_.progress.steps) +
                       " these ranks have other weights than rank 0, by bits: " + ranks +
                       ". Memory or a network may be faulty. Start again from the last checkpoint.");
}

void TrainLoop::save() {
  if (group_.rank() == 0) save_checkpoint(to_checkpoint(state_, described_), checkpoint_folder());
  phases_.ended("checkpoint");
}

// A step of mode eval, on all ranks, so that their steps stay the same.
void TrainLoop::evaluate(bool at_end) {
  watcher_->set_mode(Mode::kEval);
  trainwarden::Hook& hook = group_.rank() == 0 ? *hook_ : *silent_;
  const std::string found = at_end ? task_.evaluate_at_end(hook) : task_.evaluate(hook);
  end_step();
  watcher_->set_mode(Mode::kTrain);
  ++state_.progress.evaluations;
  phases_.ended("evaluation");
  std::printf("after step %6ld  %s\n", state_.progress.steps, found.c_str());
  if (const std::string reason = task_.reason_to_stop(); !at_end && !reason.empty()) stop_reason_ = reason;
}

// The step that could not be made ends with it.
void TrainLoop::tell_lost(const PeerLost& error) {
  save_text(*hook_, "trainwarden/rank_lost", error.what());
  hook_->end_step();
  const trainwarden::Status written = hook_->flush(std::chrono::seconds(5));
  if (!written.ok())
    std::fprintf(stderr, "the run does not say that a rank is lost: %s\n", written.to_string().c_str());
}

}  // namespace bert
