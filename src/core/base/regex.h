// Regex: a compiled regular expression (PCRE2: look-ahead and look-behind, as the patterns that people have use
// them).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"

namespace trainwarden {

// Copies share the compiled expression. Const access from many threads is safe.
class Regex {
 public:
  // kInvalidArgument with the place of the fault: `pattern "a(" does not compile: missing closing parenthesis at 2`.
  static Result<Regex> compile(std::string_view expression);

  // Found anywhere in `text`? A search that would backtrack without end is given up as "not found" and logged.
  bool found_in(std::string_view text) const;

  // Where the first match from `from` on lies: that of group 1 when the pattern has such a group and it took part.
  // Nothing as found_in() says false, but a search that is given up says nothing of it.
  struct Span {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string_view in(std::string_view text) const { return text.substr(begin, end - begin); }
  };
  std::optional<Span> find(std::string_view text, std::size_t from) const;

  // The first match from `from` on, with its groups.
  enum class Outcome { kFound, kNotFound, kGivenUp };
  struct Match {
    Span whole;
    std::vector<std::optional<Span>> groups;  // [0]: group 1; nothing: it took no part
  };
  // Fills `match` when one is found; `match` can be used again and again without allocating. kGivenUp: the search
  // would have backtracked without end. It is logged once, as by found_in().
  Outcome search(std::string_view text, std::size_t from, Match& match) const;

  std::size_t count_groups() const;
  // The number of a named group, 1 for the first.
  std::optional<std::size_t> group_named(const char* name) const;

  const std::string& expression() const { return expression_; }

 private:
  struct Compiled;
  Regex(std::string expression, std::shared_ptr<const Compiled> compiled)
      : expression_(std::move(expression)), compiled_(std::move(compiled)) {}

  void log_given_up(std::string_view text, int outcome) const;  // once

  std::string expression_;
  std::shared_ptr<const Compiled> compiled_;
};

// Any of several patterns.
class RegexSet {
 public:
  static Result<RegexSet> compile(const std::vector<std::string>& expressions);
  bool found_in(std::string_view text) const;
  bool empty() const { return patterns_.empty(); }

 private:
  std::vector<Regex> patterns_;
};

}  // namespace trainwarden
