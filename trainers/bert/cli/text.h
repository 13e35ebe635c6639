// Numbers in texts.
#pragma once

#include <array>
#include <cstdio>
#include <string>

namespace bert {

// As printf, at most 511 bytes.
template <class... Values>
std::string format(const char* pattern, Values... values) {
  std::array<char, 512> text{};
  std::snprintf(text.data(), text.size(), pattern, values...);
  return text.data();
}

}  // namespace bert
