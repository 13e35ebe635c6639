#include "ui/cli/options/event_filter.h"

#include <optional>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/text_file.h"
#include "react/match/matcher.h"

namespace trainwarden::cli {

Result<match::Pattern> read_pattern(const std::string& text_or_file) {
  const std::string_view text = trim(text_or_file);
  if (text.starts_with('{')) return match::Pattern::parse(text);
  const std::optional<std::string> content = read_text_file(text_or_file);
  if (!content) {
    return Status(Code::kNotFound, fmt::format("--pattern {}: expected a pattern as JSON, {{\"subject\": [\"run\"]}}, "
                                               "or a file with one; there is no such file",
                                               printable(text_or_file)));
  }
  auto pattern = match::Pattern::parse(*content);
  if (!pattern.ok()) return pattern.status().with_context(printable(text_or_file));
  return pattern;
}

std::string EventChoice::document(const events::Event& event) const {
  return eventbridge() ? events::encode_as_eventbridge(event) : events::encode_event(event);
}

void add_event_choice(CLI::App& command, EventChoice& choice) {
  command
      .add_option("--pattern", choice.pattern,
                  "Only events that match this pattern of EventBridge's language: JSON, or a file with it")
      ->type_name("FILE");
  command
      .add_option("--format", choice.format,
                  "The form of an event that --pattern is matched against and --raw prints (default: cloudevents)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"cloudevents", "eventbridge"}));
  command.add_option("--subject", choice.subject, "Only events about this: a rule's id, or run")->type_name("NAME");
  command.add_option("--after", choice.after, "Only events with a greater number than this")->type_name("SEQ");
}

Result<EventFilter> EventFilter::make(const EventChoice& choice) {
  if (choice.pattern.empty()) return EventFilter(choice, nullptr);
  TRAINWARDEN_ASSIGN_OR_RETURN(match::Pattern pattern, read_pattern(choice.pattern));
  match::MatcherBuilder builder;
  builder.add(pattern);
  return EventFilter(choice, std::make_shared<const match::Matcher>(builder.build()));
}

Result<bool> EventFilter::takes(const events::Event& event) const {
  if (event.seq <= choice_.after) return false;
  if (!choice_.subject.empty() && event.subject != choice_.subject) return false;
  if (matcher_ == nullptr) return true;
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto matching, matcher_->match(choice_.document(event)));
  return !matching.empty();
}

}  // namespace trainwarden::cli
