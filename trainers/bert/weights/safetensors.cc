// Reading and writing of safetensors.
#include "weights/safetensors.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include <ATen/ops/from_blob.h>
#include <nlohmann/json.hpp>

#include "files/reading.h"
#include "files/writing.h"
#include "weights/bytes_reader.h"

namespace bert {
namespace {

using nlohmann::json;

constexpr std::size_t kLengthBytes = 8;
// A hundred times what BERT-large's header takes.
constexpr std::uint64_t kMaxHeaderBytes = 16u << 20;

struct Dtype {
  const char* name;
  at::ScalarType type;
};
constexpr std::array<Dtype, 8> kDtypes = {{{"F64", at::kDouble},
                                           {"F32", at::kFloat},
                                           {"F16", at::kHalf},
                                           {"BF16", at::kBFloat16},
                                           {"I64", at::kLong},
                                           {"I32", at::kInt},
                                           {"U8", at::kByte},
                                           {"BOOL", at::kBool}}};

struct Entry {
  std::string name;
  at::ScalarType type;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  // bytes from the header's end
  std::uint64_t end = 0;
};

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& what) {
  throw std::runtime_error(file.string() + ": " + what);
}

std::uint64_t whole_number(const std::filesystem::path& file, const std::string& name, const json& value) {
  if (!value.is_number_unsigned()) {
    fail(file, "tensor " + name + ": expected a whole number, found " + value.dump().substr(0, 40));
  }
  return value.get<std::uint64_t>();
}

at::ScalarType dtype_of(const std::filesystem::path& file, const std::string& name, const json& value) {
  for (const Dtype& dtype : kDtypes) {
    if (value == dtype.name) return dtype.type;
  }
  fail(file, "tensor " + name + ": expected the dtype F64, F32, F16, BF16, I64, I32, U8 or BOOL, found " +
                 value.dump().substr(0, 40) + ". Convert the file first");
}

// The bytes of a tensor; none when they are more than `max_bytes`.
std::optional<std::uint64_t> bytes_of(const Entry& entry, std::uint64_t max_bytes) {
  std::uint64_t bytes = at::elementSize(entry.type);
  if (std::find(entry.shape.begin(), entry.shape.end(), 0) != entry.shape.end()) return 0;
  for (const std::int64_t size : entry.shape) {
    if (static_cast<std::uint64_t>(size) > max_bytes / bytes) return std::nullopt;
    bytes *= static_cast<std::uint64_t>(size);
  }
  return bytes;
}

Entry entry_of(const std::filesystem::path& file, const std::string& name, const json& value,
               std::uint64_t data_bytes) {
  if (!value.is_object() || !value.contains("dtype") || !value.contains("shape") || !value.contains("data_offsets")) {
    fail(file, "tensor " + name + ": expected dtype, shape and data_offsets, found " + value.dump().substr(0, 80));
  }
  const json& shape = value["shape"];
  const json& offsets = value["data_offsets"];
  if (!shape.is_array() || shape.size() > kMaxDimensions || !offsets.is_array() || offsets.size() != 2) {
    fail(file, "tensor " + name + ": expected a shape of at most 16 numbers and two offsets, found other ones");
  }
  Entry entry{.name = name, .type = dtype_of(file, name, value["dtype"]), .shape = {}};
  for (const json& size : shape) {
    const std::uint64_t number = whole_number(file, name, size);
    if (number > INT64_MAX) fail(file, "tensor " + name + ": expected a size below 2^63, found " + size.dump());
    entry.shape.push_back(static_cast<std::int64_t>(number));
  }
  entry.begin = whole_number(file, name, offsets[0]);
  entry.end = whole_number(file, name, offsets[1]);
  if (entry.begin > entry.end || entry.end > data_bytes) {
    fail(file, "tensor " + name + ": expected offsets within " + std::to_string(data_bytes) + " bytes, found " +
                   offsets.dump() + ". Is the file complete?");
  }
  const auto bytes = bytes_of(entry, data_bytes);
  if (bytes != entry.end - entry.begin) {
    fail(file, "tensor " + name + ": expected as many bytes as its dtype and shape " + shape.dump() + " say, found " +
                   std::to_string(entry.end - entry.begin));
  }
  return entry;
}

// The entries in the order of their bytes, which must follow each other from the first byte to the last.
void check_places(const std::filesystem::path& file, std::vector<Entry>& entries, std::uint64_t data_bytes) {
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  std::uint64_t expected = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != expected) {
      fail(file, "tensor " + entry.name + ": expected its bytes to begin at " + std::to_string(expected) + ", found " +
                     std::to_string(entry.begin) + ". Tensors must neither overlap nor leave gaps");
    }
    expected = entry.end;
  }
  if (expected != data_bytes) {
    fail(file, "expected the tensors to fill " + std::to_string(data_bytes) + " bytes, found that they fill " +
                   std::to_string(expected));
  }
}

