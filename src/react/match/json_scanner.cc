#include "react/match/json_scanner.h"

#include <algorithm>
#include <bit>
#include <bitset>
#include <cstring>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/text_place.h"

namespace trainwarden::match {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Four hexadecimal digits, or -1.
int hex_quad(const char* at, const char* end) {
  if (end - at < 4) return -1;
  int value = 0;
  for (int i = 0; i < 4; ++i) {
    const int digit = hex_value(at[i]);
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

bool is_high_surrogate(int unit) {
  return unit >= 0xd800 && unit < 0xdc00;
}
bool is_low_surrogate(int unit) {
  return unit >= 0xdc00 && unit < 0xe000;
}

// How many bytes the well-formed UTF-8 character at `at` has, which is not ASCII; 0 when it is not well-formed.
int wide_character_size(const char* at, const char* end) {
  const auto byte = [&](int i) { return at + i < end ? static_cast<unsigned char>(at[i]) : 0u; };
  const auto follows = [&](int i) { return (byte(i) & 0xc0u) == 0x80u; };
  const unsigned first = byte(0);
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if (!follows(1) || !follows(2)) return 0;
    const bool overlong = first == 0xe0 && byte(1) < 0xa0;
    const bool surrogate = first == 0xed && byte(1) > 0x9f;
    return overlong || surrogate ? 0 : 3;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    const bool overlong = first == 0xf0 && byte(1) < 0x90;
    const bool too_large = first == 0xf4 && byte(1) > 0x8f;
    return overlong || too_large ? 0 : 4;
  }
  return 0;
}

bool is_special(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return c == '"' || c == '\\' || byte < 0x20 || byte >= 0x80;
}

// The high bit of each byte of `word` that is special; bits above the lowest may be wrong.
std::uint64_t special_bytes(std::uint64_t word) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHigh = 0x8080808080808080;
  const std::uint64_t quote = word ^ (kOnes * '"');
  const std::uint64_t backslash = word ^ (kOnes * '\\');
  const std::uint64_t zeros = ((quote - kOnes) & ~quote) | ((backslash - kOnes) & ~backslash);
  const std::uint64_t controls = (word - kOnes * 0x20) & ~word;
  return (zeros | controls | word) & kHigh;
}

void append_utf8(std::string& text, std::uint32_t point) {
  const auto put = [&](std::uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xc0 | point >> 6);
    put(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    put(0xe0 | point >> 12);
    put(0x80 | (point >> 6 & 0x3f));
    put(0x80 | (point & 0x3f));
  } else {
    put(0xf0 | point >> 18);
    put(0x80 | (point >> 12 & 0x3f));
    put(0x80 | (point >> 6 & 0x3f));
    put(0x80 | (point & 0x3f));
  }
}

}  // namespace

bool JsonScanner::fail(const char* expected) {
  if (!failed()) expected_ = expected;
  return false;
}

// The first byte at or after `from` that a string cannot hold as it is, or that is not ASCII.
const char* JsonScanner::next_special(const char* from) const {
  if constexpr (std::endian::native == std::endian::little) {
    while (end_ - from >= 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, from, 8);
      const std::uint64_t special = special_bytes(word);
      if (special != 0) return from + std::countr_zero(special) / 8;
      from += 8;
    }
  }
  while (from != end_ && !is_special(*from)) ++from;
  return from;
}

bool JsonScanner::read_string(RawString& string) {
  if (peek() != '"') return fail("a string");
  const char* const begin = ++at_;
  string.escaped = false;
  for (;;) {
    at_ = next_special(at_);
    if (at_ == end_) return fail("the closing quote of a string");
    if (*at_ == '"') {
      string.text = {begin, static_cast<std::size_t>(at_ - begin)};
      ++at_;
      return true;
    }
    if (*at_ == '\\') {
      string.escaped = true;
      if (!read_escape()) return false;
    } else if (static_cast<unsigned char>(*at_) < 0x20) {
      return fail("no control character in a string; write it as an escape");
    } else if (!read_wide_character()) {
      return false;
    }
  }
}

bool JsonScanner::read_wide_character() {
  const int size = wide_character_size(at_, end_);
  if (size == 0) return fail("well-formed UTF-8");
  at_ += size;
  return true;
}

bool JsonScanner::read_escape() {
  const char kind = end_ - at_ < 2 ? '\0' : at_[1];
  if (kind != '\0' && std::strchr("\"\\/bfnrt", kind) != nullptr) {
    at_ += 2;
    return true;
  }
  if (kind != 'u') return fail("an escape that JSON knows: \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX");
  const int unit = hex_quad(at_ + 2, end_);
  if (unit < 0) return fail("four hexadecimal digits after \\u");
  if (is_low_surrogate(unit)) return fail("a high surrogate before a low one");
  if (is_high_surrogate(unit)) {
    const bool pair = end_ - at_ >= 12 && at_[6] == '\\' && at_[7] == 'u' && is_low_surrogate(hex_quad(at_ + 8, end_));
    if (!pair) return fail("a low surrogate after a high one");
    at_ += 6;
  }
  at_ += 6;
  return true;
}

