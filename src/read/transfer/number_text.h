// Numbers as text: the shortest that reads back to the same bits (but for the payload of a NaN).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trainwarden/tensor_view.h"

namespace trainwarden::transfer {

// How the formats write what is no ordinary number.
struct NumberStyle {
  std::string_view nan;
  std::string_view infinity;
  std::string_view minus_infinity;
  std::string_view no;  // false and true
  std::string_view yes;
  // Around and between the two parts of a complex number.
  std::string_view complex_begin;
  std::string_view complex_middle;
  std::string_view complex_end;
  bool sign_of_second = false;  // the imaginary part always has its sign
};
inline constexpr NumberStyle kCsvNumbers{"nan", "inf", "-inf", "0", "1", "", "", "j", true};
inline constexpr NumberStyle kJsonNumbers{"\"NaN\"", "\"Infinity\"", "\"-Infinity\"", "false", "true", "[", ",",
                                          "]",       false};

void append_number(std::string& out, double number, const NumberStyle& style);

// Element `index`, row-major, of a packed tensor of numbers.
void append_element(std::string& out, const TensorView& packed, std::int64_t index, const NumberStyle& style);

// Text between quotes as JSON has it; bytes that are not UTF-8 become U+FFFD.
std::string json_text(std::string_view text);

}  // namespace trainwarden::transfer
