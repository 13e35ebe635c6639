// Trains a small convolutional network on FashionMNIST and lets Trainwarden look inside.
//
// The lines with `hook`, `watcher` and `step` are all that Trainwarden needs; the rest is an ordinary LibTorch program.
#include <torch/nn/modules/loss.h>
#include <torch/optim/sgd.h>
#include <torch/serialize/archive.h>
#include <torch/utils.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <vector>

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

// All that is needed to go on from here.
void save_state(const Net& net, const torch::optim::Optimizer& optimizer, std::int64_t steps,
                const std::filesystem::path& file) {
  torch::serialize::OutputArchive archive, model, optimizer_state;
  net->save(model);
  optimizer.save(optimizer_state);
  archive.write("model", model);
  archive.write("optimizer", optimizer_state);
  archive.write("steps", torch::tensor(steps), /*is_buffer=*/true);
  archive.save_to(file.string());
}

// Without a folder to write to the training goes on unseen.
std::unique_ptr<Hook> open_hook(const Options& options) {
  if (!options.use_hook) return Hook::disabled();
  const auto configured = hook_options(options);
  if (!configured.ok()) throw std::invalid_argument(configured.status().to_string());
  auto hook = Hook::open(*configured);
  if (!hook.ok()) {
    std::fprintf(stderr, "nothing is captured: %s\n", hook.status().to_string().c_str());
    return Hook::disabled();
  }
  std::printf("capturing into %s\n", configured->run_dir.c_str());
  return std::move(hook).value();
}

void train(const Options& options) {
  torch::manual_seed(options.seed);
  torch::set_num_threads(options.threads);
  const LabelledImages train_set = read_labelled_images(options.data_dir, "train");
  const LabelledImages test_set = read_labelled_images(options.data_dir, "t10k");
  Net net;
  torch::nn::CrossEntropyLoss criterion;
  torch::optim::SGD optimizer(net->parameters(), options.learning_rate);

  const std::unique_ptr<Hook> hook = open_hook(options);
  auto watcher = trainwarden::torch::watch(*hook, *net);

  std::int64_t steps = 0;
  watcher.on_checkpoint([&](const std::filesystem::path& file) { save_state(net, optimizer, steps + 1, file); });
  for (int epoch = 1; epoch <= options.epochs; ++epoch) {
    watcher.set_mode(Mode::kTrain);
    for (const torch::Tensor& indices : shuffled_batches(train_set, options.batch_size)) {
      const torch::Tensor images = as_input(train_set.images.index_select(0, indices));
      const torch::Tensor labels = train_set.labels.index_select(0, indices);
      optimizer.zero_grad();
      const torch::Tensor loss = watcher.loss("CrossEntropyLoss", criterion(net->forward(images, &watcher), labels));
      loss.backward();
      optimizer.step();
      const trainwarden::StepEnd step = watcher.end_step();

      if (steps % kStepsBetweenLines == 0) std::printf("step %5ld  loss %.4g\n", steps, loss.item<double>());
      if (step.stop_requested) {
        std::printf("stopped after step %ld: %s\n", steps, std::string(step.stop_reason).c_str());
        return;
      }
      if (++steps == options.max_steps) return;
    }
    watcher.set_mode(Mode::kEval);
    const Score score = evaluate(net, test_set);
    watcher.loss("CrossEntropyLoss", score.loss);
    hook->save_scalar("accuracy", score.accuracy);
    watcher.end_step();
    std::printf("epoch %d  test loss %.4g  accuracy %.4f\n", epoch, score.loss.item<double>(), score.accuracy);
  }
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
