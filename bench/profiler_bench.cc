// What it costs a training that its operators are recorded, and that they could be: a small perceptron, whose operators
// take so little time that all of it is seen. Recorded steps and others take turns, with a hook of their own each.
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/sgd.h>
#include <torch/utils.h>

#include <array>
#include <cstdint>
#include <ctime>
#include <functional>
#include <optional>
#include <vector>

#include "bench.h"
#include "trainwarden/hook.h"
#include "trainwarden/torch.h"

namespace trainwarden::bench {
namespace {

constexpr int kRounds = 60;
constexpr int kLayers = 8;
constexpr std::int64_t kWidth = 64;
constexpr std::int64_t kBatch = 32;
constexpr std::int64_t kSteps = 20;  // that are measured together
constexpr int kAsks = 1'000'000;     // whether operators are wanted
constexpr double kAsksInStep = 3;    // by an adapter, where a mode is set too

class Perceptron {
 public:
  Perceptron() {
    for (int layer = 0; layer < kLayers; ++layer) {
      net_->push_back(::torch::nn::Linear(kWidth, kWidth));
      net_->push_back(::torch::nn::ReLU());
    }
    optimizer_.emplace(net_->parameters(), 1e-3);
  }
  const ::torch::nn::Module& net() const { return *net_; }
  void step(torch::Watcher& watcher) {
    optimizer_->zero_grad();
    net_->forward(input_).square().mean().backward();
    optimizer_->step();
    watcher.end_step();
  }

 private:
  ::torch::nn::Sequential net_;
  std::optional<::torch::optim::SGD> optimizer_;
  const at::Tensor input_ = ::torch::randn({kBatch, kWidth});
};

// CPU time of this thread, on which all of the training runs: who else computes here takes none of it.
double thread_cpu_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

struct Measured {
  double ns = 0;  // of kSteps
  std::uint64_t calls = 0;
};

// The step before those that are measured begins to listen.
Measured train(Perceptron& perceptron, std::int64_t recorded_steps) {
  HookOptions options;
  options.dry_run = true;
  options.save = SavePolicy::every(1'000'000);
  options.operators = {.first_step = 1, .steps = recorded_steps};
  const auto hook = Hook::open(options);
  if (!hook.ok()) return {};
  auto watcher = torch::watch(**hook, perceptron.net());
  perceptron.step(watcher);
  Measured measured;
  const double begin_ns = thread_cpu_ns();
  for (std::int64_t step = 0; step < kSteps; ++step) perceptron.step(watcher);
  measured.ns = thread_cpu_ns() - begin_ns;
  if (const Status flushed = (*hook)->flush(); !flushed.ok()) return {};
  measured.calls = (*hook)->report().operator_calls;
  return measured;
}

Spread times(const Spread& spread, double factor) {
  return {.low = spread.low * factor, .median = spread.median * factor, .high = spread.high * factor};
}

Result<std::vector<Figure>> measure_profiler() {
  at::set_num_threads(1);
  ::torch::manual_seed(1);
  Perceptron perceptron;
  std::uint64_t calls = 0;
  const std::array<std::function<double()>, 2> arms = {[&] { return train(perceptron, 0).ns; },
                                                       [&] {
                                                         const Measured measured = train(perceptron, kSteps);
                                                         calls = measured.calls;
                                                         return measured.ns;
                                                       }};
  const PairedRuns runs = measure_interleaved(kRounds, arms);
  if (calls < static_cast<std::uint64_t>(kSteps)) return Status(Code::kInternal, "no operators were recorded");
  const double off_ns = runs.ns(0).median;
  const Spread ratio = runs.ratio(1, 0);
  const Spread more = {.low = ratio.low - 1, .median = ratio.median - 1, .high = ratio.high - 1};

  const auto idle = Hook::open({.dry_run = true});
  if (!idle.ok()) return idle.status();
  const double asks_ns = elapsed_ns([&] {
    for (int ask = 0; ask < kAsks; ++ask) keep((*idle)->wants_operators());
  });
  const double idle_pct = asks_ns / kAsks * kAsksInStep / (off_ns / kSteps) * 100;
  return std::vector<Figure>{{.name = "profiler.window_ns_per_op",
                              .value = times(more, off_ns / static_cast<double>(calls)),
                              .unit = "ns",
                              .goal = at_most(250),
                              .limit = "the framework takes most of it for any callback; two readings of the clock"},
                             {.name = "profiler.window_ns_per_op.step_pct",
                              .value = times(more, 100),
                              .unit = "%",
                              .limit = "operators of a few microseconds"},
                             {.name = "profiler.window_ns_per_op.calls_in_step",
                              .value = spread_of({static_cast<double>(calls) / kSteps}),
                              .unit = "calls",
                              .limit = "the model"},
                             {.name = "profiler.idle_pct",
                              .value = spread_of({idle_pct}),
                              .unit = "%",
                              .goal = at_most(0.05),
                              .limit = "a load behind a call, three times a step"}};
}

}  // namespace

std::vector<Benchmark> benchmarks() {
  return {{.name = "profiler.", .measure = measure_profiler}};
}

}  // namespace trainwarden::bench
