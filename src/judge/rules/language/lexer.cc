#include "judge/rules/language/lexer.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "core/base/text.h"
#include "judge/rules/language/source_error.h"

namespace trainwarden::rules::language {
namespace {

constexpr std::array<std::string_view, 14> kSigns = {"<=", ">=", "==", "!=", "<", ">", "(",
                                                     ")",  ",",  ":",  "+",  "-", "*", "/"};

struct Foreign {
  std::string_view sign;
  std::string_view ours;
};
constexpr std::array<Foreign, 8> kForeignSigns = {{{"&&", "and"},
                                                   {"||", "or"},
                                                   {"&", "and"},
                                                   {"|", "or"},
                                                   {"!", "not"},
                                                   {"=", "=="},
                                                   {"%", "a number such as 0.01 *"},
                                                   {"^", "a product"}}};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool starts_word(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::size_t skip_digits(std::string_view text, std::size_t at) {
  while (at < text.size() && is_digit(text[at])) ++at;
  return at;
}

// 12, 1.5, .5, 1e-6
std::size_t number_end(std::string_view text, std::size_t at) {
  at = skip_digits(text, at);
  if (at < text.size() && text[at] == '.') at = skip_digits(text, at + 1);
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    const bool sign = at + 1 < text.size() && (text[at + 1] == '+' || text[at + 1] == '-');
    const std::size_t digits = at + (sign ? 2 : 1);
    if (digits < text.size() && is_digit(text[digits])) at = skip_digits(text, digits);
  }
  return at;
}

std::size_t word_end(std::string_view text, std::size_t at) {
  while (at < text.size() && (starts_word(text[at]) || is_digit(text[at]))) ++at;
  return at;
}

Status unknown_sign(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  for (const Foreign& foreign : kForeignSigns) {
    if (!rest.starts_with(foreign.sign)) continue;
    return source_error(text, {at, at + foreign.sign.size()},
                        fmt::format("\"{}\" is not of this language; write {}", foreign.sign, foreign.ours));
  }
  if (rest[0] == '"' || rest[0] == '@') {
    return source_error(text, {at, at + 1}, "tensors stand within a function, as in l2(@gradients) or value(\"loss\")");
  }
  return source_error(text, {at, at + 1}, "this character means nothing here");
}

}  // namespace

std::size_t skip_blanks(std::string_view text, std::size_t from) {
  return std::min(text.find_first_not_of(" \t\r\n", from), text.size());
}

Result<Token> next_token(std::string_view text, std::size_t from) {
  const std::size_t at = skip_blanks(text, from);
  const auto token = [&](TokenKind kind, std::size_t end) { return Token{kind, text.substr(at, end - at), {at, end}}; };
  if (at == text.size()) return token(TokenKind::kEnd, at);
  const bool point_number = text[at] == '.' && at + 1 < text.size() && is_digit(text[at + 1]);
  if (is_digit(text[at]) || point_number) {
    Token number = token(TokenKind::kNumber, number_end(text, at));
    const std::size_t word = word_end(text, number.place.end);
    const auto value = parse_double(number.text);
    if (word > number.place.end || !value) {
      return source_error(text, {at, word}, "this is no number; numbers are written 12, 0.5 or 1e-6");
    }
    number.number = *value;
    return number;
  }
  if (starts_word(text[at])) return token(TokenKind::kWord, word_end(text, at));
  for (const std::string_view sign : kSigns) {
    if (text.substr(at).starts_with(sign)) return token(TokenKind::kSign, at + sign.size());
  }
  return unknown_sign(text, at);
}

}  // namespace trainwarden::rules::language
