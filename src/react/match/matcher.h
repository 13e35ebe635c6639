// Matcher: many patterns against one event at once, through one automaton.
//
//   MatcherBuilder builder;
//   builder.add(pattern);                        // number 0
//   const Matcher matcher = builder.build();
//   auto numbers = matcher.match(event_json);    // those that match, rising
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "react/match/pattern.h"
#include "trainwarden/status.h"

namespace trainwarden::match {

struct Automaton;

// Immutable; match() may be called from many threads at once.
class Matcher {
 public:
  Matcher(Matcher&&) noexcept;
  Matcher& operator=(Matcher&&) noexcept;
  ~Matcher();

  // The numbers of the patterns that the event matches, rising. kInvalidArgument when the text is no JSON object.
  Result<std::vector<std::uint32_t>> match(std::string_view event_json) const;

 private:
  friend class MatcherBuilder;
  explicit Matcher(std::unique_ptr<const Automaton> automaton);
  std::unique_ptr<const Automaton> automaton_;
};

class MatcherBuilder {
 public:
  std::uint32_t add(const Pattern& pattern);  // its number: 0, 1, 2, ...
  Matcher build() const;

 private:
  std::vector<Pattern> patterns_;
};

// One pattern against one event.
Result<bool> matches(const Pattern& pattern, std::string_view event_json);

}  // namespace trainwarden::match
