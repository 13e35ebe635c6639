// Any text as a pattern, a newline, and any text as an event. What the pattern alone says of the event is what it says
// among others, and what the reference says.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "react/match/matcher.h"
#include "react/match/reference_matcher.h"

namespace {

using namespace trainwarden;
using Json = nlohmann::json;

// The reference takes time that grows with the product of all choices.
bool is_small(const std::vector<match::reference::AllOf>& alternatives, std::size_t values) {
  if (alternatives.size() > 8 || values > 40) return false;
  return std::all_of(alternatives.begin(), alternatives.end(), [](const auto& leaves) { return leaves.size() <= 3; });
}

void compare_with_reference(std::string_view pattern_text, std::string_view event_text, bool matched) {
  if (pattern_text.size() > 300 || event_text.size() > 300) return;
  const auto is_ascii = [](std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c > 0 && c != '\\'; });
  };
  if (!is_ascii(pattern_text) || !is_ascii(event_text)) return;  // its case folding knows few letters
  const Json pattern = Json::parse(pattern_text, nullptr, false);
  const Json event = Json::parse(event_text, nullptr, false);
  if (pattern.is_discarded() || event.is_discarded()) return;  // a number that it has no room for
  const auto alternatives = match::reference::alternatives(pattern, {});
  const auto values = match::reference::flatten(event);
  if (is_small(alternatives, values.size()) && match::reference::matches(alternatives, values) != matched) std::abort();
}

match::Pattern fixed(const char* text) {
  auto pattern = match::Pattern::parse(text);
  if (!pattern.ok()) std::abort();
  return *std::move(pattern);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  const std::string_view input(reinterpret_cast<const char*>(data), bytes);
  const std::size_t end = std::min(input.find('\n'), input.size());
  const std::string_view pattern_text = input.substr(0, end);
  const std::string_view event = input.substr(std::min(end + 1, input.size()));
  static const std::vector<match::Pattern> kOthers = {
      fixed(R"({"a": [{"prefix": "x"}, {"exists": false}], "b": {"c": [{"anything-but": "y"}]}})"),
      fixed(R"({"a": [{"wildcard": "*x*"}, 1], "b": {"c": [{"numeric": [">", 0]}], "d": [{"exists": false}]}})"),
      fixed(R"({"$or": [{"a": [{"equals-ignore-case": "x"}]}, {"b": {"c": [null]}}]})")};

  const auto pattern = match::Pattern::parse(pattern_text);
  if (!pattern.ok()) {
    if (pattern.status().code() != Code::kInvalidArgument || pattern.status().message().empty()) std::abort();
    (void)match::matches(kOthers[0], event);
    return 0;
  }
  const auto alone = match::matches(*pattern, event);
  match::MatcherBuilder builder;
  for (const match::Pattern& other : kOthers) builder.add(other);
  const std::uint32_t number = builder.add(*pattern);
  const auto among = builder.build().match(event);
  if (alone.ok() != among.ok()) std::abort();
  if (!alone.ok()) {
    if (alone.status().code() != Code::kInvalidArgument || alone.status().message().empty()) std::abort();
    return 0;
  }
  if (std::binary_search(among->begin(), among->end(), number) != *alone) std::abort();
  compare_with_reference(pattern_text, event, *alone);
  return 0;
}
