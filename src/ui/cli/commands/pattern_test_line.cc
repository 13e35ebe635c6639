#include "ui/cli/commands/pattern_test_line.h"

#include <utility>

#include "react/match/json_scanner.h"
#include "react/match/pattern.h"

namespace trainwarden::cli {
namespace {

using match::JsonScanner;
using match::RawString;

// The text of the value that comes next: as it is written, or what a string holds.
bool read_part(JsonScanner& scanner, std::string_view line, std::optional<std::string>& part) {
  const char first = scanner.peek();
  if (part.has_value()) return scanner.fail("each of \"pattern\" and \"event\" once");
  if (first == '"') {
    RawString raw;
    std::string storage;
    if (!scanner.read_string(raw)) return false;
    part = std::string(decoded(raw, storage));
    return true;
  }
  const std::size_t begin = scanner.offset();
  if (!scanner.skip_value()) return false;
  part = std::string(line.substr(begin, scanner.offset() - begin));
  return true;
}

Status missing(const char* name) {
  return Status(Code::kInvalidArgument,
                std::string("expected {\"pattern\": ..., \"event\": ...}, found no \"") + name + '"');
}

}  // namespace

Result<bool> PatternTester::test(std::string_view pattern, std::string_view event) {
  if (text_ != pattern) {
    text_.reset();
    const auto parsed = match::Pattern::parse(pattern);
    if (!parsed.ok()) return parsed.status().with_context("pattern");
    match::MatcherBuilder builder;
    builder.add(*parsed);
    matcher_.emplace(builder.build());
    text_ = std::string(pattern);
  }
  const auto matched = matcher_->match(event);
  if (!matched.ok()) return matched.status().with_context("event");
  return !matched->empty();
}

Result<bool> PatternTester::test_line(std::string_view line) {
  JsonScanner scanner(line);
  std::optional<std::string> pattern;
  std::optional<std::string> event;
  RawString raw;
  std::string storage;
  scanner.open('{');
  while (scanner.next_item('}')) {
    if (!scanner.read_key(raw)) break;
    const std::string_view name = decoded(raw, storage);
    if (name == "pattern") {
      read_part(scanner, line, pattern);
    } else if (name == "event") {
      read_part(scanner, line, event);
    } else {
      scanner.skip_value();
    }
  }
  if (scanner.failed() || !scanner.read_end()) return scanner.status();
  if (!pattern) return missing("pattern");
  if (!event) return missing("event");
  return test(*pattern, *event);
}

}  // namespace trainwarden::cli
