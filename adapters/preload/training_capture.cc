// TrainingCapture: steps and modes of a training that does not name them.
#include "training_capture.h"

#include <ATen/core/grad_mode.h>

#include <numeric>
#include <string>

#include "veto.h"

namespace trainwarden::torch {
namespace {

// Of an operator that is heard and neither a layer nor a loss; measured.
constexpr std::chrono::nanoseconds kOperatorCost{200};

}  // namespace

TrainingCapture::TrainingCapture(std::unique_ptr<Hook> hook, KnownOptimizers& optimizers)
    : hook_(std::move(hook)),
      optimizers_(optimizers),
      models_(*hook_, [this](const WatchedRoot& root, std::size_t layer) { return is_captured(root, layer); }),
      losses_(*hook_, [this] { return computes_what_counts(); }),
      functions_(*hook_, [this] { return computes_what_counts(); }),
      signals_(*hook_),
      phases_(std::chrono::steady_clock::now()),
      operators_(*hook_) {
  hook_->set_mode(Mode::kTrain);
  look_for_models();
  if (models_.all_training()) {
    operators_.follow();
    losses_.begin_step();
    functions_.begin_step();
  } else {
    set_mode(Mode::kEval);
  }
}

bool TrainingCapture::computes_what_counts() const {
  return hook_->mode() != Mode::kTrain || at::GradMode::is_enabled();
}

void TrainingCapture::backward_begins(const std::vector<at::Tensor>& losses) {
  signals_.backward_begins();
  losses_.backward_begins(losses);
  phases_.begin(Phase::kBackward, std::chrono::steady_clock::now());
}

void TrainingCapture::gradients_cleared(const ::torch::optim::Optimizer& optimizer) {
  signals_.gradients_cleared();
  optimizers_.parameters_of(optimizer);
  look_for_models();
  phases_.begin(Phase::kZeroGrad, std::chrono::steady_clock::now());
}

void TrainingCapture::step_begins(const ::torch::optim::Optimizer& optimizer, bool computes_gradients) {
  optimizers_.parameters_of(optimizer);
  look_for_models();
  if (optimizers_.cycle().ends_before_step_of(&optimizer)) end_step();
  if (hook_->mode() != Mode::kTrain) set_mode(Mode::kTrain);
  signals_.step_begins(optimizer);
  phases_.begin(Phase::kOptimizer, std::chrono::steady_clock::now());
  gradients_wait_ = computes_gradients;
  if (gradients_wait_) return;
  save_gradients_of(optimizer);
  judge(optimizer);
}

// A step that rules inside the training veto finds no gradients. One that computes them itself is judged at its end.
void TrainingCapture::judge(const ::torch::optim::Optimizer& optimizer) {
  const StepAdvice advice = hook_->judge_step();
  if (advice == StepAdvice::kProceed) return;
  take_gradients_from(optimizer);
  if (advice == StepAdvice::kStop) end_step();
}

void TrainingCapture::step_has_ended(const ::torch::optim::Optimizer& optimizer) {
  ended(Phase::kOptimizer);
  if (std::exchange(gradients_wait_, false)) save_gradients_of(optimizer);
  if (hook_->wants_anything()) {
    models_.for_each([&](WatchedRoot& root) { root.save_optimizer_state(optimizer); });
  }
  optimizers_.cycle().has_stepped(&optimizer);
  optimizers_.forget_dead();
  if (optimizers_.cycle().is_complete()) end_step();
}

void TrainingCapture::training_set(const ::torch::nn::Module& module) {
  if (!models_.has(module)) return;
  const Mode mode = models_.all_training() ? Mode::kTrain : Mode::kEval;
  if (mode != hook_->mode()) set_mode(mode);
}

void TrainingCapture::look_for_models() {
  const std::uint64_t version = ModuleRegistry::instance().version();
  const bool optimizers_changed = optimizers_.changed_since_last_asked();
  if (version == seen_version_ && !optimizers_changed && models_.all_alive()) return;
  const auto begin = std::chrono::steady_clock::now();
  seen_version_ = version;
  for (WatchedRoot* root : models_.update(optimizers_.all_parameters())) begin_step(*root);
  bill(begin);
}

void TrainingCapture::set_mode(Mode mode) {
  settle();
  hook_->set_mode(mode);
  phases_.evaluate(mode != Mode::kTrain, std::chrono::steady_clock::now());
  begin_step();
}

void TrainingCapture::begin_step(WatchedRoot& root) {
  if (hook_->mode() == Mode::kEval) {
    root.begin_step_listening();
  } else {
    root.begin_step();
  }
}

void TrainingCapture::begin_step() {
  eval_start_.reset();
  operators_.follow();
  models_.for_each([this](WatchedRoot& root) { begin_step(root); });
  losses_.begin_step();
  functions_.begin_step();
}

void TrainingCapture::settle() {
  models_.for_each([](WatchedRoot& root) { root.settle(); });
}

void TrainingCapture::end_step() {
  settle();
  if (hook_->wants_anything()) {
    const auto begin = std::chrono::steady_clock::now();
    models_.for_each([](WatchedRoot& root) { root.refresh(); });
    bill(begin);
    models_.for_each([](WatchedRoot& root) { root.save_parameters_and_buffers(); });
  }
  const std::uint64_t heard = count_operators_heard();
  hook_->add_cost((heard - std::exchange(billed_operators_, heard)) * kOperatorCost);
  optimizers_.cycle().begin_step();
  signals_.end_step();
  save_phases();
  take_note(hook_->end_step());
  begin_step();
}

void TrainingCapture::end_eval_step() {
  settle();
  take_note(hook_->end_step());
  operators_.follow();
  models_.for_each([](WatchedRoot& root) { root.begin_next_step(); });
  losses_.begin_step();
  functions_.begin_step();
}

void TrainingCapture::save_phases() {
  const StepPhases::Spent spent = phases_.take(std::chrono::steady_clock::now());
  const std::chrono::nanoseconds wall = std::accumulate(spent.begin(), spent.end(), std::chrono::nanoseconds(0));
  const bool is_first = steps_++ == 0;
  wall_ += wall;
  evaluation_ += spent[static_cast<std::size_t>(Phase::kEvaluation)];
  if (!hook_->wants_anything()) return;
  const auto save = [this](const std::string& name, std::chrono::nanoseconds time) {
    if (time > time.zero()) hook_->save_scalar(name, std::chrono::duration<double>(time).count());
  };
  for (std::size_t i = 0; i < spent.size(); ++i) save("phase/" + std::string(kPhaseNames[i]), spent[i]);
  save(is_first ? "phase/start" : "phase/step", wall);
  save("phase_total/evaluation", evaluation_);
  save("phase_total/wall", wall_);
  hook_->save_scalar("phase_total/steps", static_cast<double>(steps_));
}

void TrainingCapture::take_note(const StepEnd& end) {
  if (!end.stop_requested || std::exchange(stop_was_requested_, true)) return;
  stop_requested_ = true;
}

bool TrainingCapture::is_captured(const WatchedRoot& root, std::size_t layer) {
  if (hook_->mode() == Mode::kTrain) return at::GradMode::is_enabled();
  const EvalStart here{&root, layer};
  if (eval_start_ == here) end_eval_step();
  if (!eval_start_) eval_start_ = here;
  return true;
}

void TrainingCapture::save_gradients_of(const ::torch::optim::Optimizer& optimizer) {
  if (!hook_->wants_anything()) return;
  const ParameterSet& parameters = optimizers_.parameters_of(optimizer);
  models_.for_each([&](WatchedRoot& root) { root.save_gradients_of(parameters); });
}

void TrainingCapture::bill(std::chrono::steady_clock::time_point begin) {
  hook_->add_cost(std::chrono::steady_clock::now() - begin);
}

}  // namespace trainwarden::torch
