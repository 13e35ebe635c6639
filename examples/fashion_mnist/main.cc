// Trains a small convolutional network on FashionMNIST and lets Trainwarden look inside.
//
// The lines with `hook`, `watcher` and `step` are all that Trainwarden needs; the rest is an ordinary LibTorch program.
#include <torch/nn/functional/loss.h>
#include <torch/nn/modules/loss.h>
#include <torch/optim/sgd.h>
#include <torch/serialize.h>
#include <torch/utils.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <vector>

#include "checkpoint.h"
#include "idx.h"
#include "net.h"
#include "options.h"
#include "trainwarden/hook.h"
#include "trainwarden/torch.h"

namespace fashion_mnist {
namespace {

using trainwarden::Hook;
using trainwarden::Mode;

constexpr std::int64_t kStepsBetweenLines = 20;

// Where the network stands on the test set.
struct Score {
  torch::Tensor loss;
  double accuracy = 0;
};

torch::Tensor as_input(const torch::Tensor& images) {
  return images.to(torch::kFloat32).div_(255);
}

// Indices of images in random order. Images that do not fill a batch have their turn in another epoch.
std::vector<torch::Tensor> shuffled_batches(const LabelledImages& set, std::int64_t batch_size) {
  auto batches = torch::randperm(set.labels.size(0), torch::kInt64).split(batch_size);
  if (batches.size() > 1 && batches.back().size(0) < batch_size) batches.pop_back();
  return batches;
}

Score evaluate(Net& net, const LabelledImages& set) {
  constexpr std::int64_t kBatchSize = 500;
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> scores;
  for (const torch::Tensor& images : set.images.split(kBatchSize)) scores.push_back(net->forward(as_input(images)));
  const torch::Tensor all_scores = torch::cat(scores);
  return {.loss = torch::nn::functional::cross_entropy(all_scores, set.labels),
          .accuracy = all_scores.argmax(1).eq(set.labels).to(torch::kFloat64).mean().item<double>()};
}

// Without a folder to write to the training goes on unseen.
std::unique_ptr<Hook> open_hook(const Options& options, const Progress& progress) {
  if (!options.use_hook) return Hook::disabled();
  auto configured = hook_options(options);
  if (!configured.ok()) throw std::invalid_argument(configured.status().to_string());
  configured->first_global_step = progress.steps + progress.epochs;
  configured->first_mode_steps[index_of(Mode::kTrain)] = progress.steps;
  configured->first_mode_steps[index_of(Mode::kEval)] = progress.epochs;
  auto hook = Hook::open(*configured);
  if (!hook.ok()) {
    std::fprintf(stderr, "nothing is captured: %s\n", hook.status().to_string().c_str());
    return Hook::disabled();
  }
  std::printf("capturing into %s\n", configured->run_dir.c_str());
  return std::move(hook).value();
}

// A training with all that changes while it goes on.
class Training {
 public:
  explicit Training(const Options& options)
      : options_(options),
        train_set_(read_labelled_images(options.data_dir, "train")),
        test_set_(read_labelled_images(options.data_dir, "t10k")),
        optimizer_(net_->parameters(), options.learning_rate),
        progress_(first_progress()),
        hook_(open_hook(options, progress_)),
        watcher_(trainwarden::torch::watch(*hook_, *net_)) {
    watcher_.on_checkpoint([this](const std::filesystem::path& file) {  // before the step is counted
      save_checkpoint(net_, optimizer_, after_one_step(), file);
    });
  }

  void run() {
    while (progress_.epochs < options_.epochs) {
      if (!train_epoch()) return;
      end_epoch();
    }
    save_model();
  }

 private:
  // The beginning, or where the checkpoint of an earlier process ends.
  Progress first_progress() {
    Progress progress{.epoch_generator = generator_state()};
    if (options_.checkpoint_dir.empty() || !std::filesystem::exists(checkpoint_file())) return progress;
    load_checkpoint(net_, optimizer_, progress, checkpoint_file());
    set_generator_state(progress.epoch_generator);
    std::printf("going on after %ld steps\n", progress.steps);
    return progress;
  }

  // False: it is to end here.
  bool train_epoch() {
    watcher_.set_mode(Mode::kTrain);
    const std::vector<torch::Tensor> batches = shuffled_batches(train_set_, options_.batch_size);
    while (progress_.batches < static_cast<std::int64_t>(batches.size())) {
      if (!train_step(batches[static_cast<std::size_t>(progress_.batches)])) return false;
      if (progress_.steps % options_.checkpoint_interval == 0) keep_checkpoint();
      if (progress_.steps == options_.max_steps) return false;
    }
    return true;
  }

  // False: somebody asked it to stop.
  bool train_step(const torch::Tensor& indices) {
    const torch::Tensor images = as_input(train_set_.images.index_select(0, indices));
    const torch::Tensor labels = train_set_.labels.index_select(0, indices);
    optimizer_.zero_grad();
    const torch::Tensor loss = watcher_.loss("CrossEntropyLoss", criterion_(net_->forward(images, &watcher_), labels));
    loss.backward();
    optimizer_.step();
    const trainwarden::StepEnd step = watcher_.end_step();
    const std::int64_t number = progress_.steps;
    progress_ = after_one_step();
    if (number % kStepsBetweenLines == 0) std::printf("step %5ld  loss %.4g\n", number, loss.item<double>());
    if (step.stop_requested) {
      std::printf("stopped after step %ld: %s\n", number, std::string(step.stop_reason).c_str());
    }
    return !step.stop_requested;
  }

  void end_epoch() {
    watcher_.set_mode(Mode::kEval);
    const Score score = evaluate(net_, test_set_);
    watcher_.loss("CrossEntropyLoss", score.loss);
    hook_->save_scalar("accuracy", score.accuracy);
    watcher_.end_step();
    progress_ = {progress_.steps, progress_.epochs + 1, 0, generator_state()};
    std::printf("epoch %ld  test loss %.4g  accuracy %.4f\n", progress_.epochs, score.loss.item<double>(),
                score.accuracy);
    keep_checkpoint();
  }

  Progress after_one_step() const {
    Progress progress = progress_;
    ++progress.steps;
    ++progress.batches;
    return progress;
  }

  std::filesystem::path checkpoint_file() const { return options_.checkpoint_dir / "last.pt"; }
  void keep_checkpoint() {
    if (!options_.checkpoint_dir.empty()) save_checkpoint(net_, optimizer_, progress_, checkpoint_file());
  }
  void save_model() const {
    if (!options_.model_dir.empty()) torch::save(net_, (options_.model_dir / "model.pt").string());
  }

  const Options& options_;
  LabelledImages train_set_;
  LabelledImages test_set_;
  Net net_;
  torch::nn::CrossEntropyLoss criterion_;
  torch::optim::SGD optimizer_;
  Progress progress_;
  std::unique_ptr<Hook> hook_;
  trainwarden::torch::Watcher watcher_;
};

void train(const Options& options) {
  torch::manual_seed(options.seed);
  torch::set_num_threads(options.threads);
  Training(options).run();
}

}  // namespace
}  // namespace fashion_mnist

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // each line is seen at once, by a pipe too
  try {
    fashion_mnist::train(fashion_mnist::parse_options(argc, argv));
    return 0;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
