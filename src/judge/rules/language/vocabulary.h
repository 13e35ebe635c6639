// The functions of the rule language.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "judge/rules/language/expression.h"

namespace trainwarden::rules::language {

// A name may be several: max(weight) is read of a tensor, max(l2(weight), 10 steps) is a window, max(a, b) is of two
// numbers.
struct ReadWord {
  std::string_view name;
  WhatIsRead reading;
  Reduction reduction = Reduction::kMean;
  bool abs = false;
};
std::optional<ReadWord> find_read(std::string_view name);

enum class Extent : std::uint8_t { kNone, kSteps };  // what stands behind the comma
struct WindowWord {
  std::string_view name;
  Op op;
  Extent extent = Extent::kSteps;  // kNone: previous(x), first(x)
};
std::optional<WindowWord> find_window(std::string_view name);

struct OverWord {
  std::string_view name;
  Op op;
  bool of_condition = false;
};
std::optional<OverWord> find_over(std::string_view name);

struct MathWord {
  std::string_view name;
  Op op;
  int arguments = 1;
};
std::optional<MathWord> find_math(std::string_view name);

const std::vector<std::string>& function_names();  // each once

}  // namespace trainwarden::rules::language
