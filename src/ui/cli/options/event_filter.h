// EventFilter: which events of a run are meant.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "react/events/event.h"
#include "react/match/matcher.h"
#include "react/match/pattern.h"
#include "trainwarden/status.h"

namespace trainwarden::cli {

// What --pattern takes: JSON, or a file with it. kInvalidArgument, kNotFound for a file.
Result<match::Pattern> read_pattern(const std::string& text_or_file);

struct EventChoice {
  std::string pattern;
  std::string format = "cloudevents";  // that patterns are matched against and --raw prints
  std::string subject;
  std::uint64_t after = 0;  // only events with a greater seq

  bool eventbridge() const { return format == "eventbridge"; }
  std::string document(const events::Event& event) const;  // in that format
};

void add_event_choice(CLI::App& command, EventChoice& choice);

class EventFilter {
 public:
  static Result<EventFilter> make(const EventChoice& choice);
  Result<bool> takes(const events::Event& event) const;

 private:
  EventFilter(EventChoice choice, std::shared_ptr<const match::Matcher> matcher)
      : choice_(std::move(choice)), matcher_(std::move(matcher)) {}

  EventChoice choice_;
  std::shared_ptr<const match::Matcher> matcher_;  // null: no pattern
};

}  // namespace trainwarden::cli
