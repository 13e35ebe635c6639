// The manifest of a checkpoint: which tensor lies where, in JSON.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "training/checkpoint.h"

namespace bert {

inline constexpr std::uint64_t kMaxManifestBytes = std::uint64_t{64} << 20;

struct StoredTensor {
  std::string section, name;
  at::ScalarType type = at::kFloat;
  std::vector<std::int64_t> shape;
  std::int64_t bytes = 0;
};

struct Manifest {
  std::vector<StoredTensor> tensors;  // one after the other in the file
  std::uint32_t tensors_crc = 0;
};

// Text that ends with the line of its own CRC-32. Throws std::runtime_error on a type that has no name here.
std::string manifest_text(const Manifest& manifest, const Checkpoint& counters_and_texts);

// Fills both, but for the sections of the checkpoint. Throws std::runtime_error, without the file's name, on all that
// is not as manifest_text() writes it.
void parse_manifest(const std::string& text, Manifest& manifest, Checkpoint& checkpoint);

}  // namespace bert
