#include "react/network/http_target.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "react/network/limits.h"

namespace trainwarden::network {
namespace {

using actions::ActionOutcome;

bool is_passing_answer(int status) {
  return status == 408 || status == 425 || status == 429 || status >= 500;
}

// What people may do about it.
std::string_view hint_for(int status) {
  if (status >= 300 && status < 400) {
    return "a redirect is not followed, for some servers take a POST that is sent on for a GET, and it would hand the "
           "token to somebody else; give the URL that it leads to";
  }
  switch (status) {
    case 401:
    case 403: return "it does not accept who we are; see to the token or the secret";
    case 404: return "there is nothing at this path; see to the URL";
    case 410: return "the target is gone for good";
    case 413: return "the event is too large for it";
    case 415: return "it does not take this content type; try mode=binary or another format";
    case 429: return "it has had too many requests";
    default: return status >= 500 ? "it has a fault of its own" : "it does not want this event";
  }
}

}  // namespace

HttpTarget::HttpTarget(actions::ActionParameters& parameters)
    : url_(parameters.required_text_or_secret("url")), allow_http_(parameters.flag("allow_http", false)) {
  limits_ = take_limits(parameters, std::chrono::seconds(30));
  if (url_.secret) {
    place_ = "the URL in " + url_.secret->describe();
    return;
  }
  const Result<TargetUrl> target = parse_target_url(url_.text, allow_http_);
  if (!target.ok() && !url_.text.empty()) parameters.refuse(target.status().with_context("url"));
  if (target.ok()) place_ = target->place;
}

Result<PostAnswer> HttpTarget::send(std::vector<std::pair<std::string, std::string>> headers, std::string body,
                                    const std::stop_token& stop) const {
  const Result<std::string> url = url_.read();
  if (!url.ok()) return url.status().with_context("url");
  const Result<TargetUrl> target = parse_target_url(*url, allow_http_);
  if (!target.ok()) return target.status().with_context("url");
  return post({*target, std::move(headers), std::move(body)}, limits_, stop);
}

std::vector<actions::ActionParameterDescription> http_target_parameters() {
  return {{"url", "", "where to send to; a text or the place of a secret", true},
          {"timeout", "30s", "for the whole exchange, from 100ms to 1h"},
          {"ca_file", "", "PEM file of the certificate authorities to trust instead of the system's"},
          {"allow_http", "false", "send without encryption to other machines than this one"}};
}

ActionOutcome outcome_of(const PostAnswer& answer, std::string_view place) {
  const std::string word = std::to_string(answer.status);
  if (answer.status >= 200 && answer.status < 300) return ActionOutcome::done(word);
  const std::string message = fmt::format("{} answered {}: {}", place, answer.status, hint_for(answer.status));
  if (is_passing_answer(answer.status)) {
    ActionOutcome outcome = ActionOutcome::try_again(Status(Code::kUnavailable, message), word);
    outcome.retry_after = answer.retry_after;
    return outcome;
  }
  ActionOutcome outcome = ActionOutcome::give_up(Status(Code::kFailedPrecondition, message), word);
  if (answer.status == 410) outcome.kind = ActionOutcome::Kind::kTargetGone;
  return outcome;
}

ActionOutcome outcome_without_answer(const Status& status) {
  const bool never = status.code() == Code::kInvalidArgument || status.code() == Code::kPermissionDenied ||
                     status.code() == Code::kInternal;
  return !never ? ActionOutcome::try_again(status) : ActionOutcome::give_up(status);
}

}  // namespace trainwarden::network
