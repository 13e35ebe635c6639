// What the hook costs a training: the step of examples/fashion_mnist with statistics of all weights, biases, gradients
// and losses at every step, against the same step without a hook. The two take turns in this process, with the same
// malloc.
#include <torch/nn/modules/loss.h>
#include <torch/optim/sgd.h>
#include <torch/utils.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench.h"
#include "net.h"
#include "trainwarden/hook.h"
#include "trainwarden/torch.h"

namespace trainwarden::bench {
namespace {

constexpr int kRounds = 300;
constexpr std::int64_t kBatchSize = 256;
constexpr std::int64_t kBatches = 8;

// Noise in place of photographs: the time of a step does not depend on what is in the images.
struct Data {
  at::Tensor images = ::torch::randint(256, {kBatches, kBatchSize, 1, 28, 28}, ::torch::kUInt8);
  at::Tensor labels = ::torch::randint(10, {kBatches, kBatchSize}, ::torch::kInt64);
};

// One network serves both sides, which then differ in nothing but the hook: two would differ in where their memory
// happens to lie, too.
class Training {
 public:
  const ::torch::nn::Module& net() const { return *net_; }

  // `watcher` null: as a program without Trainwarden.
  void step(torch::Watcher* watcher) {
    const at::Tensor images = data_.images[step_ % kBatches].to(at::kFloat).div_(255);
    const at::Tensor labels = data_.labels[step_ % kBatches];
    ++step_;
    optimizer_.zero_grad();
    at::Tensor loss = criterion_(net_->forward(images, watcher), labels);
    if (watcher != nullptr) watcher->loss("CrossEntropyLoss", loss);
    loss.backward();
    optimizer_.step();
    if (watcher != nullptr) watcher->end_step();
  }

 private:
  Data data_;
  fashion_mnist::Net net_;
  ::torch::nn::CrossEntropyLoss criterion_;
  ::torch::optim::SGD optimizer_{net_->parameters(), 0.01};
  std::int64_t step_ = 0;
};

// A hook on a folder that goes with it.
class TemporaryHook {
 public:
  static Result<std::unique_ptr<TemporaryHook>> open() {
    auto temporary = std::make_unique<TemporaryHook>();
    if (temporary->folder_.empty()) return Status(Code::kUnavailable, "no temporary folder can be made");
    HookOptions options;
    options.run_dir = temporary->folder_ / "run";
    options.keep = KeepForm::reduced();
    options.save = SavePolicy::every(1);
    options.include_collections = {"weights", "biases", "gradients"};
    TRAINWARDEN_ASSIGN_OR_RETURN(temporary->hook_, Hook::open(options));
    return temporary;
  }
  ~TemporaryHook() {
    hook_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  Hook& hook() { return *hook_; }

 private:
  static std::filesystem::path make_folder() {
    std::string path = (std::filesystem::temp_directory_path() / "trainwarden-demo-XXXXXX").string();
    return ::mkdtemp(path.data()) != nullptr ? path : std::string();
  }

  const std::filesystem::path folder_ = make_folder();
  std::unique_ptr<Hook> hook_;
};

Spread as_percent_more(const Spread& ratio) {
  return {.low = (ratio.low - 1) * 100, .median = (ratio.median - 1) * 100, .high = (ratio.high - 1) * 100};
}

Result<std::vector<Figure>> measure_overhead() {
  at::set_num_threads(1);
  ::torch::manual_seed(1);
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto temporary, TemporaryHook::open());
  Training training;
  auto watcher = torch::watch(temporary->hook(), training.net());

  const std::array<std::function<void()>, 2> arms = {[&] { training.step(nullptr); }, [&] { training.step(&watcher); }};
  const PairedRuns runs = run_interleaved(kRounds, arms);
  const HookReport report = temporary->hook().report();
  if (report.steps < kRounds || !report.losses.empty()) {
    return Status(Code::kInternal, "the hook did not capture every step; the figure would be too good");
  }
  const Spread step_ms = {
      .low = runs.ns(0).low / 1e6, .median = runs.ns(0).median / 1e6, .high = runs.ns(0).high / 1e6};
  return std::vector<Figure>{
      {.name = "demo.overhead_pct",
       .value = as_percent_more(runs.ratio(1, 0)),
       .unit = "%",
       .goal = at_most(2),
       .limit = "one pass over parameters and gradients, 3.5 MB a step"},
      {.name = "demo.overhead_pct.step_ms", .value = step_ms, .unit = "ms", .limit = "convolutions on one thread"}};
}

}  // namespace

std::vector<Benchmark> benchmarks() {
  return {{.name = "demo.overhead_pct", .measure = measure_overhead}};
}

}  // namespace trainwarden::bench
