#include "react/match/matcher.h"

#include <new>
#include <utility>

#include "react/match/automaton_builder.h"
#include "react/match/event_run.h"

namespace trainwarden::match {

Matcher::Matcher(std::unique_ptr<const Automaton> automaton) : automaton_(std::move(automaton)) {}
Matcher::Matcher(Matcher&&) noexcept = default;
Matcher& Matcher::operator=(Matcher&&) noexcept = default;
Matcher::~Matcher() = default;

Result<std::vector<std::uint32_t>> Matcher::match(std::string_view event_json) const {
  // Of each thread: it is as large as the largest automaton that the thread has run.
  thread_local RunMemory memory;
  try {
    return EventRun(*automaton_, event_json, memory).run();
  } catch (const std::bad_alloc&) {
    memory = RunMemory();  // it may have been left in the middle of something
    return Status(Code::kResourceExhausted, "not enough memory to match the event");
  }
}

std::uint32_t MatcherBuilder::add(const Pattern& pattern) {
  patterns_.push_back(pattern);
  return static_cast<std::uint32_t>(patterns_.size() - 1);
}

Matcher MatcherBuilder::build() const {
  AutomatonBuilder builder;
  for (std::uint32_t i = 0; i < patterns_.size(); ++i) builder.add(patterns_[i].tree(), i);
  return Matcher(std::make_unique<const Automaton>(builder.build()));
}

Result<bool> matches(const Pattern& pattern, std::string_view event_json) {
  MatcherBuilder builder;
  builder.add(pattern);
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto numbers, builder.build().match(event_json));
  return !numbers.empty();
}

}  // namespace trainwarden::match
