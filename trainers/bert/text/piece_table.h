// PieceTable: the pieces of a vocabulary by their bytes.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace bert {

// A flat hash table whose keys lie in it: a piece of up to 16 bytes is two numbers. Safe for any number of threads once
// it is filled.
class PieceTable {
 public:
  static constexpr std::int32_t kNone = -1;
  static constexpr std::size_t kInlineBytes = 16;

  explicit PieceTable(const std::vector<std::pair<std::string_view, std::int32_t>>& pieces);

  std::size_t longest() const { return longest_; }  // of its pieces, in bytes
  // The id of the piece, or kNone. 16 bytes are read from where it begins, however short it is.
  std::int32_t find(const char* piece, std::size_t bytes) const {
    if (bytes > kInlineBytes) return find_long({piece, bytes});
    const Key key = key_of(piece, bytes);
    for (std::size_t at = place_of(key);; at = (at + 1) & mask_) {
      const Slot& slot = slots_[at];
      if (slot.key.head == key.head && slot.key.tail == key.tail) return slot.id;
      if (slot.id == kNone) return kNone;
    }
  }

 private:
  struct Key {
    std::uint64_t head = 0, tail = 0;  // what the piece has no byte for is 0
  };
  struct Slot {
    Key key;
    std::int32_t id = kNone;
  };
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  static Key key_of(const char* piece, std::size_t bytes) {
    Key key;
    std::memcpy(&key, piece, kInlineBytes);
    Key keep;
    std::memcpy(&keep, kKeepBytes.data() + kInlineBytes - bytes, kInlineBytes);
    return {key.head & keep.head, key.tail & keep.tail};
  }
  std::size_t place_of(const Key& key) const {
    std::uint64_t hash = (key.head ^ key.tail * 0x9e3779b97f4a7c15) * 0xd6e8feb86659fd93;
    hash ^= hash >> 32;
    return static_cast<std::size_t>(hash) & mask_;
  }
  std::int32_t find_long(std::string_view piece) const;

  static constexpr std::array<unsigned char, 2 * kInlineBytes> kKeepBytes = [] {
    std::array<unsigned char, 2 * kInlineBytes> bytes{};
    for (std::size_t i = 0; i < kInlineBytes; ++i) bytes[i] = 0xff;
    return bytes;
  }();

  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  std::size_t longest_ = 0;
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> long_;
};

}  // namespace bert
