// Pattern: a compiled regular expression (PCRE2: look-ahead and look-behind, as the patterns that people have use
// them).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"

namespace trainwarden {

// Copies share the compiled expression. Const access from many threads is safe.
class Pattern {
 public:
  // kInvalidArgument with the place of the fault: `pattern "a(" does not compile: missing closing parenthesis at 2`.
  static Result<Pattern> compile(std::string_view expression);

  // Found anywhere in `text`? A search that would backtrack without end is given up as "not found" and logged.
  bool found_in(std::string_view text) const;

  const std::string& expression() const { return expression_; }

 private:
  struct Compiled;
  Pattern(std::string expression, std::shared_ptr<const Compiled> compiled)
      : expression_(std::move(expression)), compiled_(std::move(compiled)) {}

  std::string expression_;
  std::shared_ptr<const Compiled> compiled_;
};

// Any of several patterns.
class PatternSet {
 public:
  static Result<PatternSet> compile(const std::vector<std::string>& expressions);
  bool found_in(std::string_view text) const;
  bool empty() const { return patterns_.empty(); }

 private:
  std::vector<Pattern> patterns_;
};

}  // namespace trainwarden
