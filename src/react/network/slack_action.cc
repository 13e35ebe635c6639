#include "react/network/slack_action.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "data/format/json.h"
#include "react/network/http_target.h"

namespace trainwarden::network {
namespace {

using actions::ActionOutcome;

constexpr std::string_view kCutMark = "\n[cut off here]";

// The longest beginning of `text` with at most `limit` bytes that does not cut a character.
std::string_view cut(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xc0) == 0x80) --limit;
  return text.substr(0, limit);
}

// Mattermost reads "@all" in any text, and a rule may be called so.
std::string without_mentions(std::string text) {
  constexpr std::array<std::string_view, 4> kMentions{"@all", "@channel", "@here", "@everyone"};
  for (const std::string_view mention : kMentions) {
    const std::string broken = "@\u200b" + std::string(mention.substr(1));
    for (std::size_t at = 0; (at = text.find(mention, at)) != std::string::npos; at += broken.size()) {
      text.replace(at, mention.size(), broken);
    }
  }
  return text;
}

std::string escape(std::string_view text) {
  std::string escaped;
  for (const char byte : text) {
    if (byte == '&') {
      escaped += "&amp;";
    } else if (byte == '<') {
      escaped += "&lt;";
    } else if (byte == '>') {
      escaped += "&gt;";
    } else {
      escaped += byte;
    }
  }
  return escaped;
}

// "no_service", as Slack says what it does not like; nothing when it is anything else, which could be what we sent.
std::string word_of(const PostAnswer& answer) {
  const std::string_view word = trim(answer.body);
  const bool is_word = !word.empty() && word.size() <= 40 && std::all_of(word.begin(), word.end(), [](char byte) {
    return (byte >= 'a' && byte <= 'z') || byte == '_';
  });
  return is_word ? std::string(word) : "";
}

class SlackAction final : public actions::Action {
 public:
  explicit SlackAction(actions::ActionParameters& parameters) : target_(parameters) {}
  std::string_view name() const override { return "slack"; }
  std::string place() const override { return target_.place(); }

  ActionOutcome run(const actions::EventNotice& notice, std::stop_token stop) override {
    const std::string footer = fmt::format("Run {} in {}", notice.run_name, notice.run.string());
    const Result<PostAnswer> answer = target_.send({{"Content-Type", "application/json"}},
                                                   slack_message(notice.headline, notice.text + "\n" + footer), stop);
    if (!answer.ok()) return outcome_without_answer(answer.status());
    ActionOutcome outcome = outcome_of(*answer, place());
    const std::string word = word_of(*answer);
    if (outcome.kind != ActionOutcome::Kind::kDone && !word.empty()) {
      outcome.answer += " " + word;
      outcome.status = Status(outcome.status.code(), fmt::format("{} ({})", outcome.status.message(), word));
    }
    return outcome;
  }

 private:
  HttpTarget target_;
};

}  // namespace

std::string slack_message(std::string_view headline, std::string_view text) {
  const std::string whole = fmt::format("{}{}{}", headline, text.empty() ? "" : "\n", text);
  const std::string_view kept = cut(whole, kSlackTextLimit);
  format::OrderedJson message;
  message["text"] =
      escape(without_mentions(std::string(kept))) + std::string(kept.size() < whole.size() ? kCutMark : "");
  message["mrkdwn"] = false;  // names of tensors are full of * and _
  return format::dump_json(message);
}

actions::ActionKind slack_kind() {
  actions::ActionKind kind;
  kind.name = "slack";
  kind.summary =
      "Posts a message to an incoming webhook of Slack, Mattermost or a server that takes the same messages.";
  kind.parameters = http_target_parameters();
  kind.create = [](actions::ActionParameters& parameters,
                   const actions::RunContext&) -> Result<std::unique_ptr<actions::Action>> {
    std::unique_ptr<actions::Action> action = std::make_unique<SlackAction>(parameters);
    TRAINWARDEN_RETURN_IF_ERROR(parameters.status());
    return action;
  };
  return kind;
}

}  // namespace trainwarden::network
