#include "ui/cli/commands/events_test_pattern.h"

#include <unistd.h>

#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/text_file.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/pattern_test_line.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {
namespace {

constexpr int kExitMatch = 0;
constexpr int kExitNoMatch = 1;

struct TestPatternOptions {
  std::string pattern;
  std::string event;
  bool json = false;
};

// One line, at once: who feeds lines one after the other waits for each answer.
void print_answer(const Result<bool>& match) {
  const OrderedJson answer =
      match.ok() ? OrderedJson{{"match", *match}} : OrderedJson{{"error", match.status().message()}};
  print_json_line(answer);
  std::fflush(stdout);
}

std::string rest_of(std::istream& stream) {
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

// What an option names: "-" is standard input, what begins with a brace is the JSON itself, all else is a file.
Result<std::string> read_text(const char* option, const std::string& given) {
  if (given == "-") return rest_of(std::cin);
  if (trim(given).starts_with('{')) return given;
  std::optional<std::string> content = read_text_file(given);
  if (!content) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("{} {}: expected a file, an object as JSON, or - for standard input; there is no such file", option,
                    printable(given)));
  }
  return *std::move(content);
}

Result<bool> test_one(const TestPatternOptions& options) {
  if (options.pattern == "-" && options.event == "-") {
    return Status(Code::kInvalidArgument, "expected one of --pattern and --event on standard input, found both");
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string pattern, read_text("--pattern", options.pattern));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string event, read_text("--event", options.event));
  return PatternTester().test(pattern, event);
}

int answer_one(const TestPatternOptions& options) {
  const auto match = test_one(options);
  if (options.json) {
    print_answer(match);
  } else if (!match.ok()) {
    report_error(match.status());
  } else {
    emit("{}\n", *match ? "match" : "no match");
  }
  if (!match.ok()) return kExitUsage;
  return *match ? kExitMatch : kExitNoMatch;
}

// Each line is a test of its own; one that is broken is answered with an error, and the next is read.
int answer_lines() {
  if (isatty(STDIN_FILENO) != 0) {
    emit(stderr, "reading lines {{\"pattern\": ..., \"event\": ...}} from standard input\n");
  }
  PatternTester tester;
  for (std::string line; std::getline(std::cin, line);) print_answer(tester.test_line(line));
  return kExitFine;
}

int act(const TestPatternOptions& options) {
  return options.pattern.empty() ? answer_lines() : answer_one(options);
}

}  // namespace

void add_events_test_pattern(CLI::App& events, CommandAction& action) {
  auto options = std::make_shared<TestPatternOptions>();
  TestPatternOptions& o = *options;
  CLI::App& command =
      add_command(events, "test-pattern", "Test whether a pattern matches an event", options, action, act);
  command.group("Try a pattern");
  auto* pattern =
      command.add_option("--pattern", o.pattern, "The pattern: a file, the JSON itself, or - for standard input");
  auto* event = command.add_option("--event", o.event, "The event, in the same ways");
  pattern->type_name("FILE|JSON|-")->needs(event);
  event->type_name("FILE|JSON|-")->needs(pattern);
  command.add_flag("--json", o.json, "Print {\"match\": true|false}, or {\"error\": TEXT}");
  set_examples(command,
               {"trainwarden events test-pattern --pattern pattern.json --event event.json",
                R"(trainwarden events test-pattern --pattern '{"source": [{"prefix": "/train"}]}' --event e.json)",
                "trainwarden events first --raw | head -n 1 |\n"
                "    trainwarden events test-pattern --pattern pattern.json --event -",
                R"(echo '{"pattern": {"a": [1]}, "event": {"a": 1}}' | trainwarden events test-pattern)"});
}

}  // namespace trainwarden::cli
