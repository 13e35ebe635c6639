#include "ui/server/scrape_server.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/base/text.h"

namespace trainwarden::server {
namespace {

constexpr std::size_t kMaxScrapers = 16;
constexpr std::size_t kMaxScrapeBody = 1024;
constexpr std::string_view kScrapePath = "/metrics";

// "127.0.0.1:9464" → "127.0.0.1", "[::1]:9464" → "[::1]"
std::string_view without_port(std::string_view host) {
  const std::size_t bracket = host.rfind(']');
  const std::size_t colon = host.rfind(':');
  const bool has_port = colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  return has_port ? host.substr(0, colon) : host;
}

bool is_loopback_host(std::string_view host) {
  const std::string name = lower(without_port(host));
  constexpr std::array<std::string_view, 2> kNames = {"localhost", "[::1]"};
  if (std::find(kNames.begin(), kNames.end(), name) != kNames.end()) return true;
  return name.starts_with("127.") && name.find_first_not_of("0123456789.") == std::string::npos;
}

HttpAnswer text_answer(std::string text, std::string content_type) {
  HttpAnswer answer;
  answer.add("Content-Type", std::move(content_type));
  answer.add("Cache-Control", "no-store");
  answer.add("X-Content-Type-Options", "nosniff");
  answer.set_body(std::make_shared<const std::string>(std::move(text)));
  return answer;
}

}  // namespace

HttpAnswer answer_scrape(const HttpRequest& request, const ScrapeSource& source, bool loopback_only) {
  if (loopback_only && (request.count("host") != 1 || !is_loopback_host(request.header("host")))) {
    return error_answer(403, name(Code::kPermissionDenied), "this answers to 127.0.0.1 and localhost only");
  }
  if (request.method != "GET" && request.method != "HEAD") {
    HttpAnswer answer = error_answer(405, name(Code::kInvalidArgument), "expected GET or HEAD");
    answer.add("Allow", "GET, HEAD");
    return answer;
  }
  const std::string_view path = std::string_view(request.target).substr(0, request.target.find('?'));
  if (path == "/") return text_answer("Trainwarden's samples of this machine: /metrics\n", "text/plain; charset=utf-8");
  if (path != kScrapePath) return error_answer(404, name(Code::kNotFound), "there is /metrics here, and nothing else");
  const bool open_metrics = lower(request.header("accept")).find("application/openmetrics-text") != std::string::npos;
  ScrapeText text = source(open_metrics);
  return text_answer(std::move(text.text), std::move(text.content_type));
}

Result<std::unique_ptr<ScrapeServer>> ScrapeServer::start(const std::string& address, std::uint16_t port,
                                                          ScrapeSource source, bool loopback_only) {
  ListenerOptions options;
  options.addresses = {address};
  options.port = port;
  options.answering_threads = 1;
  options.most_connections = kMaxScrapers;
  options.body_bytes = kMaxScrapeBody;
  std::unique_ptr<ScrapeServer> server(new ScrapeServer);
  TRAINWARDEN_ASSIGN_OR_RETURN(server->listener_, Listener::bind(options));
  server->listener_->start([](const HttpRequest&) { return Admission{}; },
                           [source = std::move(source), loopback_only](const HttpRequest& request) {
                             return answer_scrape(request, source, loopback_only);
                           },
                           server->board_, nullptr);
  return server;
}

ScrapeServer::~ScrapeServer() {
  if (listener_) listener_->stop();
}

}  // namespace trainwarden::server
