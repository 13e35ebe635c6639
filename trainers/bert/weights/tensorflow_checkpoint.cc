// Checkpoints of TensorFlow: the table, its entries, the data.
#include "weights/tensorflow_checkpoint.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

#include <ATen/ops/empty.h>

#include "files/reading.h"
#include "weights/bytes_reader.h"

namespace bert {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::size_t kFooterBytes = 48;
constexpr std::uint64_t kTableMagic = 0xdb4775248b80fb57ull;
constexpr std::uint64_t kMaxShards = 10000;

struct Handle {
  std::uint64_t offset;
  std::uint64_t size;
};

Handle read_handle(BytesReader& in) {
  const std::uint64_t offset = in.varint();
  return {offset, in.varint()};
}

// A block's entries: (key, value), the key without the part that it shares with the one before.
std::vector<std::pair<std::string, Bytes>> read_block(Bytes table, Handle handle, const std::string& source) {
  BytesReader whole(table, source);
  whole.take(handle.offset);
  const Bytes block = whole.take(handle.size);
  if (whole.number<std::uint8_t>() != 0)
    whole.fail("expected a table that is not compressed. Save it by TensorFlow again");
  BytesReader counts(block, source);
  if (block.size() < 4) whole.fail("expected a block of at least four bytes. The file is damaged");
  counts.take(block.size() - 4);
  const std::uint64_t restarts_bytes = 4 * (std::uint64_t{counts.number<std::uint32_t>()} + 1);
  if (restarts_bytes > block.size()) whole.fail("expected restarts within a block. The file is damaged");

  std::vector<std::pair<std::string, Bytes>> entries;
  BytesReader in(block.first(block.size() - restarts_bytes), source);
  std::string key;
  while (!in.at_end()) {
    const std::uint64_t shared = in.varint();
    const std::uint64_t more = in.varint();
    const std::uint64_t value_bytes = in.varint();
    if (shared > key.size()) in.fail("expected a key that shares what the one before has. The file is damaged");
    key.resize(shared);
    key += in.text(more);
    entries.emplace_back(key, in.take(value_bytes));
  }
  return entries;
}

struct BundleEntry {
  std::uint64_t dtype = 0;
  std::vector<std::int64_t> shape;
  std::uint64_t shard = 0, offset = 0, size = 0;
  std::optional<std::uint32_t> checksum;
  bool sliced = false;
};

// Calls body(field, value, bytes) for each field of a message: `value` of numbers, `bytes` of what has a length.
template <class Body>
void for_fields(Bytes message, const std::string& source, Body body) {
  BytesReader in(message, source);
  while (!in.at_end()) {
    const std::uint64_t tag = in.varint();
    switch (tag & 7) {
      case 0: body(tag >> 3, in.varint(), Bytes()); break;
      case 1: body(tag >> 3, in.number<std::uint64_t>(), Bytes()); break;
      case 2: body(tag >> 3, 0, in.take(in.varint())); break;
      case 5: body(tag >> 3, in.number<std::uint32_t>(), Bytes()); break;
      default: in.fail("expected an entry of a tensor bundle. The file is damaged");
    }
  }
}

std::vector<std::int64_t> read_shape(Bytes message, const std::string& source) {
  std::vector<std::int64_t> shape;
  for_fields(message, source, [&](std::uint64_t field, std::uint64_t, Bytes dimension) {
    if (field != 2) return;
    shape.push_back(0);
    for_fields(dimension, source, [&](std::uint64_t inner, std::uint64_t size, Bytes) {
      if (inner == 1) shape.back() = static_cast<std::int64_t>(size);
    });
  });
  return shape;
}

BundleEntry read_entry(Bytes message, const std::string& source) {
  BundleEntry entry;
  for_fields(message, source, [&](std::uint64_t field, std::uint64_t value, Bytes bytes) {
    switch (field) {
      case 1: entry.dtype = value; break;
      case 2: entry.shape = read_shape(bytes, source); break;
      case 3: entry.shard = value; break;
      case 4: entry.offset = value; break;
      case 5: entry.size = value; break;
      case 6: entry.checksum = static_cast<std::uint32_t>(value); break;
      case 7: entry.sliced = true; break;
      default: break;
    }
  });
  return entry;
}

// The number of data files.
std::uint64_t read_header(Bytes message, const std::string& source) {
  std::uint64_t shards = 0;
  for_fields(message, source, [&](std::uint64_t field, std::uint64_t value, Bytes) {
    if (field == 1) shards = value;
    if (field == 2 && value != 0)
      throw std::runtime_error(source + ": expected a little-endian checkpoint, found another");
  });
  if (shards == 0 || shards > kMaxShards) {
    throw std::runtime_error(source + ": expected 1 to 10000 data files, found " + std::to_string(shards));
  }
  return shards;
}

// The types of tensorflow/core/framework/types.proto that we take.
std::optional<at::ScalarType> type_of(std::uint64_t dtype) {
  switch (dtype) {
    case 1: return at::kFloat;
    case 2: return at::kDouble;
    case 3: return at::kInt;
    case 9: return at::kLong;
    case 14: return at::kBFloat16;
    case 19: return at::kHalf;
    default: return std::nullopt;
  }
}

// CRC-32C (Castagnoli), as leveldb masks it.
std::uint32_t masked_checksum(Bytes bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      made[i] = i;
      for (int bit = 0; bit < 8; ++bit) made[i] = (made[i] >> 1) ^ ((made[i] & 1) != 0 ? 0x82f63b78u : 0);
    }
    return made;
  }();
  std::uint32_t crc = 0xffffffffu;
  for (const std::byte byte : bytes) crc = table[(crc ^ static_cast<std::uint32_t>(byte)) & 0xff] ^ (crc >> 8);
  crc = ~crc;
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

