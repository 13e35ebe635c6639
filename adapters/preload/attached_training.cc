// AttachedTraining: opens the hook, closes it, and hands events on.
#include "attached_training.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include <torch/version.h>
#include <unistd.h>

#include "faults.h"
#include "trainwarden/guard.h"

namespace trainwarden::torch {
namespace {

// What we do ourselves with modules and optimizers is no event.
class OwnDoing {
 public:
  OwnDoing() { running_ = true; }
  ~OwnDoing() { running_ = false; }
  OwnDoing(const OwnDoing&) = delete;
  OwnDoing& operator=(const OwnDoing&) = delete;
  static bool is_running() { return running_; }

 private:
  static thread_local bool running_;
};
thread_local bool OwnDoing::running_ = false;

// What is done meanwhile is our work, not the program's.
class OwnTime {
 public:
  explicit OwnTime(TrainingCapture& capture) : phases_(capture.phases()) { phases_.capture_begins(Clock::now()); }
  ~OwnTime() { phases_.capture_ends(Clock::now()); }
  OwnTime(const OwnTime&) = delete;
  OwnTime& operator=(const OwnTime&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  StepPhases& phases_;
};

// The program has opened a hook of its own on the run, which is as good.
bool is_held_by_this_process(const Status& status) {
  const std::string holder = "locked by process " + std::to_string(::getpid()) + ";";
  return status.code() == Code::kAlreadyExists && status.message().find(holder) != std::string::npos;
}

Result<std::unique_ptr<Hook>> open_hook() {
  TRAINWARDEN_ASSIGN_OR_RETURN(HookOptions options, hook_options_for_attach());
  options.framework = "LibTorch " TORCH_VERSION;
  TRAINWARDEN_ASSIGN_OR_RETURN(std::unique_ptr<Hook> hook, Hook::open(std::move(options)));
  const Status guarded = Guard::install_from_environment(*hook);
  if (!guarded.ok()) {
    std::fprintf(stderr, "trainwarden: error: no rule judges inside this training: %s\n", guarded.to_string().c_str());
  }
  return hook;
}

// Whatever was made before a handler is registered is still there when it runs.
void close_at_exit() {
  std::atexit([] { AttachedTraining::instance().process_exits(); });
}

}  // namespace

AttachedTraining& AttachedTraining::instance() {
  static AttachedTraining* const training = new AttachedTraining;
  return *training;
}

AttachedTraining::AttachedTraining()
    : first_call_([this](const at::Tensor& tensor) { return is_trained(tensor); },
                  [this] { with_capture("see the begin of a training", true, [](TrainingCapture&) {}); }) {}

bool AttachedTraining::is_trained(const at::Tensor& tensor) {
  if (OwnDoing::is_running()) return false;
  const std::lock_guard lock(mutex_);
  return optimizers_.train(tensor);
}

template <class Action>
void AttachedTraining::with_capture(const char* doing, bool begins_training, Action&& action) {
  if (off_ || OwnDoing::is_running()) return;
  bool stop = false;
  {
    const OwnDoing own;
    const std::lock_guard lock(mutex_);
    without_throwing(doing, [&] {
      if (capture_ == nullptr && !(begins_training && open())) return;
      if (training_thread_ != std::this_thread::get_id()) return;
      const OwnTime time(*capture_);
      action(*capture_);
      stop = capture_->take_stop_request();
    });
  }
  if (stop) stop_program();
}

bool AttachedTraining::open() {
  auto hook = open_hook();
  if (!hook.ok()) {
    off_ = true;
    if (!is_held_by_this_process(hook.status())) {
      std::fprintf(stderr, "trainwarden: warning: nothing is captured: %s\n", hook.status().to_string().c_str());
    }
    return false;
  }
  training_thread_ = std::this_thread::get_id();
  capture_ = std::make_unique<TrainingCapture>(std::move(*hook), optimizers_);
  close_at_exit();
  return true;
}

void AttachedTraining::module_seen(const ::torch::nn::Module& module) {
  if (off_ || OwnDoing::is_running()) return;
  without_throwing("watch a module", [&] { ModuleRegistry::instance().add(module); });
}

void AttachedTraining::training_set(const ::torch::nn::Module& module) {
  module_seen(module);
  with_capture("see a change of mode", false, [&](TrainingCapture& capture) { capture.training_set(module); });
}

void AttachedTraining::backward_begins(const std::vector<at::Tensor>& losses) {
  with_capture("capture a loss", false, [&](TrainingCapture& capture) { capture.backward_begins(losses); });
}

void AttachedTraining::backward_has_ended() {
  with_capture("see the end of a backward pass", false,
               [](TrainingCapture& capture) { capture.ended(Phase::kBackward); });
}

void AttachedTraining::optimizer_seen(const ::torch::optim::Optimizer& optimizer) {
  if (off_) return;
  const std::lock_guard lock(mutex_);
  if (capture_ != nullptr && training_thread_ != std::this_thread::get_id()) return;
  without_throwing("watch an optimizer", [&] {
    optimizers_.forget_dead();
    optimizers_.add(optimizer);
    if (waiting_thread_ == std::thread::id()) waiting_thread_ = std::this_thread::get_id();
    if (waiting_thread_ == std::this_thread::get_id() && capture_ == nullptr) first_call_.wait();
  });
}

void AttachedTraining::gradients_cleared(const ::torch::optim::Optimizer& optimizer) {
  with_capture("see the begin of a step", true,
               [&](TrainingCapture& capture) { capture.gradients_cleared(optimizer); });
}

void AttachedTraining::gradients_are_cleared() {
  with_capture("see that gradients are cleared", false,
               [](TrainingCapture& capture) { capture.ended(Phase::kZeroGrad); });
}

void AttachedTraining::step_begins(const ::torch::optim::Optimizer& optimizer, bool computes_gradients) {
  with_capture("capture gradients", true,
               [&](TrainingCapture& capture) { capture.step_begins(optimizer, computes_gradients); });
}

void AttachedTraining::step_has_ended(const ::torch::optim::Optimizer& optimizer) {
  if (waiting_thread_ == std::this_thread::get_id()) first_call_.give_up();
  with_capture("capture the model", false, [&](TrainingCapture& capture) { capture.step_has_ended(optimizer); });
}

// A program that handles the signal goes on for a while, and may want to save its work; else this is its end.
void AttachedTraining::stop_program() {
  if (signal_ends_process(SIGTERM)) {
    process_exits();
  } else {
    const std::lock_guard lock(mutex_);
    const Status flushed = capture_->hook().flush();
    if (!flushed.ok()) std::fprintf(stderr, "trainwarden: warning: %s\n", flushed.to_string().c_str());
  }
  std::raise(SIGTERM);
}

// LibTorch may be half gone; only the hook is touched. When another thread is within a call of ours, or this one was
// interrupted there, the run stays as it is: everything up to the last step can be read.
void AttachedTraining::process_exits() {
  if (off_) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || capture_ == nullptr) return;
  off_ = true;
  const Status closed = capture_->hook().close();
  if (!closed.ok()) std::fprintf(stderr, "trainwarden: warning: %s\n", closed.to_string().c_str());
}

}  // namespace trainwarden::torch
