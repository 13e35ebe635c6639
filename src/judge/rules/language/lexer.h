// Lexer: the words, numbers and signs of a rule.
#pragma once

#include <string>
#include <string_view>

#include "judge/rules/language/expression.h"
#include "trainwarden/status.h"

namespace trainwarden::rules::language {

enum class TokenKind : std::uint8_t { kWord, kNumber, kSign, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;
  Place place;
  double number = 0;

  bool is(std::string_view what) const { return kind != TokenKind::kEnd && text == what; }
};

// The token at `from` or behind the blanks there. Selectors are no tokens: see Selector::end_of().
Result<Token> next_token(std::string_view text, std::size_t from);

std::size_t skip_blanks(std::string_view text, std::size_t from);

}  // namespace trainwarden::rules::language