// The tensor of an entry, copied out of its data file.
at::Tensor read_tensor(const std::string& name, const BundleEntry& entry, at::ScalarType type, const MappedFile& data,
                       const std::string& source) {
  BytesReader in({data.data(), data.size_bytes()}, source + ": tensor " + name);
  if (entry.sliced) in.fail("expected a tensor in one piece, found slices. Save the checkpoint without partitions");
  std::uint64_t bytes = at::elementSize(type);
  if (entry.shape.size() > kMaxDimensions) in.fail("expected at most 16 dimensions. The file is damaged");
  for (const std::int64_t size : entry.shape) {
    if (size < 0 || (size > 0 && bytes > entry.size / static_cast<std::uint64_t>(size))) {
      in.fail("expected as many bytes as its shape says. The file is damaged");
    }
    bytes *= static_cast<std::uint64_t>(size);
  }
  if (bytes != entry.size) in.fail("expected as many bytes as its shape says. The file is damaged");
  in.take(entry.offset);
  const Bytes taken = in.take(entry.size);
  if (entry.checksum && masked_checksum(taken) != *entry.checksum)
    in.fail("its checksum is wrong. The file is damaged");
  at::Tensor tensor = at::empty(entry.shape, type);
  if (!taken.empty()) std::memcpy(tensor.data_ptr(), taken.data(), taken.size());
  return tensor;
}

std::filesystem::path data_file(const std::filesystem::path& index, std::uint64_t shard, std::uint64_t shards) {
  char suffix[64];
  std::snprintf(suffix, sizeof suffix, ".data-%05d-of-%05d", static_cast<int>(shard), static_cast<int>(shards));
  std::filesystem::path file = index;
  file.replace_extension();
  file += suffix;
  return file;
}

bool is_slot(const std::string& name) {
  return name.ends_with("/adam_m") || name.ends_with("/adam_v");
}

std::vector<std::pair<std::string, Bytes>> read_table(const MappedFile& mapped, const std::string& source) {
  const Bytes table(mapped.data(), mapped.size_bytes());
  BytesReader whole(table, source);
  if (table.size() < kFooterBytes) whole.fail("expected the index of a TensorFlow checkpoint, found a short file");
  whole.take(table.size() - 8);
  if (whole.number<std::uint64_t>() != kTableMagic) {
    whole.fail("expected the index of a TensorFlow checkpoint, found another file, or a truncated one");
  }
  BytesReader footer(table.last(kFooterBytes), source);
  read_handle(footer);
  std::vector<std::pair<std::string, Bytes>> entries;
  for (const auto& [last_key, value] : read_block(table, read_handle(footer), source)) {
    BytesReader handle(value, source);
    for (auto& entry : read_block(table, read_handle(handle), source)) entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace

TensorsByName read_tensorflow_checkpoint(const std::filesystem::path& index) {
  const std::string source = index.string();
  const MappedFile mapped(index);
  const auto entries = read_table(mapped, source);
  if (entries.empty() || !entries.front().first.empty()) {
    throw std::runtime_error(source + ": expected the header of a tensor bundle, found none");
  }
  const std::uint64_t shards = read_header(entries.front().second, source);
  std::map<std::uint64_t, std::unique_ptr<MappedFile>> files;
  TensorsByName tensors;
  for (const auto& [name, message] : entries) {
    if (name.empty() || is_slot(name)) continue;
    const BundleEntry entry = read_entry(message, source);
    const auto type = type_of(entry.dtype);
    if (!type) continue;
    if (entry.shard >= shards)
      throw std::runtime_error(source + ": tensor " + name + ": its data file is none of the bundle's");
    const std::filesystem::path file = data_file(index, entry.shard, shards);
    auto& data = files[entry.shard];
    if (data == nullptr) data = std::make_unique<MappedFile>(file);
    tensors.emplace(name, read_tensor(name, entry, *type, *data, file.string()));
  }
  return tensors;
}

}  // namespace bert
