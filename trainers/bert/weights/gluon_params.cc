// Files of MXNet.
#include "weights/gluon_params.h"

#include <cstdint>
#include <vector>

#include <ATen/ops/empty.h>

#include "files/reading.h"
#include "weights/bytes_reader.h"

namespace bert {
namespace {

constexpr std::uint64_t kListMagic = 0x112;
constexpr std::uint32_t kMagicV1 = 0xf993fac8;  // no storage type
constexpr std::uint32_t kMagicV2 = 0xf993fac9;
constexpr std::uint32_t kMagicV3 = 0xf993faca;  // shapes that may be unknown

at::ScalarType type_of_flag(std::int32_t flag, const BytesReader& in) {
  switch (flag) {
    case 0: return at::kFloat;
    case 1: return at::kDouble;
    case 2: return at::kHalf;
    case 3: return at::kByte;
    case 4: return at::kInt;
    case 6: return at::kLong;
    default: in.fail("expected a dtype of numbers, found the flag " + std::to_string(flag));
  }
}

std::vector<std::int64_t> read_dimensions(BytesReader& in) {
  const auto count = in.number<std::uint32_t>();
  if (count > kMaxDimensions) in.fail("expected at most 16 dimensions, found " + std::to_string(count));
  std::vector<std::int64_t> shape;
  for (std::uint32_t i = 0; i < count; ++i) shape.push_back(in.number<std::int64_t>());
  return shape;
}

at::Tensor read_array(BytesReader& in) {
  const auto magic = in.number<std::uint32_t>();
  if (magic != kMagicV1 && magic != kMagicV2 && magic != kMagicV3) {
    in.fail("expected an array of MXNet, found another start. Files of MXNet before 0.11 are not read");
  }
  if (magic != kMagicV1) {
    const auto storage = in.number<std::int32_t>();
    if (storage > 0) in.fail("expected a dense array, found a sparse one");
  }
  const std::vector<std::int64_t> shape = read_dimensions(in);
  if (shape.empty()) return at::empty({0}, at::kFloat);  // an array without content ends here
  in.take(8);                                            // the device that it was on
  const at::ScalarType type = type_of_flag(in.number<std::int32_t>(), in);
  std::uint64_t bytes = at::elementSize(type);
  for (const std::int64_t size : shape) {
    if (size <= 0 || bytes > in.left_bytes() / static_cast<std::uint64_t>(size)) {
      in.fail("expected the bytes of an array, found that its shape needs more than the file has");
    }
    bytes *= static_cast<std::uint64_t>(size);
  }
  const auto taken = in.take(bytes);
  at::Tensor tensor = at::empty(shape, type);
  std::memcpy(tensor.data_ptr(), taken.data(), taken.size());
  return tensor;
}

// save() puts this before the names of what may be on either side of a network.
std::string without_kind(const std::string& name) {
  return name.starts_with("arg:") || name.starts_with("aux:") ? name.substr(4) : name;
}

}  // namespace

TensorsByName read_gluon_params(const std::filesystem::path& file) {
  const MappedFile mapped(file);
  BytesReader in({mapped.data(), mapped.size_bytes()}, file.string());
  if (in.number<std::uint64_t>() != kListMagic) in.fail("expected a list of arrays by MXNet, found another file");
  in.take(8);  // reserved
  // Nothing is set aside for what a count claims: the bytes of each array must be there.
  const auto count = in.number<std::uint64_t>();
  std::vector<at::Tensor> arrays;
  for (std::uint64_t i = 0; i < count; ++i) arrays.push_back(read_array(in));
  const auto names = in.number<std::uint64_t>();
  if (names != count)
    in.fail("expected a name for each of " + std::to_string(count) + " arrays, found " + std::to_string(names));
  TensorsByName tensors;
  for (const at::Tensor& array : arrays) {
    const std::string name = without_kind(in.text(in.number<std::uint64_t>()));
    if (!tensors.emplace(name, array).second) in.fail("expected each name once, found " + name + " twice");
  }
  return tensors;
}

}  // namespace bert
