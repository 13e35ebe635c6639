#include "ui/server/server.h"

#include <fmt/format.h>

#include "core/base/clock.h"
#include "ui/answers/percent.h"
#include "ui/server/token_file.h"

namespace trainwarden::server {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::uint64_t kNoticesPerMs = 1000;  // more than there ever are, and below 2^53 for 280 years

// An address as it stands in a link; of "every address" one that this machine has.
std::string host_of(const std::string& address) {
  if (address == "0.0.0.0") return "127.0.0.1";
  if (address == "::") return "[::1]";
  return address.find(':') == std::string::npos ? address : "[" + address + "]";
}

}  // namespace

Result<std::unique_ptr<Server>> Server::start(std::unique_ptr<views::Shelf> shelf, const ServerOptions& options) {
  std::unique_ptr<Server> server(new Server);
  server->shelf_ = std::move(shelf);
  TRAINWARDEN_ASSIGN_OR_RETURN(server->token_, random_token());
  TRAINWARDEN_ASSIGN_OR_RETURN(server->listener_, Listener::bind(options.listener));
  server->host_ = host_of(options.listener.addresses.front());
  const auto token_file = options.token_file.value_or(default_token_file(server->port()));
  if (!token_file.empty()) {
    TRAINWARDEN_RETURN_IF_ERROR(write_token_file(token_file, server->token_));
    server->token_file_ = token_file;
  }
  const auto now_ms = static_cast<std::uint64_t>(system_clock().unix_ns() / kNsPerMs);
  server->board_ = std::make_unique<NoticeBoard>(now_ms * kNoticesPerMs);
  server->tail_ = std::make_unique<Tail>(*server->shelf_, *server->board_);
  Site::Options site;
  site.access = {server->token_, options.allowed_hosts};
  site.access.allowed_hosts.push_back(server->host_);
  site.allow_actions = options.allow_actions;
  site.areas = options.areas;
  site.ask_program = options.ask_program;
  site.allow_submit = options.allow_submit;
  site.looked_at = [tail = server->tail_.get()](std::string_view run) { tail->looked_at(run); };
  server->site_ = std::make_unique<Site>(answers::Services{*server->shelf_}, std::move(site));
  server->listener_->start([site = server->site_.get()](const HttpRequest& head) { return site->admit(head); },
                           [site = server->site_.get()](const HttpRequest& request) { return site->answer(request); },
                           *server->board_,
                           [tail = server->tail_.get()](std::size_t count) { tail->set_listeners(count); });
  return server;
}

Server::~Server() {
  if (listener_) listener_->stop();
  if (!token_file_.empty()) remove_token_file(token_file_, token_);
}

std::string Server::address() const {
  return fmt::format("http://{}:{}", host_, port());
}

std::string Server::link(std::string_view run_name) const {
  const std::string place = run_name.empty() ? "" : "/run/" + answers::encode_percent(run_name);
  return fmt::format("{}/#t={}{}", address(), token_, place);
}

}  // namespace trainwarden::server
