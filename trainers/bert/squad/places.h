// Places: code points of a text, which files of SQuAD count, and its bytes.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace bert {

class Places {
 public:
  explicit Places(std::string_view utf8) {
    for (std::size_t i = 0; i < utf8.size(); ++i) {
      if ((static_cast<unsigned char>(utf8[i]) & 0xc0) != 0x80) bytes_.push_back(i);
    }
    bytes_.push_back(utf8.size());
  }

  std::size_t characters() const { return bytes_.size() - 1; }
  // Where the character begins; the size of the text for characters().
  std::size_t byte(std::size_t character) const { return bytes_.at(character); }

 private:
  std::vector<std::size_t> bytes_;
};

}  // namespace bert
