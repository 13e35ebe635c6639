// Listener: sockets. Reads requests, has them answered by a few threads, writes the answers.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ui/server/http_message.h"
#include "ui/server/notice_board.h"

namespace trainwarden::server {

struct ListenerOptions {
  // Addresses, not names. Of several the first must work; a further one that the machine does not have is left out.
  std::vector<std::string> addresses = {"127.0.0.1", "::1"};
  std::uint16_t port = 0;  // 0: one that is free
  unsigned answering_threads = 4;
  std::size_t most_connections = 256;
  std::size_t header_bytes = 16 * 1024;
  std::size_t body_bytes = 1024 * 1024;
  std::size_t reply_bytes = std::size_t{1} << 30;  // of all answers that are being written; 503 beyond
  std::chrono::milliseconds request_time{10'000};  // from a request's first byte to its last
  std::chrono::milliseconds idle_time{60'000};     // between requests
  // The same for who has not proved who he is: for silence, and for the head of a request.
  std::chrono::milliseconds newcomer_time{5'000};
  std::chrono::milliseconds write_time{30'000};    // for each 256 KiB of an answer
  std::chrono::milliseconds notice_interval{100};  // at the least, between notices to one client
  std::chrono::milliseconds heartbeat{15'000};
};

// What the head of a request says before its body is taken.
struct Admission {
  bool proven = false;                // it shows the token: from here on the client gives way to nobody
  std::optional<HttpAnswer> refusal;  // whatever the body says
};

// When there are as many connections as there may be, a newcomer takes the place of the oldest one that has not proved
// who it is, of the address that has most of those. Who did is cut off for nobody.
class Listener {
 public:
  using Answerer = std::function<HttpAnswer(const HttpRequest&)>;
  using Doorkeeper = std::function<Admission(const HttpRequest& head)>;

  // Takes the port: clients may connect, and wait. kUnavailable when it is taken, kInvalidArgument for an address that
  // is none.
  static Result<std::unique_ptr<Listener>> bind(const ListenerOptions& options);
  ~Listener();  // open connections are cut

  std::uint16_t port() const;
  // Begins to answer. `doorkeeper` is asked in the thread of the sockets, and must not wait. `answerer` is called by
  // several threads at once. Neither is called after the listener is gone. `on_listeners` gets how many clients
  // listen to notices, by one thread at a time.
  void start(Doorkeeper doorkeeper, Answerer answerer, NoticeBoard& board,
             std::function<void(std::size_t)> on_listeners);
  // Cuts the connections and returns when nobody answers any more.
  void stop();

 private:
  class Impl;
  explicit Listener(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainwarden::server
