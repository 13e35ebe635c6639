#include "cli/train_state.h"

#include <cstdio>
#include <stdexcept>
#include <vector>

#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/serialization/export.h>
#include <torch/csrc/jit/serialization/pickler.h>
#include <nlohmann/json.hpp>

#include "cli/setup.h"
#include "files/writing.h"

namespace bert {
namespace {

namespace fs = std::filesystem;

void check_same_training(const Checkpoint& checkpoint, const std::string& described, const fs::path& path) {
  const auto found = checkpoint.texts.find("options");
  if (found == checkpoint.texts.end() || found->second == described) return;
  throw std::runtime_error(path.string() + " is of another training: it has the options " + found->second +
                           ", and those asked for are " + described +
                           "; name another folder with --out, or, with another number of ranks, keep to its "
                           "global_batch with --global-batch");
}

// A folder that ranks do not share, or see at different times.
void check_same_step(Group& group, std::int64_t step, const fs::path& folder) {
  const at::Tensor mine = at::full({1}, step, at::TensorOptions(group.device()).dtype(at::kLong));
  const std::vector<at::Tensor> all = group.gather_all(mine);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const auto of_rank = all[rank].item<std::int64_t>();
    const auto of_first = all[0].item<std::int64_t>();
    if (of_rank == of_first) continue;
    const auto in_words = [](std::int64_t found) {
      return found < 0 ? std::string("none") : "that of step " + std::to_string(found);
    };
    throw std::runtime_error(folder.string() + ": rank 0 finds " + in_words(of_first) +
                             " as the newest checkpoint, and rank " + std::to_string(rank) + " " + in_words(of_rank) +
                             "; put checkpoints where all ranks see the same files");
  }
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
                        {"global_batch", options.global_batch},
                        {"seed", options.seed}};
  for (const auto& [name, value] : of_task) all[name] = value;
  return all.dump();
}

Checkpoint to_checkpoint(const TrainState& state, const std::string& described) {
  Checkpoint checkpoint;
  checkpoint.step = state.progress.steps;
  checkpoint.sections["model"] = named_parameters(state.model);
  checkpoint.sections["optimizer"] = state.optimizer->state();
  if (state.scaler) checkpoint.sections["scaler"] = state.scaler->state();
  checkpoint.counters["evaluations"] = state.progress.evaluations;
  checkpoint.texts["options"] = described;
  return checkpoint;
}

bool restore_newest(TrainState& state, const fs::path& folder, const std::string& described, Group& group) {
  const FoundCheckpoint found = find_newest_checkpoint(folder);
  for (const auto& [path, reason] : found.refused)
    std::fprintf(stderr, "%s is not used: %s\n", path.c_str(), reason.c_str());
  check_same_step(group, found.checkpoint ? found.checkpoint->step : -1, folder);
  if (!found.checkpoint) return false;
  const Checkpoint& checkpoint = *found.checkpoint;
  check_same_training(checkpoint, described, found.path);
  copy_by_name(checkpoint.section("model"), named_parameters(state.model), found.path.string());
  state.optimizer->load_state(checkpoint.section("optimizer"));
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