std::uint64_t header_bytes_of(const std::filesystem::path& file, const MappedFile& mapped) {
  if (mapped.size_bytes() < kLengthBytes) {
    fail(file, "expected a safetensors file, found " + std::to_string(mapped.size_bytes()) + " bytes");
  }
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length |= static_cast<std::uint64_t>(mapped.data()[i]) << (8 * i);
  }
  const std::uint64_t max_bytes = std::min<std::uint64_t>(kMaxHeaderBytes, mapped.size_bytes() - kLengthBytes);
  if (length > max_bytes) {
    fail(file, "expected a header of at most " + std::to_string(max_bytes) + " bytes, found the length " +
                   std::to_string(length) + ". The file is truncated, or it is not a safetensors file");
  }
  return length;
}

std::vector<Entry> read_entries(const std::filesystem::path& file, const char* text, std::uint64_t text_bytes,
                                std::uint64_t data_bytes) {
  const json header = json::parse(text, text + text_bytes, nullptr, false);
  if (!header.is_object()) fail(file, "expected a header that is a JSON object. The file is damaged");
  std::vector<Entry> entries;
  for (const auto& [name, value] : header.items()) {
    if (name != "__metadata__") entries.push_back(entry_of(file, name, value, data_bytes));
  }
  check_places(file, entries, data_bytes);
  return entries;
}

at::Tensor tensor_of(const Entry& entry, std::byte* data, const std::shared_ptr<MappedFile>& mapped) {
  std::byte* bytes = data + entry.begin;
  if (entry.begin == entry.end) return at::empty(entry.shape, entry.type);
  // Nothing says where a header ends.
  if (reinterpret_cast<std::uintptr_t>(bytes) % at::elementSize(entry.type) != 0) {
    at::Tensor copy = at::empty(entry.shape, entry.type);
    std::memcpy(copy.data_ptr(), bytes, entry.end - entry.begin);
    return copy;
  }
  return at::from_blob(
      bytes, entry.shape, [mapped](void*) {}, at::TensorOptions().dtype(entry.type));
}

json entry_json(const std::filesystem::path& file, const std::string& name, const at::Tensor& tensor,
                std::uint64_t& place) {
  const auto found = std::find_if(kDtypes.begin(), kDtypes.end(),
                                  [&](const Dtype& dtype) { return dtype.type == tensor.scalar_type(); });
  if (found == kDtypes.end())
    fail(file, "tensor " + name + ": cannot write the dtype " + c10::toString(tensor.scalar_type()));
  const std::uint64_t begin = std::exchange(place, place + tensor.nbytes());
  return {{"dtype", found->name}, {"shape", tensor.sizes().vec()}, {"data_offsets", {begin, place}}};
}

}  // namespace

TensorsByName read_safetensors(const std::filesystem::path& file) {
  const auto mapped = std::make_shared<MappedFile>(file);
  const std::uint64_t header_bytes = header_bytes_of(file, *mapped);
  std::byte* data = mapped->data() + kLengthBytes + header_bytes;
  const auto* text = reinterpret_cast<const char*>(mapped->data() + kLengthBytes);
  const std::uint64_t data_bytes = mapped->size_bytes() - kLengthBytes - header_bytes;
  TensorsByName tensors;
  for (const Entry& entry : read_entries(file, text, header_bytes, data_bytes)) {
    tensors.emplace(entry.name, tensor_of(entry, data, mapped));
  }
  return tensors;
}

void write_safetensors(const std::filesystem::path& file, const TensorsByName& tensors) {
  json header = {{"__metadata__", {{"format", "pt"}}}};
  std::uint64_t place = 0;
  for (const auto& [name, tensor] : tensors) header[name] = entry_json(file, name, tensor, place);
  std::string text = header.dump();
  text.resize((text.size() + kLengthBytes - 1) / kLengthBytes * kLengthBytes, ' ');  // so that the tensors are aligned

  AtomicFile out(file);
  std::array<unsigned char, kLengthBytes> length;
  for (std::size_t i = 0; i < kLengthBytes; ++i) length[i] = static_cast<unsigned char>(text.size() >> (8 * i));
  out.append(length.data(), length.size());
  out.append(text);
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor bytes = tensor.detach().cpu().contiguous();
    out.append(bytes.data_ptr(), bytes.nbytes());
  }
  out.commit();
}

}  // namespace bert
