#include "react/network/sms_action.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "core/exchange/digest.h"
#include "data/format/json.h"
#include "react/network/http_target.h"

namespace trainwarden::network {
namespace {

using actions::ActionOutcome;
using actions::Secret;
using Values = std::map<std::string, std::string>;

constexpr std::size_t kOnePart = 160;
constexpr std::size_t kEachOfSeveral = 153;
constexpr int kMostParts = 10;
constexpr const char* kDefaultBody = "To={to}&From={from}&Body={message}";

std::string form_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~").find(c) != std::string_view::npos;
    if (plain) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

// Without the quotes, which the template has.
std::string json_encoded(std::string_view text) {
  const std::string quoted = format::dump_json(format::OrderedJson(std::string(text)));
  return quoted.substr(1, quoted.size() - 2);
}

// The word of "{word}..." when it is made of small letters; "" when the brace means something else.
std::string_view word_at(std::string_view text) {
  std::size_t end = 1;
  while (end < text.size() && ((text[end] >= 'a' && text[end] <= 'z') || text[end] == '_')) ++end;
  const bool whole = end > 1 && end < text.size() && text[end] == '}';
  return whole ? text.substr(1, end - 1) : std::string_view();
}

// How many characters of the alphabet it takes; 0: it is not in it, or a break.
std::size_t width_of(char c) {
  if (std::string_view("[]{}\\^~|").find(c) != std::string_view::npos) return 2;
  return c >= ' ' && c < 0x7f && c != '`' ? 1 : 0;
}

class SmsAction final : public actions::Action {
 public:
  explicit SmsAction(actions::ActionParameters& parameters)
      : target_(parameters),
        to_(parameters.text("to")),
        from_(parameters.text("from")),
        kind_(parameters.choice("encoding", "form", {"form", "json"}) == "json" ? SmsBody::kJson : SmsBody::kForm),
        body_(parameters.text("body", kDefaultBody)),
        parts_(static_cast<std::size_t>(parameters.integer("parts", 1, 1, kMostParts))),
        user_(parameters.text("user")),
        password_(parameters.secret("password")),
        token_(parameters.secret("token")),
        scheme_(parameters.text("token_scheme", "Bearer")) {
    if (to_.empty()) parameters.refuse(Status(Code::kInvalidArgument, "to: expected a number such as +15550100"));
    if (user_.empty() != !password_) {
      parameters.refuse(Status(Code::kInvalidArgument, "user and password: expected both, or neither"));
    }
    if (!user_.empty() && token_) {
      parameters.refuse(Status(Code::kInvalidArgument, "expected either user and password or token, found both"));
    }
    const Status fits = check_template(body_, values_of({}, ""), kind_);
    if (!fits.ok()) parameters.refuse(fits.with_context("body"));
  }

  std::string_view name() const override { return "sms"; }
  std::string place() const override { return target_.place(); }

  ActionOutcome run(const actions::EventNotice& notice, std::stop_token stop) override {
    const auto answer = send(notice, stop);
    return answer.ok() ? outcome_of(*answer, place()) : outcome_without_answer(answer.status());
  }

 private:
  Result<PostAnswer> send(const actions::EventNotice& notice, const std::stop_token& stop) const {
    std::vector<std::pair<std::string, std::string>> headers = {
        {"Content-Type", kind_ == SmsBody::kJson ? "application/json" : "application/x-www-form-urlencoded"},
        {"Accept", "application/json"}};
    std::string token;
    std::string authorization;
    if (token_) {
      TRAINWARDEN_ASSIGN_OR_RETURN(token, token_->read());
      const bool in_body = body_.find("{token}") != std::string::npos;
      if (!in_body) authorization = fmt::format("{} {}", scheme_, token);
    } else if (password_) {
      TRAINWARDEN_ASSIGN_OR_RETURN(const std::string password, password_->read());
      authorization = "Basic " + exchange::base64(fmt::format("{}:{}", user_, password));
    }
    if (!authorization.empty()) headers.emplace_back("Authorization", std::move(authorization));
    return target_.send(std::move(headers), fill_template(body_, values_of(notice, token), kind_), stop);
  }

