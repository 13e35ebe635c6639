// JsonScanner: reads strict JSON one token after the other, where it lies. Allocates nothing.
//
//   JsonScanner scanner(text);
//   if (scanner.open('{')) {
//     RawString key;
//     while (scanner.next_item('}') && scanner.read_key(key)) scanner.skip_value();
//   }
//   if (scanner.failed()) return scanner.status();
//
// A call that does not find what it expects returns false, and failed() from then on. Patterns and events are both read
// with it: patterns with the places of their values, events at the speed of memory, and neither needs a tree.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::match {

// What stands between the quotes: well-formed UTF-8 without control characters, escapes not yet replaced.
struct RawString {
  std::string_view text;
  bool escaped = false;
};

// Objects and arrays may lie this deep in each other.
inline constexpr int kMaxDepth = 512;

class JsonScanner {
 public:
  explicit JsonScanner(std::string_view text) : begin_(text.data()), at_(begin_), end_(begin_ + text.size()) {}

  // The first byte of the next token; 0 at the end of the text.
  char peek();
  std::size_t offset() const { return static_cast<std::size_t>(at_ - begin_); }

  bool open(char bracket);  // '{' or '['
  // Whether another item follows in what was opened last. Takes the comma before it, or the closing bracket.
  bool next_item(char closing_bracket);

  bool read_key(RawString& key);  // with its colon
  bool read_string(RawString& string);
  bool read_number(std::string_view& text);
  bool read_word();  // true, false or null: peek() says which
  bool skip_value();
  bool read_end();  // nothing but blanks follows

  bool fail(const char* expected);  // false
  bool failed() const { return expected_ != nullptr; }
  std::string reason() const;  // "expected a value, found `}`"
  Status status() const;       // the same behind "line 1, column 7: "; kInvalidArgument

 private:
  bool read_escape();
  bool read_wide_character();
  const char* next_special(const char* from) const;
  bool skip_scalar(char first);

  const char* begin_;
  const char* at_;
  const char* end_;
  const char* expected_ = nullptr;
  int depth_ = 0;
  bool first_item_ = false;  // nothing of what was opened last has been read
};

// The string itself. `storage` is used when there are escapes in it; the answer then points there.
std::string_view decoded(const RawString& string, std::string& storage);

inline char JsonScanner::peek() {
  while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
  return at_ == end_ ? '\0' : *at_;
}

inline bool JsonScanner::open(char bracket) {
  if (peek() != bracket || at_ == end_) return fail(bracket == '{' ? "an object" : "an array");
  if (depth_ == kMaxDepth) return fail("no more than 512 objects and arrays within each other");
  ++depth_;
  ++at_;
  first_item_ = true;
  return true;
}

inline bool JsonScanner::next_item(char closing_bracket) {
  if (failed()) return false;
  const char next = peek();
  if (next == closing_bracket && at_ != end_) {
    ++at_;
    --depth_;
    first_item_ = false;
    return false;
  }
  if (first_item_) {
    first_item_ = false;
    return true;
  }
  if (next != ',') return fail(closing_bracket == '}' ? "a comma or \"}\"" : "a comma or \"]\"");
  ++at_;
  if (peek() == closing_bracket) return fail("another item after the comma");
  return true;
}

}  // namespace trainwarden::match
