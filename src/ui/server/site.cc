#include "ui/server/site.h"

#include <exception>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/base/text.h"
#include "trainwarden/version.h"
#include "ui/answers/percent.h"
#include "ui/answers/replies.h"
#include "ui/server/aws_answers.h"
#include "ui/server/caching.h"
#include "ui/server/page_answers.h"

namespace trainwarden::server {
namespace {

constexpr std::string_view kApi = "/api/v1/";
// Of a request: the run that is meant. Of an answer: the run that was asked.
constexpr std::string_view kRunHeader = "X-Trainwarden-Run";

// Browsers are to take nothing for what it is not said to be, to report to nobody where a link came from, and to give
// the bytes to pages of this server only.
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

bool has_body(const HttpRequest& head) {
  const std::string_view length = head.header("content-length");
  return head.count("transfer-encoding") > 0 || (!length.empty() && length != "0");
}

HttpAnswer no_session() {
  HttpAnswer answer = error_answer(401, "no session",
                                   "open the link that `trainwarden serve` printed, or send its token as "
                                   "\"Authorization: Bearer TOKEN\"; each start has another token");
  answer.add("WWW-Authenticate", "Bearer");
  return answer;
}

bool is_another_run(std::string_view wanted, std::string_view found) {
  return !wanted.empty() && !found.empty() && wanted != found;
}

HttpAnswer another_run() {
  return error_answer(409, "replaced",
                      "the run that was looked at is gone, and another one lies under its name; open it anew, "
                      "or ask without X-Trainwarden-Run, for the one that is there now");
}

// Of an answer that never changes, as long as the run is the same.
std::string lasting_etag(std::string_view identity, std::string_view target) {
  return "\"i" + etag_of(fmt::format("{} {} {}", version(), identity, target)).substr(1);
}

// RFC 8187, so that no character of a name can end the header.
std::string attachment(std::string_view file_name) {
  return "attachment; filename*=UTF-8''" + answers::encode_percent(file_name);
}

HttpAnswer answer_of(answers::Reply reply) {
  HttpAnswer answer;
  answer.add("Content-Type", std::move(reply.type));
  if (!reply.file_name.empty()) answer.add("Content-Disposition", attachment(reply.file_name));
  answer.add("Accept-Ranges", "bytes");
  if (reply.body) answer.set_body(std::move(reply.body));
  return answer;
}

std::vector<answers::Route> routes_with(const std::vector<answers::Area>& areas) {
  std::vector<answers::Route> routes = answers::all_routes();
  for (const answers::Area& area : areas) routes.insert(routes.end(), area.routes.begin(), area.routes.end());
  return routes;
}

}  // namespace

Site::Site(const answers::Services& services, Options options)
    : services_(services),
      options_(std::move(options)),
      access_(options_.access),
      router_(routes_with(options_.areas)),
      aws_({options_.ask_program, options_.allow_actions, options_.allow_submit}) {}

HttpAnswer Site::answer(const HttpRequest& request) const {
  HttpAnswer answer;
  try {
    answer = for_conditions(request, route(request));
  } catch (const std::exception& error) {
    log(LogLevel::kError, "a request could not be answered: {}", error.what());
    answer = error_answer(500, name(Code::kInternal), "the answer could not be made; the server's log says more");
  }
  add_security_headers(answer);
  return answer;
}

Admission Site::admit(const HttpRequest& head) const {
  const bool is_proven = is_aws_request(head) ? access_.has_access_key(head) : access_.has_token(head);
  Admission admission{.proven = is_proven, .refusal = refuse(head)};
  if (admission.refusal) add_security_headers(*admission.refusal);
  return admission;
}

// All that can be refused without the body.
std::optional<HttpAnswer> Site::refuse(const HttpRequest& head) const {
  if (auto refused = access_.refuse(head)) return refused;
  if (!head.target.starts_with('/')) {
    return error_answer(400, name(Code::kInvalidArgument), "the target of a request is a path that begins with /");
  }
  if (options_.ask_program && is_aws_request(head)) return refuse_aws(head);
  const bool reads = head.method == "GET" || head.method == "HEAD";
  if (reads && has_body(head)) {
    return error_answer(400, name(Code::kInvalidArgument), "a GET has no body; what it asks for stands in its address");
  }
  if (!head.target.starts_with(kApi)) {
    return reads ? std::nullopt : std::optional(wrong_method("GET"));
  }
  if (!reads && head.method != "POST") return wrong_method("GET, POST");
  if (!reads) {
    if (auto refused = access_.refuse_post(head)) return refused;
  }
  return access_.has_token(head) ? std::nullopt : std::optional(no_session());
}

// The key stands in a header that no page of another site can send, so that a body needs no proof of its own.
std::optional<HttpAnswer> Site::refuse_aws(const HttpRequest& head) const {
  if (access_.has_access_key(head)) return std::nullopt;
  HttpAnswer answer = http_answer_of(aws::aws_error("UnrecognizedClientException",
                                                    "expected the access key that `trainwarden serve --aws-api` has "
                                                    "printed (AWS_ACCESS_KEY_ID); each start has another"));
  answer.status = 403;
  return answer;
}

HttpAnswer Site::route(const HttpRequest& request) const {
  if (auto refused = refuse(request)) return *std::move(refused);
  if (options_.ask_program && is_aws_request(request)) {
    return http_answer_of(aws_.answer(request.header(kAwsTarget), request.body));
  }
  const std::string_view target = request.target;
  const std::size_t question = std::min(target.find('?'), target.size());
  const std::string_view path = target.substr(0, question);
  const std::string_view query = target.substr(std::min(question + 1, target.size()));
  if (path.starts_with(kApi)) return answer_api(request, path.substr(kApi.size() - 1), query);
  return answer_page(request, path);
}

HttpAnswer Site::answer_api(const HttpRequest& request, std::string_view address, std::string_view query) const {
  if (address == "/about" || address == "/notices") {
    if (request.method == "POST") return wrong_method("GET");
    const auto parameters = answers::parse_query(query);
    if (!parameters.ok()) return error_answer(parameters.status());
    if (const Status known = parameters->only({}); !known.ok()) return error_answer(known);
    return address == "/about" ? answer_about() : answer_notices(request);
  }
  return answer_area(request, address, query);
}

HttpAnswer Site::answer_about() const {
  auto areas = format::OrderedJson::array();
  for (const answers::Area& area : options_.areas) areas.push_back(area.name);
  HttpAnswer answer = answer_of(answers::json_reply({{"version", std::string(version())},
                                                     {"actions_allowed", options_.allow_actions},
                                                     {"place", services_.shelf.place().address()},
                                                     {"areas", std::move(areas)}}));
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

std::string Site::identity_of(std::string_view run_id) const {
  const auto open = services_.shelf.run(run_id);
  return open.ok() ? (*open)->identity() : "";
}

HttpAnswer Site::answer_area(const HttpRequest& request, std::string_view address, std::string_view query) const {
  const answers::Method method = request.method == "POST" ? answers::Method::kPost : answers::Method::kGet;
  auto match = router_.match(method, address, query);
  if (!match.ok()) {
    if (match.status().code() == Code::kUnimplemented)
      return wrong_method(method == answers::Method::kGet ? "POST" : "GET");
    return error_answer(match.status());
  }
  if (match->route->acts && !options_.allow_actions) {
    return error_answer(
        Status(Code::kPermissionDenied,
               "this server only shows; `trainwarden serve --allow-actions` may also act on trainings"));
  }
  const auto run = match->request.path.find("run");
  if (run == match->request.path.end()) return answer_match(request, *std::move(match), "");
  const std::string run_id = run->second;
  if (options_.looked_at) options_.looked_at(run_id);
  const std::string identity = identity_of(run_id);
  if (is_another_run(request.header(kRunHeader), identity)) return another_run();
  HttpAnswer answer = answer_match(request, *std::move(match), identity);
  // Parts of two runs must not become one answer.
  if (method == answers::Method::kGet && is_another_run(identity, identity_of(run_id))) return another_run();
  if (!identity.empty()) answer.add(std::string(kRunHeader), identity);
  return answer;
}

HttpAnswer Site::answer_match(const HttpRequest& request, answers::RouteMatch match,
                              const std::string& identity) const {
  // What never changes is known by its address and its run: who has it need not wait until it is computed again.
  const std::string tag = identity.empty() ? "" : lasting_etag(identity, request.target);
  if (request.method != "POST" && !tag.empty() && names_etag(request.header("if-none-match"), tag)) {
    HttpAnswer answer;
    answer.status = 304;
    answer.add("Cache-Control", "private, no-cache");
    answer.add("ETag", tag);
    return answer;
  }
  match.request.body = request.body;
  auto reply = match.route->handler(match.request, services_);
  if (!reply.ok()) return error_answer(reply.status());
  const bool lasting = reply->immutable && !tag.empty();
  HttpAnswer answer = answer_of(*std::move(reply));
  if (match.route->method == answers::Method::kPost) {
    answer.add("Cache-Control", "no-store");
    return answer;
  }
  answer.add("Cache-Control", "private, no-cache");
  answer.add("ETag", lasting ? tag : etag_of(answer.body));
  return answer;
}

}  // namespace trainwarden::server
