// One test of a pattern: whether it matches an event, from texts that may be wrong.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "react/match/matcher.h"
#include "trainwarden/status.h"

namespace trainwarden::cli {

// Keeps the last pattern compiled: tests mostly come with one pattern and many events.
class PatternTester {
 public:
  // kInvalidArgument: the message begins with `pattern: ` or `event: `.
  Result<bool> test(std::string_view pattern, std::string_view event);

  // A line {"pattern": ..., "event": ...}: both may be objects, or strings that hold JSON. Other fields are ignored.
  Result<bool> test_line(std::string_view line);

 private:
  std::optional<std::string> text_;  // of the pattern that matcher_ is of
  std::optional<match::Matcher> matcher_;
};

}  // namespace trainwarden::cli
