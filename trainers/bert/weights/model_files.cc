// The weights in a folder: one file, or several and their index.
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "files/reading.h"
#include "weights/safetensors.h"

namespace bert {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxIndexBytes = 16u << 20;

// Of each tensor the file that holds it.
std::map<std::string, std::string> read_index(const std::filesystem::path& index) {
  const json parsed = json::parse(read_text(index, kMaxIndexBytes), nullptr, false);
  const auto fail = [&](const std::string& what) { throw std::runtime_error(index.string() + ": " + what); };
  if (!parsed.is_object() || !parsed.contains("weight_map") || !parsed["weight_map"].is_object()) {
    fail("expected a JSON object with weight_map, found something else");
  }
  std::map<std::string, std::string> files;
  for (const auto& [tensor, file] : parsed["weight_map"].items()) {
    if (!file.is_string())
      fail("tensor " + tensor + ": expected the name of a file, found " + file.dump().substr(0, 40));
    const std::string name = file.get<std::string>();
    if (name.empty() || name == ".." || name.find('/') != std::string::npos) {
      fail("tensor " + tensor + ": expected a file in the same folder, found " + name);
    }
    files.emplace(tensor, name);
  }
  return files;
}

TensorsByName read_shards(const std::filesystem::path& folder, const std::filesystem::path& index) {
  std::map<std::string, TensorsByName> shards;
  TensorsByName tensors;
  for (const auto& [name, file] : read_index(index)) {
    auto shard = shards.find(file);
    if (shard == shards.end()) shard = shards.emplace(file, read_safetensors(folder / file)).first;
    const auto found = shard->second.find(name);
    if (found == shard->second.end()) {
      throw std::runtime_error((folder / file).string() + ": expected the tensor " + name + ", as " +
                               index.filename().string() + " says, found none. Fetch both files again");
    }
    tensors.emplace(name, found->second);
  }
  return tensors;
}

}  // namespace

TensorsByName read_model_tensors(const std::filesystem::path& folder) {
  const std::filesystem::path single = folder / "model.safetensors";
  if (std::filesystem::exists(single)) return read_safetensors(single);
  const std::filesystem::path index = folder / "model.safetensors.index.json";
  if (std::filesystem::exists(index)) return read_shards(folder, index);
  throw std::runtime_error(folder.string() +
                           ": expected model.safetensors or model.safetensors.index.json, found neither. A model that "
                           "has pytorch_model.bin is converted by Hugging Face's save_pretrained()");
}

}  // namespace bert
