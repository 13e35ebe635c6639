// `trainwarden events test-pattern`, as a user types it.
#include <fstream>
#include <sstream>

#include "cli_harness.h"

namespace trainwarden::testing_cli {
namespace {

constexpr const char* kRefused = "a (line 1, column 7): expected an array of values, or an object, found 1";

class TestPattern : public CliTest {
 protected:
  std::string file(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name) << content;
    return (folder_ / name).string();
  }
  Outcome test(const std::string& pattern, const std::string& event, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"events", "test-pattern", "--pattern", pattern, "--event", event};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return cli(arguments);
  }
};

TEST_F(TestPattern, TheAnswerIsTheExitCode) {
  const std::string pattern = file("pattern.json", "{\"a\": {\"b\": [{\"prefix\": \"x\"}]}}\n");
  const Outcome match = test(pattern, file("event.json", "{\"a\": [{\"b\": \"xy\"}]}\n"));
  EXPECT_EQ(match.exit_code, 0) << match.err;
  EXPECT_EQ(match.out, "match\n");
  const Outcome no_match = test(pattern, R"({"a": {"b": "yx"}})");
  EXPECT_EQ(no_match.exit_code, 1);
  EXPECT_EQ(no_match.out, "no match\n");
  EXPECT_EQ(test(pattern, R"({"a": {"b": "xy"}})", {"--json"}).out, "{\"match\":true}\n");
  EXPECT_EQ(test(pattern, "{}", {"--json"}).out, "{\"match\":false}\n");
}

TEST_F(TestPattern, WhatIsWrongIsToldWithItsPlace) {
  const Outcome pattern = test(R"({"a": 1})", "{}");
  EXPECT_EQ(pattern.exit_code, 2);
  EXPECT_EQ(pattern.out, "");
  EXPECT_NE(pattern.err.find(std::string("pattern: ") + kRefused), std::string::npos) << pattern.err;
  const Outcome event = test(R"({"a": [1]})", R"({"a": 1,})");
  EXPECT_EQ(event.exit_code, 2);
  EXPECT_NE(event.err.find("event: line 1, column 9: expected another item"), std::string::npos) << event.err;
  const Outcome machine = test(R"({"a": 1})", "{}", {"--json"});
  EXPECT_EQ(machine.exit_code, 2);
  EXPECT_EQ(machine.json().at("error"), std::string("pattern: ") + kRefused);
  const Outcome missing = test((folder_ / "none.json").string(), "{}");
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_NE(missing.err.find("there is no such file"), std::string::npos) << missing.err;
  EXPECT_EQ(test("-", "-").exit_code, 2);
  EXPECT_EQ(cli({"events", "test-pattern", "--pattern", "{}"}).exit_code, 2);
}

TEST_F(TestPattern, EitherCanBeStandardInput) {
  const Outcome event = shell(R"(echo '{"a": 1}' | $TW events test-pattern --pattern '{"a": [1]}' --event -)");
  EXPECT_EQ(event.exit_code, 0) << event.err;
  const Outcome pattern = shell(R"(echo '{"a": [2]}' | $TW events test-pattern --pattern - --event '{"a": 1}')");
  EXPECT_EQ(pattern.exit_code, 1) << pattern.err;
}

// One answer for each line, whatever is in the line.
TEST_F(TestPattern, LinesAreAnsweredInOrderAndABrokenOneStopsNothing) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"pattern": {"a": [1]}, "event": {"a": 1.0}})", R"({"match":true})"},
      {R"({"event": {"a": 2}, "pattern": {"a": [1]}})", R"({"match":false})"},
      {R"({"pattern": "{\"a\": [\"\\u00fc\"]}", "event": "{\"a\": \"ü\"}"})", R"({"match":true})"},
      {R"({"id": [7], "pattern": {"a": [{"numeric": [">", 0]}]}, "event": {"a": 1e400}})", R"({"match":true})"},
      {R"({"pattern": {"a": 1}, "event": {"a": 1}})", std::string(R"({"error":"pattern: )") + kRefused + "\"}"},
      {R"({"pattern": {"a": [1], "a": [2]}, "event": {}})",
       R"({"error":"pattern: a (line 1, column 12): expected each field once, found it twice"})"},
      {R"({"pattern": {"a": [1]}, "event": 5})",
       R"({"error":"event: line 1, column 1: expected an object, found `5`"})"},
      {R"({"pattern": {"a": [1]}, "event": "{"})",
       R"({"error":"event: line 1, column 2: expected a field's name in quotes, found the end"})"},
      {R"({"pattern": {"a": [1]}})", R"({"error":"expected {\"pattern\": ..., \"event\": ...}, found no \"event\""})"},
      {R"({"event": {}})", R"({"error":"expected {\"pattern\": ..., \"event\": ...}, found no \"pattern\""})"},
      {R"({"event": {}, "event": {}, "pattern": {"a": [1]}})",
       R"({"error":"line 1, column 24: expected each of \"pattern\" and \"event\" once, found `{}, \"pattern`"})"},
      {"no JSON", R"({"error":"line 1, column 1: expected an object, found `no JSON`"})"},
      {"", R"({"error":"line 1, column 1: expected an object, found the end"})"},
      {"{\"pattern\": {\"a\": [\"\xff\"]}, \"event\": {}}",
       R"({"error":"line 1, column 21: expected well-formed UTF-8, found `\\xFF\"]}, \"event`"})"},
      {R"({"pattern": {"a": [1]}, "event": {"a": 1}})", R"({"match":true})"},
  };
  std::string lines;
  std::string answers;
  for (const auto& [line, answer] : cases) {
    lines += line + "\n";
    answers += answer + "\n";
  }
  const std::string input = file("lines.jsonl", lines);
  const Outcome outcome = shell("$TW events test-pattern < " + input);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, answers);
}

// Who asks waits for each answer before the next question.
TEST_F(TestPattern, EachLineIsAnsweredAtOnce) {
  const Outcome outcome = shell("cd " + folder_.string() + R"( && mkfifo ask answer
      $TW events test-pattern < ask > answer &
      exec 3> ask 4< answer
      for number in 1 2; do
        echo "{\"pattern\": {\"a\": [1]}, \"event\": {\"a\": $number}}" >&3
        read -r line <&4 && echo "$line"
      done
      exec 3>&-
      wait)");
  EXPECT_EQ(outcome.out, "{\"match\":true}\n{\"match\":false}\n") << outcome.err;
}

}  // namespace
}  // namespace trainwarden::testing_cli