  Values values_of(const actions::EventNotice& notice, const std::string& token) const {
    const std::string text = fmt::format("{}: {}. {}", notice.run_name, notice.headline, notice.text);
    return {{"to", to_},
            {"from", from_},
            {"message", sms_text(text, parts_)},
            {"run", notice.run_name},
            {"rule", notice.rule},
            {"step", notice.global_step < 0 ? "" : std::to_string(notice.global_step)},
            {"key", notice.key},
            {"token", token}};
  }

  const HttpTarget target_;
  const std::string to_;
  const std::string from_;
  const SmsBody kind_;
  const std::string body_;
  const std::size_t parts_;
  const std::string user_;
  const std::optional<Secret> password_;
  const std::optional<Secret> token_;
  const std::string scheme_;
};

}  // namespace

std::string sms_text(std::string_view text, std::size_t parts) {
  const std::size_t room = parts <= 1 ? kOnePart : kEachOfSeveral * parts;
  std::string kept;
  std::size_t used = 0;
  for (const char32_t character : to_utf32(text)) {
    char c = character < 0x80 ? static_cast<char>(character) : '?';
    if (c == '\n' || c == '\t' || c == '\r') c = ' ';
    if (width_of(c) == 0) c = '?';
    if (c == ' ' && kept.ends_with(' ')) continue;
    used += width_of(c);
    if (used > room) break;
    kept += c;
  }
  return std::string(trim(kept));
}

std::string fill_template(std::string_view text, const std::map<std::string, std::string>& values, SmsBody body) {
  std::string filled;
  while (!text.empty()) {
    const std::string_view word = text.front() == '{' ? word_at(text) : std::string_view();
    const auto value = values.find(std::string(word));
    if (word.empty() || value == values.end()) {
      filled += text.front();
      text.remove_prefix(1);
      continue;
    }
    filled += body == SmsBody::kJson ? json_encoded(value->second) : form_encoded(value->second);
    text.remove_prefix(word.size() + 2);
  }
  return filled;
}

Status check_template(std::string_view text, const std::map<std::string, std::string>& values, SmsBody body) {
  std::vector<std::string> names;
  for (const auto& [name, value] : values) names.push_back(name);
  for (std::size_t at = text.find('{'); at != std::string_view::npos; at = text.find('{', at + 1)) {
    const std::string word(word_at(text.substr(at)));
    if (word.empty() || values.contains(word)) continue;
    return Status(Code::kInvalidArgument, fmt::format("there is no {{{}}}{}; there are {{{}}}", printable(word),
                                                      did_you_mean(word, names), fmt::join(names, "}, {")));
  }
  if (body == SmsBody::kForm) return {};
  const auto json = format::parse_json_object(fill_template(text, values, body), "what is sent");
  return json.ok() ? Status() : Status(Code::kInvalidArgument, std::string(json.status().message()));
}

actions::ActionKind sms_kind() {
  actions::ActionKind kind;
  kind.name = "sms";
  kind.summary = "Sends a text message: posts to the gateway of your provider what a template says.";
  kind.parameters = http_target_parameters();
  const std::vector<actions::ActionParameterDescription> own{
      {"to", "", "the number, as the gateway wants it: +15550100", true},
      {"from", "", "the sender's number or name"},
      {"body", kDefaultBody,
       "what is posted; {message}, {to}, {from}, {run}, {rule}, {step}, {key} and {token} stand for their values"},
      {"encoding", "form", "form or json: how the body is sent, and its values escaped"},
      {"parts", "1", "how many text messages it may take, up to 10: 160 characters in one, 153 in each of several"},
      {"user", "", "user of HTTP's basic authentication"},
      {"password", "", "secret; its password"},
      {"token", "", "secret; sent in the header Authorization, unless the body has {token}"},
      {"token_scheme", "Bearer", "the word before the token there"}};
  kind.parameters.insert(kind.parameters.end(), own.begin(), own.end());
  kind.create = [](actions::ActionParameters& parameters,
                   const actions::RunContext&) -> Result<std::unique_ptr<actions::Action>> {
    std::unique_ptr<actions::Action> action = std::make_unique<SmsAction>(parameters);
    TRAINWARDEN_RETURN_IF_ERROR(parameters.status());
    return action;
  };
  return kind;
}

}  // namespace trainwarden::network
