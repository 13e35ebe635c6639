#include "judge/rules/language/vocabulary.h"

#include <algorithm>
#include <array>

namespace trainwarden::rules::language {
namespace {

constexpr std::array kReads = {
    ReadWord{"mean", WhatIsRead::kReduction, Reduction::kMean},
    ReadWord{"min", WhatIsRead::kReduction, Reduction::kMin},
    ReadWord{"max", WhatIsRead::kReduction, Reduction::kMax},
    ReadWord{"std", WhatIsRead::kReduction, Reduction::kStd},
    ReadWord{"var", WhatIsRead::kReduction, Reduction::kVariance},
    ReadWord{"sum", WhatIsRead::kReduction, Reduction::kSum},
    ReadWord{"l1", WhatIsRead::kReduction, Reduction::kL1},
    ReadWord{"l2", WhatIsRead::kReduction, Reduction::kL2},
    ReadWord{"abs_mean", WhatIsRead::kReduction, Reduction::kMean, true},
    ReadWord{"abs_min", WhatIsRead::kReduction, Reduction::kMin, true},
    ReadWord{"abs_max", WhatIsRead::kReduction, Reduction::kMax, true},
    ReadWord{"abs_std", WhatIsRead::kReduction, Reduction::kStd, true},
    ReadWord{"abs_var", WhatIsRead::kReduction, Reduction::kVariance, true},
    ReadWord{"nan_count", WhatIsRead::kNanCount},
    ReadWord{"inf_count", WhatIsRead::kInfCount},
    ReadWord{"zero_count", WhatIsRead::kZeroCount},
    ReadWord{"zero_fraction", WhatIsRead::kZeroFraction},
    ReadWord{"size", WhatIsRead::kSize},
    ReadWord{"value", WhatIsRead::kValue},
};

constexpr std::array kWindows = {
    WindowWord{"median", Op::kWindowMedian},
    WindowWord{"mean", Op::kWindowMean},
    WindowWord{"min", Op::kWindowMin},
    WindowWord{"max", Op::kWindowMax},
    WindowWord{"std", Op::kWindowStd},
    WindowWord{"sum", Op::kWindowSum},
    WindowWord{"lag", Op::kLag},
    WindowWord{"change", Op::kChange},
    WindowWord{"previous", Op::kLag, Extent::kNone},
    WindowWord{"first", Op::kFirst, Extent::kNone},
};

constexpr std::array kOver = {
    OverWord{"max_over", Op::kMaxOver},       OverWord{"min_over", Op::kMinOver}, OverWord{"mean_over", Op::kMeanOver},
    OverWord{"median_over", Op::kMedianOver}, OverWord{"sum_over", Op::kSumOver}, OverWord{"count", Op::kCount, true},
    OverWord{"share", Op::kShare, true},      OverWord{"all", Op::kAll, true},    OverWord{"any", Op::kAny, true},
};

constexpr std::array kMath = {
    MathWord{"abs", Op::kAbs},
    MathWord{"log", Op::kLog},
    MathWord{"sqrt", Op::kSqrt},
    MathWord{"min", Op::kSmaller, 2},
    MathWord{"max", Op::kLarger, 2},
    MathWord{"is_nan", Op::kIsNan},
    MathWord{"is_finite", Op::kIsFinite},
};

template <class Words>
auto find(const Words& words, std::string_view name) -> std::optional<typename Words::value_type> {
  const auto found = std::find_if(words.begin(), words.end(), [&](const auto& word) { return word.name == name; });
  if (found == words.end()) return std::nullopt;
  return *found;
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const auto& word : kReads) names.emplace_back(word.name);
  for (const auto& word : kWindows) names.emplace_back(word.name);
  for (const auto& word : kOver) names.emplace_back(word.name);
  for (const auto& word : kMath) names.emplace_back(word.name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

std::optional<ReadWord> find_read(std::string_view name) {
  return find(kReads, name);
}
std::optional<WindowWord> find_window(std::string_view name) {
  return find(kWindows, name);
}
std::optional<OverWord> find_over(std::string_view name) {
  return find(kOver, name);
}
std::optional<MathWord> find_math(std::string_view name) {
  return find(kMath, name);
}

const std::vector<std::string>& function_names() {
  static const std::vector<std::string> kNames = all_names();
  return kNames;
}

}  // namespace trainwarden::rules::language
