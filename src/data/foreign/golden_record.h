// For tests: the golden record of smdebug's, and bytes written as hexadecimal digits.
#pragma once

#include <string>
#include <string_view>

namespace trainwarden::foreign {

// The bytes that a text of hexadecimal digits and blanks stands for.
inline std::string from_hex(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c != ' ' && c != '\n') digits += c;
  }
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

// One record as smdebug wrote it: tensor loss/mul:0, float32 of shape [1], 129.74995, step 0, mode step 0, mode 4.
inline std::string golden_record() {
  return from_hex(R"(
    5400000000000000 5f514587
    0975a9299b9d04d8412a490a470a0a6c6f73732f6d756c3a30421c0801121212100801120c6c6f73732f6d756c3a305f31
    2204fdbf01434a1b0a0e0a096d6f64655f73746570120130 0a090a046d6f6465120134
    b3c02d06)");
}
inline constexpr double kGoldenWallTimeS = 1611822700.6509678;

}  // namespace trainwarden::foreign
