// Expression: a rule in the rule language, taken apart and checked. docs/reference/rule-language.md is its reference.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "judge/rules/language/selector.h"
#include "trainwarden/mode.h"
#include "trainwarden/rule.h"

namespace trainwarden::rules::language {

// What bounds a rule that somebody wrote, and its state.
inline constexpr std::size_t kMostTextBytes = 10'000;
inline constexpr int kMostDepth = 64;
inline constexpr std::size_t kMostNodes = 1'000;
inline constexpr std::int64_t kMostWindowSteps = 100'000;
inline constexpr std::size_t kMostSubjects = 100'000;        // tensors that one part of a rule remembers
inline constexpr std::size_t kMostWindowValues = 8'000'000;  // numbers that a rule remembers in all, 8 bytes each
inline constexpr std::int64_t kMostSteps = 1'000'000'000;    // in `for N steps`, `every N steps`

// A part of the text: bytes [begin, end).
struct Place {
  std::size_t begin = 0;
  std::size_t end = 0;
};

enum class Op : std::uint8_t {
  kNumber,  // a literal
  kStep,    // the step's own number
  kRead,    // a number of a tensor
  // Of one or two numbers.
  kNegate,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kAbs,
  kLog,
  kSqrt,
  kSmaller,
  kLarger,
  // Of a number over the steps before.
  kWindowMedian,
  kWindowMean,
  kWindowMin,
  kWindowMax,
  kWindowStd,
  kWindowSum,
  kLag,
  kChange,
  kFirst,
  // Of a number over tensors.
  kMaxOver,
  kMinOver,
  kMeanOver,
  kMedianOver,
  kSumOver,
  // Of a condition over tensors: numbers, and conditions.
  kCount,
  kShare,
  kAll,
  kAny,
  // Conditions on numbers.
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kNotEqual,
  kIsNan,
  kIsFinite,
  // Conditions on conditions.
  kAnd,
  kOr,
  kNot,
};

bool is_condition(Op op);  // else its answer is a number
bool is_window(Op op);
bool is_over_tensors(Op op);

// What is read of a tensor.
enum class WhatIsRead : std::uint8_t {
  kReduction,
  kNanCount,
  kInfCount,
  kZeroCount,
  kZeroFraction,
  kSize,
  kValue,
};

struct Node {
  Op op = Op::kNumber;
  Place place;
  std::array<int, 2> children = {-1, -1};       // places in Expression::nodes, lower than this node's
  double number = 0;                            // kNumber
  std::int64_t steps = 0;                       // of a window
  WhatIsRead reading = WhatIsRead::kReduction;  // kRead, with the three below
  Reduction reduction = Reduction::kMean;
  bool abs = false;
  int selector = -1;  // place in Expression::selectors
  int scope = 0;      // place in Expression::scopes: whose subject it is evaluated for
  int inner = -1;     // of what goes over tensors: the scope of its child
};

// A part of a rule that is evaluated for one tensor after the other: the whole, or what goes over tensors within it.
struct Scope {
  std::vector<int> selectors;  // each once
  int leader = -1;             // of these, the one whose tensors are the subjects; -1: one subject without a tensor
};

// Made by parse_expression(), which sees that it is within the bounds.
struct Expression {
  std::string text;
  std::string name;         // "" when none was given
  std::vector<Node> nodes;  // children first; the last is the condition
  std::vector<Selector> selectors;
  std::vector<Scope> scopes;  // the first is the whole
  std::int64_t for_steps = 1;
  std::int64_t every = 1;
  std::optional<Mode> mode;
  std::optional<int> rank;
  Severity severity = Severity::kWarning;

  std::string text_of(const Node& node) const;  // in one line
};

}  // namespace trainwarden::rules::language
