#include "cli/train_state.h"

#include <cstdio>
#include <stdexcept>
#include <vector>

#include <nlohmann/json.hpp>
#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/serialization/export.h>
#include <torch/csrc/jit/serialization/pickler.h>

#include "cli/setup.h"
#include "files/writing.h"
#include "training/determinism.h"

namespace bert {
namespace {

namespace fs = std::filesystem;

void check_same_training(const Checkpoint& checkpoint, const std::string& described, const fs::path& path) {
  const auto found = checkpoint.texts.find("options");
  if (found == checkpoint.texts.end() || found->second == described) return;
  throw std::runtime_error(path.string() + " is of another training: it has the options " + found->second +
                           ", and those asked for are " + described + "; name another folder with --out");
}

// What torch::pickle_save writes, but with plain dictionaries: its own bear types of TorchScript, which Python's
// torch.load refuses by default since PyTorch 2.6.
std::string pickled(const c10::IValue& value) {
  std::string pickle, archive;
  torch::jit::Pickler pickler([&](const char* bytes, std::size_t count) { pickle.append(bytes, count); }, nullptr,
                              nullptr, nullptr, nullptr, /*tag_aggregates=*/false);
  pickler.protocol();
  pickler.pushIValue(value);
  pickler.stop();
  caffe2::serialize::PyTorchStreamWriter writer([&](const void* bytes, std::size_t count) {
    archive.append(static_cast<const char*>(bytes), count);
    return count;
  });
  torch::jit::writeArchiveAndTensors("data", pickle.data(), pickle.size(), pickler.tensorData(), writer);
  writer.writeEndOfFile();
  return archive;
}

}  // namespace

std::string describe(const TrainOptions& options, const std::map<std::string, std::string>& of_task) {
  nlohmann::json all = {{"model", options.model.filename().string()},
                        {"optimizer", options.optimizer},
                        {"global_batch", options.batch_size * options.accumulate},
                        {"seed", options.seed}};
  for (const auto& [name, value] : of_task) all[name] = value;
  return all.dump();
}

Checkpoint to_checkpoint(const TrainState& state, const std::string& described) {
  Checkpoint checkpoint;
  checkpoint.step = state.progress.steps;
  checkpoint.sections["model"] = named_parameters(state.model);
  checkpoint.sections["optimizer"] = state.optimizer->state();
  checkpoint.sections["random"] = random_state();
  if (state.scaler) checkpoint.sections["scaler"] = state.scaler->state();
  checkpoint.counters["evaluations"] = state.progress.evaluations;
  checkpoint.texts["options"] = described;
  return checkpoint;
}

bool restore_newest(TrainState& state, const fs::path& folder, const std::string& described) {
  const FoundCheckpoint found = find_newest_checkpoint(folder);
  for (const auto& [path, reason] : found.refused)
    std::fprintf(stderr, "%s is not used: %s\n", path.c_str(), reason.c_str());
  if (!found.checkpoint) return false;
  const Checkpoint& checkpoint = *found.checkpoint;
  check_same_training(checkpoint, described, found.path);
  copy_by_name(checkpoint.section("model"), named_parameters(state.model), found.path.string());
  state.optimizer->load_state(checkpoint.section("optimizer"));
  load_random_state(checkpoint.section("random"));
  if (state.scaler) state.scaler->load_state(checkpoint.section("scaler"));
  state.progress.steps = checkpoint.step;
  state.progress.evaluations = checkpoint.counters.at("evaluations");
  std::printf("going on after step %ld, from %s\n", state.progress.steps, found.path.c_str());
  return true;
}

void save_for_python(const Checkpoint& checkpoint, const fs::path& file) {
  c10::impl::GenericDict all(c10::StringType::get(), c10::AnyType::get());
  all.insert("step", checkpoint.step);
  for (const auto& [section, tensors] : checkpoint.sections) {
    c10::Dict<std::string, at::Tensor> named;
    for (const auto& [name, tensor] : tensors) named.insert(name, tensor.detach().to(at::kCPU));
    all.insert(section, named);
  }
  write_text(file, pickled(all));
}

}  // namespace bert
