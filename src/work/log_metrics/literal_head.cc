#include "work/log_metrics/literal_head.h"

#include <algorithm>

namespace trainwarden::log_metrics {
namespace {

constexpr std::string_view kNoLetters = "\\^$.[|()?*+{";

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Where the class that `regex` begins with ("[a-z]") ends. A "]" that comes first is one of its letters.
std::size_t end_of_class(std::string_view regex) {
  std::size_t i = regex.starts_with("[^") ? 3 : 2;
  while (i < regex.size() && regex[i] != ']') i += regex[i] == '\\' ? 2 : 1;
  return std::min(i + 1, regex.size());
}

// Where the group that `regex` begins with ("(a(b))") ends.
std::size_t end_of_group(std::string_view regex) {
  std::size_t depth = 0;
  for (std::size_t i = 0; i < regex.size();) {
    if (regex[i] == '[') {
      i += end_of_class(regex.substr(i));
      continue;
    }
    if (regex[i] == '(') ++depth;
    if (regex[i] == ')' && --depth == 0) return i + 1;
    i += regex[i] == '\\' ? 2 : 1;
  }
  return regex.size();
}

// Alternatives outside of every group: a match may begin with the one or the other.
bool has_alternatives(std::string_view regex) {
  for (std::size_t i = 0; i < regex.size();) {
    if (regex[i] == '|') return true;
    if (regex[i] == '(') {
      i += end_of_group(regex.substr(i));
    } else if (regex[i] == '[') {
      i += end_of_class(regex.substr(i));
    } else {
      i += regex[i] == '\\' ? 2 : 1;
    }
  }
  return false;
}

// Takes what says where a match may stand off the front of `regex`, and ".*", which says nothing.
bool take_anchors(std::string_view& regex) {
  bool anchored = false;
  for (;;) {
    if (regex.starts_with('^')) {
      regex.remove_prefix(1);
    } else if (regex.starts_with("\\b")) {
      regex.remove_prefix(2);
    } else if (regex.starts_with("(?<!") || regex.starts_with("(?<=")) {
      regex.remove_prefix(end_of_group(regex));
    } else {
      break;
    }
    anchored = true;
  }
  for (const std::string_view anything : {".*?", ".*", ".+?", ".+"}) {
    if (!regex.starts_with(anything)) continue;
    regex.remove_prefix(anything.size());
    return take_anchors(regex);  // of what stands before ".*" nothing counts
  }
  return anchored;
}

bool may_be_missing(std::string_view rest) {
  return rest.starts_with('*') || rest.starts_with('?') || rest.starts_with('{');
}

}  // namespace

LiteralHead literal_head(std::string_view regex) {
  LiteralHead head;
  if (has_alternatives(regex)) return head;
  head.anchored = take_anchors(regex);
  while (!regex.empty()) {
    const bool escaped = regex.front() == '\\';
    if (escaped && (regex.size() < 2 || is_letter_or_digit(regex[1]))) break;  // a class, a group's number
    if (!escaped && kNoLetters.find(regex.front()) != std::string_view::npos) break;
    const char letter = regex[escaped ? 1 : 0];
    regex.remove_prefix(escaped ? 2 : 1);
    if (may_be_missing(regex)) break;
    head.text += letter;
    if (regex.starts_with('+')) break;
  }
  return head;
}

}  // namespace trainwarden::log_metrics
