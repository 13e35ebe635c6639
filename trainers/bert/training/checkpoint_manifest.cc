// Writes and reads manifests.
#include "training/checkpoint_manifest.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

namespace bert {
namespace {

using Json = nlohmann::json;

constexpr const char* kFormat = "trainwarden bert checkpoint 1";
constexpr std::size_t kMaxTensors = 1'000'000;
constexpr std::size_t kMaxDimensions = 16;
constexpr std::size_t kMaxNameBytes = 1024;
constexpr std::size_t kCrcLineBytes = 9;  // eight digits and a line feed

struct TypeName {
  at::ScalarType type;
  const char* name;
};
constexpr std::array<TypeName, 9> kTypes{{{at::kFloat, "float32"},
                                          {at::kDouble, "float64"},
                                          {at::kHalf, "float16"},
                                          {at::kBFloat16, "bfloat16"},
                                          {at::kLong, "int64"},
                                          {at::kInt, "int32"},
                                          {at::kShort, "int16"},
                                          {at::kByte, "uint8"},
                                          {at::kBool, "bool"}}};

std::string crc_line(const std::string& text) {
  const uLong crc = crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size());
  constexpr const char* kHex = "0123456789abcdef";
  std::string line(kCrcLineBytes, '\n');
  for (int i = 0; i < 8; ++i) line[static_cast<std::size_t>(i)] = kHex[crc >> (28 - 4 * i) & 15];
  return line;
}

// Bytes of a tensor, or an error where they have no number.
std::int64_t bytes_of(const StoredTensor& tensor) {
  auto bytes = static_cast<std::int64_t>(c10::elementSize(tensor.type));
  for (const std::int64_t size : tensor.shape) {
    if (size < 0) throw std::runtime_error("the tensor " + tensor.name + " has a negative size");
    if (size > 0 && bytes > std::numeric_limits<std::int64_t>::max() / size) {
      throw std::runtime_error("the tensor " + tensor.name + " is larger than any file");
    }
    bytes *= size;
  }
  return bytes;
}

StoredTensor parse_tensor(const Json& entry) {
  StoredTensor tensor{.section = entry.at("section").get<std::string>(), .name = entry.at("name").get<std::string>()};
  const auto type = entry.at("dtype").get<std::string>();
  const auto known =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const TypeName& each) { return type == each.name; });
  if (known == kTypes.end()) throw std::runtime_error("the tensor " + tensor.name + " has the unknown dtype " + type);
  tensor.type = known->type;
  if (tensor.name.size() > kMaxNameBytes || tensor.section.size() > kMaxNameBytes) {
    throw std::runtime_error("a name is longer than " + std::to_string(kMaxNameBytes) + " bytes");
  }
  const Json& shape = entry.at("shape");
  if (!shape.is_array() || shape.size() > kMaxDimensions) {
    throw std::runtime_error("the tensor " + tensor.name + " has more than 16 dimensions");
  }
  for (const Json& size : shape) {
    if (!size.is_number_integer())
      throw std::runtime_error("the tensor " + tensor.name + " has a size that is no integer");
    tensor.shape.push_back(size.get<std::int64_t>());
  }
  tensor.bytes = bytes_of(tensor);
  return tensor;
}

void parse_body(const Json& json, Manifest& manifest, Checkpoint& checkpoint) {
  if (json.at("format") != kFormat) {
    throw std::runtime_error(std::string("expected the format \"") + kFormat + "\", found " + json.at("format").dump());
  }
  checkpoint.step = json.at("step").get<std::int64_t>();
  checkpoint.counters = json.at("counters").get<std::map<std::string, std::int64_t>>();
  checkpoint.texts = json.at("texts").get<std::map<std::string, std::string>>();
  manifest.tensors_crc = json.at("crc32").get<std::uint32_t>();
  const Json& tensors = json.at("tensors");
  if (!tensors.is_array() || tensors.size() > kMaxTensors)
    throw std::runtime_error("it lists more than a million tensors");
  std::set<std::pair<std::string, std::string>> names;
  for (const Json& entry : tensors) {
    manifest.tensors.push_back(parse_tensor(entry));
    const StoredTensor& tensor = manifest.tensors.back();
    if (!names.emplace(tensor.section, tensor.name).second) {
      throw std::runtime_error("the tensor " + tensor.name + " is there twice");
    }
  }
}

}  // namespace

std::string manifest_text(const Manifest& manifest, const Checkpoint& checkpoint) {
  Json tensors = Json::array();
  for (const StoredTensor& tensor : manifest.tensors) {
    const auto known =
        std::find_if(kTypes.begin(), kTypes.end(), [&](const TypeName& each) { return tensor.type == each.type; });
    if (known == kTypes.end()) {
      throw std::runtime_error("Checkpoints hold no tensors of the type " + std::string(c10::toString(tensor.type)) +
                               ", as " + tensor.name + " is; convert it first.");
    }
    tensors.push_back(
        {{"section", tensor.section}, {"name", tensor.name}, {"dtype", known->name}, {"shape", tensor.shape}});
  }
  const Json json{{"format", kFormat},         {"step", checkpoint.step},       {"counters", checkpoint.counters},
                  {"texts", checkpoint.texts}, {"crc32", manifest.tensors_crc}, {"tensors", std::move(tensors)}};
  const std::string text = json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  return text + crc_line(text);
}

void parse_manifest(const std::string& text, Manifest& manifest, Checkpoint& checkpoint) {
  if (text.size() < kCrcLineBytes) throw std::runtime_error("it is cut off");
  const std::string body = text.substr(0, text.size() - kCrcLineBytes);
  if (text.substr(body.size()) != crc_line(body)) throw std::runtime_error("its checksum does not fit what it says");
  try {
    parse_body(Json::parse(body), manifest, checkpoint);
  } catch (const Json::exception& error) {
    throw std::runtime_error(std::string("it is not as this program writes it: ") + error.what());
  }
}

}  // namespace bert
