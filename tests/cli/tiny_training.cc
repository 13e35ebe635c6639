// tiny_training: stands for a training program in the tests of the command line.
//
// It "trains" through the real hook: a weight, its gradient, a loss, a few oddities. Options bend it:
//   --steps N         steps to train (default 30)
//   --first-step N    begin at this one
//   --vanish-at N     from this step on gradients are zero
//   --large           a tensor of 8 KB, too, in each step
//   --reduce-gradient save the mean of |gradient| in place of the gradient
//   --until-stopped   go on after N steps, until somebody asks to stop
//   --offer           save its state when somebody asks
//   --exit N          exit code at the end
//   --await-signal    write "ready" when trained, wait for SIGINT or SIGTERM, write how many came, and exit
//   --crash           end by SIGKILL without closing the run
//   --learning-rate N 10 and more vanish at step 5 and go on until stopped, as the demo's second act needs it
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include "trainwarden/hook.h"

namespace {

using trainwarden::DType;
using trainwarden::Hook;
using trainwarden::TensorView;

// Ends a test that would hang.
constexpr std::int64_t kMostSteps = 300'000;
constexpr std::chrono::milliseconds kStepTime{1};

struct Settings {
  std::int64_t steps = 30;
  std::int64_t first_step = 0;
  std::int64_t vanish_at = std::numeric_limits<std::int64_t>::max();
  bool reduce_gradient = false;
  bool large = false;
  bool until_stopped = false;
  bool await_signal = false;
  bool crash = false;
  bool offer = false;
  int exit_code = 0;
};

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const auto number = [&] { return i + 1 < argc ? std::stoll(argv[++i]) : 0; };
    if (option == "--steps") settings.steps = number();
    if (option == "--first-step") settings.first_step = number();
    if (option == "--vanish-at") settings.vanish_at = number();
    if (option == "--reduce-gradient") settings.reduce_gradient = true;
    if (option == "--large") settings.large = true;
    if (option == "--until-stopped") settings.until_stopped = true;
    if (option == "--await-signal") settings.await_signal = true;
    if (option == "--crash") settings.crash = true;
    if (option == "--offer") settings.offer = true;
    if (option == "--learning-rate" && i + 1 < argc && std::stod(argv[++i]) >= 10) {
      settings.vanish_at = 5;
      settings.until_stopped = true;
    }
    if (option == "--exit") settings.exit_code = static_cast<int>(number());
  }
  return settings;
}

trainwarden::HookOptions capture_everything() {
  trainwarden::HookOptions options;
  options.save_all = true;
  options.save = trainwarden::SavePolicy::every(1);
  options.labels = {{"learning_rate", "0.1"}};
  return options;
}

void save_abs_mean(Hook& hook, const std::vector<float>& gradient) {
  double sum = 0;
  for (const float element : gradient) sum += std::fabs(element);
  const trainwarden::SavedReduction abs_mean{trainwarden::Reduction::kMean, true,
                                             sum / static_cast<double>(gradient.size())};
  hook.save_reductions("gradient/conv0.weight", {&abs_mean, 1});
}

void save_step(Hook& hook, std::int64_t step, const Settings& settings) {
  const bool vanished = step >= settings.vanish_at;
  std::vector<float> weight(4 * 1 * 3 * 3);
  std::vector<float> gradient(weight.size());
  for (std::size_t i = 0; i < weight.size(); ++i) {
    weight[i] = std::sin(static_cast<float>(i + static_cast<std::size_t>(step)));
    gradient[i] = vanished ? 0.0f : 0.01f * weight[i];
  }
  hook.save_tensor("conv0.weight", TensorView::of(weight.data(), DType::kFloat32, {4, 1, 3, 3}));
  if (settings.reduce_gradient) {
    save_abs_mean(hook, gradient);
  } else {
    hook.save_tensor("gradient/conv0.weight", TensorView::of(gradient.data(), DType::kFloat32, {4, 1, 3, 3}));
  }
  const float loss = 2.0f / static_cast<float>(step + 1);
  hook.save_tensor("CrossEntropyLoss_output_0", TensorView::of(&loss, DType::kFloat32, {}));
  if (settings.large) {
    const std::vector<float> large(2048, 1.0f);
    hook.save_tensor("large", TensorView::of(large.data(), DType::kFloat32, {2048}));
  }
  hook.save_scalar("accuracy", 1.0 - 1.0 / static_cast<double>(step + 2));
}

void save_state(Hook& hook, std::int64_t step) {
  const auto request = hook.take_checkpoint_request();
  if (!request) return;
  hook.answer_checkpoint(*request, hook.write_checkpoint(".txt", [&](const std::filesystem::path& file) {
    std::ofstream(file) << "step " << step;
    return trainwarden::Status();
  }));
}

void train(Hook& hook, const Settings& settings) {
  if (settings.offer) hook.offer_checkpoints();
  hook.set_mode(trainwarden::Mode::kTrain);
  for (std::int64_t step = 0; step < kMostSteps; ++step) {
    if (step >= settings.steps && !settings.until_stopped) return;
    save_step(hook, step, settings);
    const trainwarden::StepEnd end = hook.end_step();
    if (end.checkpoint_requested) save_state(hook, step);
    if (end.stop_requested) return;
    if (settings.until_stopped) std::this_thread::sleep_for(kStepTime);
  }
}

// Counts the signals that come until none has come for a while.
int count_signals() {
  sigset_t awaited;
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGINT);
  sigaddset(&awaited, SIGTERM);
  fmt::print("ready\n");
  std::fflush(stdout);
  const timespec at_most{60, 0};
  const timespec a_while{0, 500'000'000};
  int count = sigtimedwait(&awaited, nullptr, &at_most) > 0 ? 1 : 0;
  while (sigtimedwait(&awaited, nullptr, &a_while) > 0) ++count;
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = parse(argc, argv);
  if (settings.await_signal) {
    sigset_t awaited;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGINT);
    sigaddset(&awaited, SIGTERM);
    sigprocmask(SIG_BLOCK, &awaited, nullptr);
  }
  auto options = trainwarden::hook_options_from_environment(capture_everything());
  if (!options.ok()) return 9;
  options->first_global_step = settings.first_step;
  auto hook = Hook::open(*options);
  if (!hook.ok()) return 9;
  train(**hook, settings);
  if (settings.crash) {
    if (!(*hook)->flush().ok()) return 9;
    kill(getpid(), SIGKILL);
  }
  if (!(*hook)->close().ok()) return 9;
  if (settings.await_signal) fmt::print("signals: {}\n", count_signals());
  return settings.exit_code;
}