bool JsonScanner::read_key(RawString& key) {
  if (peek() != '"') return fail("a field's name in quotes");
  if (!read_string(key)) return false;
  if (peek() != ':') return fail("a colon after the field's name");
  ++at_;
  return true;
}

bool JsonScanner::read_number(std::string_view& text) {
  peek();
  const char* const begin = at_;
  const auto digits = [this] {
    const char* const from = at_;
    while (at_ != end_ && is_digit(*at_)) ++at_;
    return at_ != from;
  };
  const auto take = [this](char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  };
  take('-');
  if (take('0')) {
    if (at_ != end_ && is_digit(*at_)) return fail("no digit after a leading 0");
  } else if (!digits()) {
    return fail("a value");
  }
  if (take('.') && !digits()) return fail("a digit after the decimal point");
  if (take('e') || take('E')) {
    if (!take('+')) take('-');
    if (!digits()) return fail("a digit in the exponent");
  }
  text = {begin, static_cast<std::size_t>(at_ - begin)};
  return true;
}

bool JsonScanner::read_word() {
  const char first = peek();
  const std::string_view word = first == 't' ? "true" : first == 'f' ? "false" : "null";
  if (std::string_view(at_, static_cast<std::size_t>(end_ - at_)).substr(0, word.size()) != word) {
    return fail("a value");
  }
  at_ += word.size();
  return true;
}

bool JsonScanner::skip_scalar(char first) {
  if (first == '"') {
    RawString string;
    return read_string(string);
  }
  if (first == 't' || first == 'f' || first == 'n') return read_word();
  std::string_view number;
  return read_number(number);
}

// Without recursion: what is open is a bit for each level.
bool JsonScanner::skip_value() {
  const char first = peek();
  if (first != '{' && first != '[') return skip_scalar(first);
  const int outside = depth_;
  std::bitset<kMaxDepth + 1> is_object;
  RawString key;
  bool at_value = true;
  do {
    if (at_value) {
      const char next = peek();
      if (next == '{' || next == '[') {
        if (!open(next)) return false;
        is_object[static_cast<std::size_t>(depth_)] = next == '{';
      } else if (!skip_scalar(next)) {
        return false;
      }
    }
    const bool in_object = is_object[static_cast<std::size_t>(depth_)];
    at_value = next_item(in_object ? '}' : ']');
    if (failed() || (at_value && in_object && !read_key(key))) return false;
  } while (depth_ > outside);
  return true;
}

bool JsonScanner::read_end() {
  peek();
  return at_ == end_ || fail("nothing after the end of the JSON value");
}

std::string JsonScanner::reason() const {
  constexpr std::ptrdiff_t kShown = 12;
  const std::string_view rest(at_, static_cast<std::size_t>(std::min(end_ - at_, kShown)));
  const std::string found =
      rest.empty() ? "the end" : fmt::format("`{}`", printable(rest.substr(0, rest.find_first_of("\r\n"))));
  return fmt::format("expected {}, found {}", expected_, found);
}

Status JsonScanner::status() const {
  if (!failed()) return Status();
  const std::string_view text(begin_, static_cast<std::size_t>(end_ - begin_));
  return Status(Code::kInvalidArgument, fmt::format("{}: {}", line_and_column(text, offset()), reason()));
}

std::string_view decoded(const RawString& string, std::string& storage) {
  if (!string.escaped) return string.text;
  storage.clear();
  const char* at = string.text.data();
  const char* const end = at + string.text.size();
  while (at != end) {
    if (*at != '\\') {
      storage.push_back(*at++);
      continue;
    }
    const char kind = at[1];
    at += 2;
    switch (kind) {
      case 'b': storage.push_back('\b'); break;
      case 'f': storage.push_back('\f'); break;
      case 'n': storage.push_back('\n'); break;
      case 'r': storage.push_back('\r'); break;
      case 't': storage.push_back('\t'); break;
      case 'u': {
        auto point = static_cast<std::uint32_t>(hex_quad(at, end));
        at += 4;
        if (is_high_surrogate(static_cast<int>(point))) {
          point = 0x10000 + ((point - 0xd800) << 10) + static_cast<std::uint32_t>(hex_quad(at + 2, end)) - 0xdc00;
          at += 6;
        }
        append_utf8(storage, point);
        break;
      }
      default: storage.push_back(kind);
    }
  }
  return storage;
}

}  // namespace trainwarden::match
