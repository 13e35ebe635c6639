#include "checkpoint.h"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/serialize/archive.h>
#include <unistd.h>

#include <mutex>
#include <string>

namespace fashion_mnist {
namespace {

std::int64_t read_number(torch::serialize::InputArchive& archive, const std::string& key) {
  torch::Tensor number;
  archive.read(key, number, /*is_buffer=*/true);
  return number.item<std::int64_t>();
}

}  // namespace

void save_checkpoint(const Net& net, const torch::optim::Optimizer& optimizer, const Progress& progress,
                     const std::filesystem::path& file) {
  torch::serialize::OutputArchive archive, model, optimizer_state;
  net->save(model);
  optimizer.save(optimizer_state);
  archive.write("model", model);
  archive.write("optimizer", optimizer_state);
  archive.write("steps", torch::tensor(progress.steps), /*is_buffer=*/true);
  archive.write("epochs", torch::tensor(progress.epochs), /*is_buffer=*/true);
  archive.write("batches", torch::tensor(progress.batches), /*is_buffer=*/true);
  archive.write("epoch_generator", progress.epoch_generator, /*is_buffer=*/true);
  const std::filesystem::path partial = file.string() + ".partial-" + std::to_string(::getpid());
  archive.save_to(partial.string());
  std::filesystem::rename(partial, file);
}

void load_checkpoint(Net& net, torch::optim::Optimizer& optimizer, Progress& progress,
                     const std::filesystem::path& file) {
  torch::serialize::InputArchive archive, model, optimizer_state;
  archive.load_from(file.string());
  archive.read("model", model);
  archive.read("optimizer", optimizer_state);
  net->load(model);
  optimizer.load(optimizer_state);
  progress.steps = read_number(archive, "steps");
  progress.epochs = read_number(archive, "epochs");
  progress.batches = read_number(archive, "batches");
  archive.read("epoch_generator", progress.epoch_generator, /*is_buffer=*/true);
}

torch::Tensor generator_state() {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard lock(generator.mutex());
  return generator.get_state();
}

void set_generator_state(const torch::Tensor& state) {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard lock(generator.mutex());
  generator.set_state(state);
}

}  // namespace fashion_mnist
