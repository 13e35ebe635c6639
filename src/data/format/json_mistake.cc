#include "data/format/json_mistake.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/text_place.h"
#include "data/format/json.h"

namespace trainwarden::format {
namespace {

constexpr std::size_t kMaxReasonBytes = 160;
constexpr std::size_t kMaxFoundBytes = 40;

// Takes nothing in, and remembers where the parser gives up.
class MistakeFinder : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool end_object() override { return true; }
  bool key(string_t&) override { return true; }
  bool parse_error(std::size_t position, const std::string& token, const nlohmann::detail::exception& why) override {
    position_ = position;
    token_ = token;
    why_ = why.what();
    return false;
  }

  std::size_t position_ = 0;  // how many bytes were read, the wrong one among them
  std::string token_;         // the last one, as far as it was read
  std::string why_;           // "[...] parse error at line 1, column 2: syntax error while parsing value - invalid ..."
};

// As the parser says it, without what it quotes, which may be long.
std::string reason_of(const MistakeFinder& mistake) {
  std::string reason = mistake.why_;
  for (const std::string_view before : {"] ", " - "}) {
    if (const std::size_t at = reason.find(before); at != std::string::npos) reason.erase(0, at + before.size());
  }
  const std::size_t quote = reason.find("; last read: '");
  if (quote != std::string::npos) reason.erase(quote, reason.rfind('\'') + 1 - quote);
  return reason.substr(0, kMaxReasonBytes);
}

// Where what is wrong begins: `end` is behind its last byte.
std::size_t begin_of(std::string_view text, std::size_t end, const MistakeFinder& mistake, bool is_token_wrong) {
  constexpr std::string_view kBetween = " \t\r\n,:[]{}";
  if (mistake.token_.starts_with('"')) {
    const std::size_t begin = end - std::min(mistake.token_.size(), end);
    return text.substr(begin, end - begin) == mistake.token_ ? begin : end - 1;  // the token has control bytes in words
  }
  if (!is_token_wrong && kBetween.find(text[end - 1]) != std::string_view::npos) return end - 1;
  std::size_t begin = end - 1;
  while (begin > 0 && kBetween.find(text[begin - 1]) == std::string_view::npos) --begin;
  return begin;
}

}  // namespace

Status not_well_formed(std::string_view text, std::string_view what) {
  MistakeFinder mistake;
  Json::sax_parse(text.begin(), text.end(), &mistake);
  std::string reason = reason_of(mistake);
  std::size_t begin = text.size();  // it ends too early
  if (mistake.position_ > 0 && mistake.position_ <= text.size()) {
    const bool is_token_wrong = reason.starts_with("invalid");
    begin = begin_of(text, mistake.position_, mistake, is_token_wrong);
    const std::string_view found = text.substr(begin, std::min(mistake.position_ - begin, kMaxFoundBytes));
    if (is_token_wrong) reason += fmt::format(", found \"{}\"", found);
  }
  return Status(Code::kDataLoss,
                fmt::format("{}: not well-formed JSON: {}: {}", what, line_and_column(text, begin), printable(reason)));
}

}  // namespace trainwarden::format
