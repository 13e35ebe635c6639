#include "server/site.h"

#include <exception>

#include <fmt/format.h>

#include "base/log.h"
#include "base/text.h"
#include "server/caching.h"
#include "server/page_answers.h"
#include "server/percent.h"
#include "server/replies.h"
#include "trainwarden/version.h"

namespace trainwarden::server {
namespace {

constexpr std::string_view kApi = "/api/v1";

// Browsers are to take nothing for what it is not said to be, to tell nobody where a link came from, and to give the
// bytes to pages of this server only.
void add_security_headers(HttpAnswer& answer) {
  answer.add("X-Content-Type-Options", "nosniff");
  answer.add("Referrer-Policy", "no-referrer");
  answer.add("Cross-Origin-Resource-Policy", "same-origin");
  answer.add("Cross-Origin-Opener-Policy", "same-origin");
  if (answer.header("Content-Security-Policy").empty()) {
    answer.add("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
  }
}

HttpAnswer wrong_method(std::string_view allowed) {
  HttpAnswer answer =
      error_answer(405, name(Code::kInvalidArgument), fmt::format("this address answers {} only", allowed));
  answer.add("Allow", std::string(allowed));
  return answer;
}

// RFC 8187, so that no character of a name can end the header.
std::string attachment(std::string_view file_name) {
  return "attachment; filename*=UTF-8''" + encode_percent(file_name);
}

HttpAnswer answer_of(Reply reply) {
  HttpAnswer answer;
  answer.add("Content-Type", std::move(reply.type));
  if (!reply.file_name.empty()) answer.add("Content-Disposition", attachment(reply.file_name));
  answer.add("Accept-Ranges", "bytes");
  if (reply.body) answer.set_body(std::move(reply.body));
  return answer;
}

}  // namespace

Site::Site(views::Shelf& shelf, Options options)
    : shelf_(shelf), options_(std::move(options)), access_(options_.access), router_(all_routes()) {}

HttpAnswer Site::answer(const HttpRequest& request) const {
  HttpAnswer answer;
  try {
    answer = route(request);
  } catch (const std::exception& error) {
    log(LogLevel::kError, "a request could not be answered: {}", error.what());
    answer = error_answer(500, name(Code::kInternal), "the answer could not be made; the server's log says more");
  }
  add_security_headers(answer);
  return answer;
}

HttpAnswer Site::route(const HttpRequest& request) const {
  if (auto refused = access_.refuse(request)) return *std::move(refused);
  const std::string_view target = request.target;
  if (!target.starts_with('/')) {
    return error_answer(400, name(Code::kInvalidArgument), "the target of a request is a path that begins with /");
  }
  const std::size_t question = std::min(target.find('?'), target.size());
  const std::string_view path = target.substr(0, question);
  const std::string_view query = target.substr(std::min(question + 1, target.size()));
  if (path.starts_with("/api/v1/")) return answer_api(request, path.substr(kApi.size()), query);
  if (request.method != "GET" && request.method != "HEAD") return wrong_method("GET");
  return answer_page(request, path);
}

HttpAnswer Site::answer_api(const HttpRequest& request, std::string_view address, std::string_view query) const {
  const bool post = request.method == "POST";
  if (!post && request.method != "GET" && request.method != "HEAD") return wrong_method("GET, POST");
  if (post) {
    if (auto refused = access_.refuse_post(request)) return *std::move(refused);
  }
  if (address == "/session") return post ? answer_session(request) : wrong_method("POST");
  if (!access_.has_session(request)) {
    HttpAnswer answer = error_answer(401, "no session",
                                     "open the link that `trainwarden serve` printed, or send its token as "
                                     "\"Authorization: Bearer TOKEN\"");
    answer.add("WWW-Authenticate", "Bearer");
    return answer;
  }
  if (address == "/about" || address == "/notices") {
    if (post) return wrong_method("GET");
    const auto parameters = parse_query(query);
    if (!parameters.ok()) return error_answer(parameters.status());
    if (const Status known = parameters->only({}); !known.ok()) return error_answer(known);
    return address == "/about" ? for_conditions(request, answer_about()) : answer_notices(request);
  }
  return answer_area(request, address, query);
}

HttpAnswer Site::answer_session(const HttpRequest& request) const {
  const auto body = format::parse_json_object(request.body, "the body");
  if (!body.ok()) return error_answer(400, name(Code::kInvalidArgument), body.status().message());
  const auto token = format::string_field(*body, "token");
  if (!token.ok()) return error_answer(400, name(Code::kInvalidArgument), token.status().message());
  if (!access_.is_token(*token)) {
    return error_answer(
        401, "no session",
        "this is not the token of this server; each start has another one, which stands in the link that "
        "`trainwarden serve` printed");
  }
  HttpAnswer answer;
  answer.status = 204;
  answer.add("Set-Cookie", access_.cookie());
  answer.add("Cache-Control", "no-store");
  return answer;
}

HttpAnswer Site::answer_about() const {
  HttpAnswer answer = answer_of(json_reply({{"version", std::string(version())},
                                            {"actions_allowed", options_.allow_actions},
                                            {"place", shelf_.place().string()}}));
  answer.add("Cache-Control", "private, no-cache");
  answer.add("ETag", etag_of(answer.body));
  return answer;
}

HttpAnswer Site::answer_notices(const HttpRequest& request) const {
  const std::string_view last = request.header("last-event-id");
  HttpAnswer answer;
  if (!last.empty()) {
    const auto version = parse_int(last);
    if (!version || *version < 0) {
      return error_answer(400, name(Code::kInvalidArgument), "Last-Event-ID is the number of a notice of this server");
    }
    answer.last_notice = static_cast<std::uint64_t>(*version);
  }
  answer.notices = true;
  answer.add("Content-Type", "text/event-stream");
  answer.add("Cache-Control", "no-store");
  return answer;
}

std::string Site::identity_of(const RouteMatch& match, std::string_view target) const {
  const auto run = match.request.path.find("run");
  if (run == match.request.path.end()) return "";
  const auto open = shelf_.run(run->second);
  if (!open.ok()) return "";
  const auto use = (*open)->use();
  if (!use.ok()) return "";
  const std::string tag =
      etag_of(fmt::format("{} {} {} {}", version(), use->trial().run_id(), use->trial().created_unix_ns(), target));
  return "\"i" + tag.substr(1);
}

HttpAnswer Site::answer_area(const HttpRequest& request, std::string_view address, std::string_view query) const {
  const Method method = request.method == "POST" ? Method::kPost : Method::kGet;
  auto match = router_.match(method, address, query);
  if (!match.ok()) {
    if (match.status().code() == Code::kUnimplemented) return wrong_method(method == Method::kGet ? "POST" : "GET");
    return error_answer(match.status());
  }
  if (match->route->acts && !options_.allow_actions) {
    return error_answer(
        Status(Code::kPermissionDenied,
               "this server only shows; `trainwarden serve --allow-actions` may also act on trainings"));
  }
  const auto run = match->request.path.find("run");
  if (run != match->request.path.end() && options_.looked_at) options_.looked_at(run->second);
  // What never changes is known by its address and its run: who has it need not wait until it is computed again.
  std::string identity;
  if (request.header("if-none-match").starts_with("\"i")) {
    identity = identity_of(*match, request.target);
    if (!identity.empty() && names_etag(request.header("if-none-match"), identity)) {
      HttpAnswer answer;
      answer.status = 304;
      answer.add("Cache-Control", "private, no-cache");
      answer.add("ETag", identity);
      return answer;
    }
  }
  match->request.body = request.body;
  auto reply = match->route->handler(match->request, shelf_);
  if (!reply.ok()) return error_answer(reply.status());
  const bool immutable = reply->immutable;
  HttpAnswer answer = answer_of(*std::move(reply));
  if (method == Method::kPost) {
    answer.add("Cache-Control", "no-store");
    return answer;
  }
  if (immutable && identity.empty()) identity = identity_of(*match, request.target);
  answer.add("Cache-Control", "private, no-cache");
  answer.add("ETag", immutable && !identity.empty() ? identity : etag_of(answer.body));
  return for_conditions(request, std::move(answer));
}

}  // namespace trainwarden::server
