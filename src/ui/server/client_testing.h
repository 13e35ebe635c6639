// Client: a socket that says what a test wants it to say.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainwarden::server {

struct RawAnswer {
  int status = 0;
  std::string head;  // status line and headers
  std::string body;

  // "" when there is none.
  std::string header(std::string_view name) const;
};

class Client {
 public:
  // From this address of the machine. Throws when nobody listens.
  explicit Client(std::uint16_t port, const char* from = "127.0.0.1");
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Nothing when the server has cut the connection.
  bool send(std::string_view bytes) const;
  // The next answer with its length; one without a body for `head_only`. Nothing when the server cut the connection, or
  // said nothing for `timeout`.
  std::optional<RawAnswer> read_answer(bool head_only = false,
                                       std::chrono::milliseconds timeout = std::chrono::minutes(1));
  // Reads until `text` has come; everything up to its end. Nothing as above.
  std::optional<std::string> read_until(std::string_view text,
                                        std::chrono::milliseconds timeout = std::chrono::minutes(1));
  // The server cuts the connection within `timeout`.
  bool is_cut(std::chrono::milliseconds timeout = std::chrono::minutes(1));

 private:
  bool receive(std::chrono::steady_clock::time_point deadline);

  int socket_;
  std::string received_;
};

// "GET target HTTP/1.1" with the Host of this port and these header lines ("Name: value\r\n" each).
std::string get(std::uint16_t port, std::string_view target, std::string_view headers = "");
std::string post(std::uint16_t port, std::string_view target, std::string_view body, std::string_view headers = "");

}  // namespace trainwarden::server
