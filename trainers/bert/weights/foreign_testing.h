// For tests: files of TensorFlow and GluonNLP, byte by byte.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace bert {

template <class Number>
std::string bytes_of(Number number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

inline std::string number_field(int field, std::uint64_t value) {
  return varint(field << 3) + varint(value);
}
inline std::string bytes_field(int field, const std::string& bytes) {
  return varint(field << 3 | 2) + varint(bytes.size()) + bytes;
}

// Bit by bit, as RFC 3720 has it.
inline std::uint32_t crc32c_of(const std::string& bytes) {
  std::uint32_t crc = 0xffffffffu;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0);
  }
  return ~crc;
}

inline std::string bundle_entry(std::uint64_t dtype, const std::vector<std::uint64_t>& shape, std::uint64_t offset,
                                std::uint64_t size, std::uint32_t crc) {
  std::string dimensions;
  for (const std::uint64_t length : shape) dimensions += bytes_field(2, number_field(1, length));
  const std::uint32_t masked = ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
  return number_field(1, dtype) + bytes_field(2, dimensions) + number_field(4, offset) + number_field(5, size) +
         varint(6 << 3 | 5) + bytes_of(masked);
}

// Keys that share what they can, and one restart.
inline std::string block(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string bytes, last;
  for (const auto& [key, value] : entries) {
    std::size_t shared = 0;
    while (shared < key.size() && shared < last.size() && key[shared] == last[shared]) ++shared;
    bytes += varint(shared) + varint(key.size() - shared) + varint(value.size()) + key.substr(shared) + value;
    last = key;
  }
  return bytes + bytes_of(std::uint32_t{0}) + bytes_of(std::uint32_t{1});
}

inline std::string table(const std::vector<std::pair<std::string, std::string>>& entries) {
  const std::string trailer(5, '\0');  // not compressed; the block's checksum
  const std::string data = block(entries);
  const std::string index = block({{"z", varint(0) + varint(data.size())}});
  const std::size_t index_at = data.size() + trailer.size();
  std::string footer = varint(0) + varint(0) + varint(index_at) + varint(index.size());
  footer.resize(40, '\0');
  return data + trailer + index + trailer + footer + bytes_of(std::uint64_t{0xdb4775248b80fb57ull});
}

inline std::string gluon_array(std::uint32_t magic, const std::vector<std::int64_t>& shape, std::int32_t type,
                               const std::string& data) {
  std::string bytes = bytes_of(magic);
  if (magic != 0xf993fac8) bytes += bytes_of(std::int32_t{0});
  bytes += bytes_of(static_cast<std::uint32_t>(shape.size()));
  for (const std::int64_t size : shape) bytes += bytes_of(size);
  return bytes + bytes_of(std::int32_t{1}) + bytes_of(std::int32_t{0}) + bytes_of(type) + data;
}

inline std::string gluon_list(const std::vector<std::string>& arrays, const std::vector<std::string>& names) {
  std::string bytes = bytes_of(std::uint64_t{0x112}) + bytes_of(std::uint64_t{0});
  bytes += bytes_of(static_cast<std::uint64_t>(arrays.size()));
  for (const std::string& array : arrays) bytes += array;
  bytes += bytes_of(static_cast<std::uint64_t>(names.size()));
  for (const std::string& name : names) bytes += bytes_of(static_cast<std::uint64_t>(name.size())) + name;
  return bytes;
}

}  // namespace bert
