#include "ui/server/client_testing.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <stdexcept>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::server {

std::string RawAnswer::header(std::string_view name) const {
  const std::string lines = lower(head);
  const std::string wanted = "\r\n" + lower(name) + ": ";
  const std::size_t at = lines.find(wanted);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + wanted.size();
  return head.substr(begin, head.find("\r\n", begin) - begin);
}

Client::Client(std::uint16_t port, const char* from) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  if (inet_pton(AF_INET, from, &address.sin_addr) != 1 ||
      bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw std::runtime_error(fmt::format("cannot ask from {}", from));
  }
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw std::runtime_error(fmt::format("nobody listens on port {}", port));
  }
}

Client::~Client() {
  close(socket_);
}

bool Client::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool Client::receive(std::chrono::steady_clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  pollfd waiting{socket_, POLLIN, 0};
  if (left.count() <= 0 || poll(&waiting, 1, static_cast<int>(left.count())) <= 0) return false;
  std::array<char, 65536> bytes{};
  const ssize_t count = recv(socket_, bytes.data(), bytes.size(), 0);
  if (count <= 0) return false;
  received_.append(bytes.data(), static_cast<std::size_t>(count));
  return true;
}

std::optional<std::string> Client::read_until(std::string_view text, std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (received_.find(text) == std::string::npos) {
    if (!receive(deadline)) return std::nullopt;
  }
  const std::size_t end = received_.find(text) + text.size();
  std::string read = received_.substr(0, end);
  received_.erase(0, end);
  return read;
}

std::optional<RawAnswer> Client::read_answer(bool head_only, std::chrono::milliseconds timeout) {
  auto head = read_until("\r\n\r\n", timeout);
  if (!head) return std::nullopt;
  RawAnswer answer;
  answer.status = std::atoi(head->c_str() + head->find(' '));
  answer.head = *std::move(head);
  const std::string length = answer.header("content-length");
  const std::size_t bytes = head_only || length.empty() ? 0 : std::stoul(length);
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (received_.size() < bytes) {
    if (!receive(deadline)) return std::nullopt;
  }
  answer.body = received_.substr(0, bytes);
  received_.erase(0, bytes);
  return answer;
}

bool Client::is_cut(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (receive(deadline)) {
  }
  return std::chrono::steady_clock::now() < deadline;
}

std::string get(std::uint16_t port, std::string_view target, std::string_view headers) {
  return fmt::format("GET {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n{}\r\n", target, port, headers);
}

std::string post(std::uint16_t port, std::string_view target, std::string_view body, std::string_view headers) {
  return fmt::format("POST {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Length: {}\r\n{}\r\n{}", target, port,
                     body.size(), headers, body);
}

}  // namespace trainwarden::server
