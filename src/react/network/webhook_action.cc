#include "react/network/webhook_action.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "react/network/event_headers.h"
#include "react/network/http_target.h"
#include "react/network/signature.h"

namespace trainwarden::network {
namespace {

using actions::ActionOutcome;
using actions::Secret;
using Headers = std::vector<std::pair<std::string, std::string>>;

// Headers that we or HTTP itself set, or that would change where the request goes.
bool is_reserved(const std::string& name) {
  constexpr std::array<std::string_view, 12> kReserved{
      "authorization", "connection", "content-length",    "content-type", "content-encoding", "expect", "host",
      "keep-alive",    "te",         "transfer-encoding", "trailer",      "upgrade"};
  return std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end() || name.starts_with("ce-") ||
         name.starts_with("webhook-") || name.starts_with("proxy-");
}

Headers take_headers(actions::ActionParameters& parameters) {
  Headers headers;
  for (const std::string& line : parameters.list("headers")) {
    const std::size_t colon = line.find(':');
    const std::string name(trim(line.substr(0, colon)));
    const std::string value(colon == std::string::npos ? "" : trim(std::string_view(line).substr(colon + 1)));
    if (!is_header_name(name) || !is_header_value(value)) {
      parameters.refuse(Status(Code::kInvalidArgument, "headers: expected lines such as \"X-Team: vision\""));
    } else if (is_reserved(lower(name))) {
      parameters.refuse(Status(Code::kInvalidArgument,
                               fmt::format("headers: {} is set by the webhook itself; for who we are there is the "
                                           "parameter token",
                                           printable(name))));
    }
    headers.emplace_back(name, value);
  }
  return headers;
}

class WebhookAction final : public actions::Action {
 public:
  WebhookAction(actions::ActionParameters& parameters, const Clock& clock)
      : target_(parameters),
        binary_(parameters.choice("mode", "structured", {"structured", "binary"}) == "binary"),
        token_(parameters.secret("token")),
        secret_(parameters.secret("secret")),
        old_secret_(parameters.secret("old_secret")),
        headers_(take_headers(parameters)),
        clock_(&clock) {
    if (old_secret_ && !secret_) {
      parameters.refuse(Status(Code::kInvalidArgument,
                               "old_secret: is for the change to a new secret, and there is no "
                               "parameter secret"));
    }
  }

  std::string_view name() const override { return "webhook"; }
  std::string place() const override { return target_.place(); }

  ActionOutcome run(const actions::EventNotice& notice, std::stop_token stop) override {
    Headers headers = headers_;
    std::string body = notice.document;
    Status status = put_event(notice, headers, body);
    if (status.ok()) status = put_token(headers);
    if (status.ok()) status = put_signature(notice, body, headers);
    if (!status.ok()) return outcome_without_answer(status);
    const Result<PostAnswer> answer = target_.send(std::move(headers), std::move(body), stop);
    return answer.ok() ? outcome_of(*answer, place()) : outcome_without_answer(answer.status());
  }

 private:
  Status put_event(const actions::EventNotice& notice, Headers& headers, std::string& body) const {
    std::string content_type = notice.content_type;
    if (binary_) {
      TRAINWARDEN_ASSIGN_OR_RETURN(BinaryEvent event, to_binary(notice.document));
      headers.insert(headers.end(), event.headers.begin(), event.headers.end());
      content_type = event.content_type;
      body = std::move(event.body);
    }
    headers.emplace_back("Content-Type", content_type);
    return {};
  }

  Status put_token(Headers& headers) const {
    if (!token_) return {};
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::string token, token_->read());
    headers.emplace_back("Authorization", "Bearer " + token);
    return {};
  }

  // The id is the event's, so it stays the same when the event is sent again; the time is that of the attempt.
  Status put_signature(const actions::EventNotice& notice, std::string_view body, Headers& headers) const {
    if (!secret_) return {};
    std::vector<std::string> keys;
    for (const auto& secret : {secret_, old_secret_}) {
      if (!secret) continue;
      TRAINWARDEN_ASSIGN_OR_RETURN(const std::string text, secret->read());
      Result<std::string> key = signing_key(text);
      if (!key.ok()) return key.status().with_context(secret->describe());
      keys.push_back(*std::move(key));
    }
    const std::int64_t now = clock_->unix_ns() / 1'000'000'000;
    const std::string id = percent_encode(notice.event_id);
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::string signature, signature_header(keys, id, now, body));
    headers.emplace_back("webhook-id", id);
    headers.emplace_back("webhook-timestamp", std::to_string(now));
    headers.emplace_back("webhook-signature", signature);
    return {};
  }

  HttpTarget target_;
  bool binary_;
  std::optional<Secret> token_;
  std::optional<Secret> secret_;
  std::optional<Secret> old_secret_;
  Headers headers_;
  const Clock* clock_;
};

}  // namespace

actions::ActionKind webhook_kind() {
  actions::ActionKind kind;
  kind.name = "webhook";
  kind.summary = "Sends each event to a URL, signed, as a CloudEvent.";
  kind.parameters = http_target_parameters();
  const std::vector<actions::ActionParameterDescription> own{
      {"mode", "structured",
       "structured: the whole event as JSON; binary: its attributes as headers, its data as body"},
      {"token", "", "secret; sent as Authorization: Bearer"},
      {"secret", "", "secret that the request is signed with (HMAC-SHA256, Standard Webhooks)"},
      {"old_secret", "", "the secret before; while both are given, the request bears a signature of each"},
      {"headers", "", "further headers, \"Name: value\" each; not for secrets"}};
  kind.parameters.insert(kind.parameters.end(), own.begin(), own.end());
  kind.create = [](actions::ActionParameters& parameters,
                   const actions::RunContext& run) -> Result<std::unique_ptr<actions::Action>> {
    std::unique_ptr<actions::Action> action = std::make_unique<WebhookAction>(parameters, *run.clock);
    TRAINWARDEN_RETURN_IF_ERROR(parameters.status());
    return action;
  };
  return kind;
}

}  // namespace trainwarden::network
