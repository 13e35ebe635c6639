// ScrapeServer: one text at /metrics, made anew for each request, for Prometheus and others that scrape.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "ui/server/http_message.h"
#include "ui/server/listener.h"
#include "ui/server/notice_board.h"

namespace trainwarden::server {

struct ScrapeText {
  std::string text;
  std::string content_type;
};
// Whether the client takes OpenMetrics. From another thread than the server's own.
using ScrapeSource = std::function<ScrapeText(bool open_metrics)>;

// Without sockets. `loopback_only`: who asks by another name than this machine's for itself is refused; a page that a
// browser has open could otherwise read what is said here, by a name that its server points at this machine.
HttpAnswer answer_scrape(const HttpRequest& request, const ScrapeSource& source, bool loopback_only);

class ScrapeServer {
 public:
  // Serves until it is gone; a few connections at once, and slow ones are cut (listener.h). kUnavailable,
  // kInvalidArgument.
  static Result<std::unique_ptr<ScrapeServer>> start(const std::string& address, std::uint16_t port,
                                                     ScrapeSource source, bool loopback_only);
  ~ScrapeServer();

  std::uint16_t port() const { return listener_->port(); }

 private:
  ScrapeServer() = default;

  NoticeBoard board_{0};                // nobody listens
  std::unique_ptr<Listener> listener_;  // last: it calls the others
};

}  // namespace trainwarden::server
