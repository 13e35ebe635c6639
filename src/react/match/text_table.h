// TextTable: numbers by text, built once and then only read; a lookup costs a hash and, mostly, one comparison.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trainwarden::match {

class TextTable {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // Each text once.
  void add(std::string_view text, std::uint32_t number);
  std::uint32_t find(std::string_view text) const;  // kNone when it is not there
  bool empty() const { return used_ == 0; }

 private:
  struct Entry {
    std::string text;
    std::uint32_t hash = 0;
    std::uint32_t number = kNone;
  };
  void grow();
  void place(Entry entry);

  std::vector<Entry> entries_;  // a power of two of them, at most half of them taken
  std::size_t used_ = 0;
};

}  // namespace trainwarden::match
