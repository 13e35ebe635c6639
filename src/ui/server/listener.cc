#include "ui/server/listener.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>

#include "core/base/log.h"
#include "ui/server/http_wire.h"

namespace trainwarden::server {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = net::ip::tcp;
using boost::system::error_code;

constexpr std::size_t kSliceBytes = 256 * 1024;
// What a client that sent too much may still send before the connection is cut, so that it gets to read why.
constexpr std::size_t kLingerBytes = 4 * 1024 * 1024;
constexpr std::chrono::seconds kLingerTime{2};

// A training that we start is not to hold our sockets.
void close_on_exec(int socket) {
  fcntl(socket, F_SETFD, FD_CLOEXEC);
}

class Connection;

// What the connections share. All but `pool` belongs to the thread of `io`.
struct Shared {
  explicit Shared(const ListenerOptions& o) : options(o), pool(o.answering_threads) {}

  ListenerOptions options;
  net::io_context io{1};
  net::thread_pool pool;
  Listener::Doorkeeper doorkeeper;
  Listener::Answerer answerer;
  NoticeBoard* board = nullptr;
  std::function<void(std::size_t)> on_listeners;
  std::set<Connection*> connections;
  std::set<Connection*> listening;  // to notices
  std::uint64_t accepted = 0;
  std::size_t reply_bytes = 0;  // of the answers that are being written
  std::atomic<bool> news_posted{false};
  bool stopped = false;
};

// One client. Everything happens in the thread of `io`, but for the answering itself.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, Shared& shared)
      : stream_(std::move(socket)), timer_(shared.io), shared_(shared), number_(++shared.accepted) {
    error_code ignored;  // one that has gone is of no address
    address_ = stream_.socket().remote_endpoint(ignored).address();
    shared_.connections.insert(this);
  }
  ~Connection() {
    shared_.connections.erase(this);
    shared_.reply_bytes -= held_bytes_;
    if (shared_.listening.erase(this) > 0) report_listeners();
  }

  void start() { await_request(); }

  bool is_newcomer() const { return !proven_ && !cut_; }
  // Not while threads are at its answer: those are soon done, and would pile up for clients that have gone.
  bool may_give_way() const { return is_newcomer() && !answering_; }
  std::uint64_t number() const { return number_; }  // the older the less
  const net::ip::address& address() const { return address_; }

  // As if the client had gone: what waits for the socket ends, and this object with it.
  void cut() {
    cut_ = true;
    timer_.cancel();
    stream_.close();
  }

  void take_news() { send_notices(); }

 private:
  void await_request() {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(shared_.options.header_bytes));
    parser_->body_limit(shared_.options.body_bytes);
    if (buffer_.size() > 0) return read_request();  // the client did not wait for the last answer
    stream_.expires_after(proven_ ? shared_.options.idle_time : shared_.options.newcomer_time);
    stream_.async_read_some(buffer_.prepare(4096), [self = shared_from_this()](error_code error, std::size_t bytes) {
      if (error) return;
      self->buffer_.commit(bytes);
      self->read_request();
    });
  }

  void read_request() {
    const auto& options = shared_.options;
    stream_.expires_after(proven_ ? options.request_time : std::min(options.request_time, options.newcomer_time));
    http::async_read_header(stream_, buffer_, *parser_, [self = shared_from_this()](error_code error, std::size_t) {
      if (error) {
        self->refuse_request(error);
      } else {
        self->take_head();
      }
    });
  }

  void take_head() {
    Admission admission = shared_.doorkeeper(head_of(parser_->get()));
    proven_ = proven_ || admission.proven;
    if (parser_->is_done()) return answer_request();
    if (admission.refusal) return refuse_body(*std::move(admission.refusal));
    read_body();
  }

  // Nobody waits for, or keeps, the body of a request that is refused anyway.
  void refuse_body(HttpAnswer answer) {
    answer.close = true;
    linger_ = true;
    write(std::move(answer), false);
  }

  void read_body() {
    stream_.expires_after(shared_.options.request_time);
    http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](error_code error, std::size_t) {
      if (error) {
        self->refuse_request(error);
      } else {
        self->answer_request();
      }
    });
  }

  void refuse_request(const error_code& error) {
    if (error.category() != http::make_error_code(http::error::bad_method).category()) return;  // it has gone
    if (error == http::error::end_of_stream || error == http::error::partial_message) return;
    refuse_body(answer_of_parse_error(error));
  }

  void answer_request() {
    if (shared_.stopped) return;
    const bool head_only = parser_->get().method() == http::verb::head;
    const bool keep = parser_->get().keep_alive();
    auto request = std::make_shared<HttpRequest>(take_request(parser_->get()));
    stream_.expires_never();  // the answer takes as long as it takes
    answering_ = true;
    net::post(shared_.pool, [self = shared_from_this(), request, head_only, keep]() mutable {
      net::io_context& io = self->shared_.io;
      HttpAnswer answer = self->shared_.answerer(*request);
      answer.close = answer.close || !keep;
      // Moved, so that the connection never ends in this thread.
      net::post(io, [self = std::move(self), head_only, answer = std::move(answer)]() mutable {
        self->begin_answer(std::move(answer), head_only);
      });
    });
  }

  void begin_answer(HttpAnswer answer, bool head_only) {
    answering_ = false;
    if (shared_.stopped) return;
    const std::size_t bytes = answer.owner ? answer.owner->size() : 0;
    if (shared_.reply_bytes > 0 && shared_.reply_bytes + bytes > shared_.options.reply_bytes) {
      answer = error_answer(503, name(Code::kUnavailable),
                            "others are being sent too much at the moment; ask again in a second");
      answer.add("Retry-After", "1");
    }
    write(std::move(answer), head_only);
  }

  void write(HttpAnswer answer, bool head_only) {
    answer_ = std::move(answer);
    held_bytes_ = answer_.owner ? answer_.owner->size() : 0;
    shared_.reply_bytes += held_bytes_;
    head_ = encode_head(answer_);
    if (head_only) answer_.body = {};
    const std::size_t first = std::min(kSliceBytes, answer_.body.size());
    const std::array<net::const_buffer, 2> parts{net::buffer(head_), net::buffer(answer_.body.data(), first)};
    stream_.expires_after(shared_.options.write_time);
    net::async_write(stream_, parts, [self = shared_from_this(), first, head_only](error_code error, std::size_t) {
      if (error) return;
      if (self->answer_.notices && !head_only) return self->listen();
      self->write_rest(first);
    });
  }

  // A slice at a time, each with its time: who reads slowly but reads gets everything.
  void write_rest(std::size_t written) {
    const std::string_view rest = answer_.body.substr(written);
    if (rest.empty()) return end_answer();
    const std::size_t bytes = std::min(kSliceBytes, rest.size());
    stream_.expires_after(shared_.options.write_time);
    net::async_write(stream_, net::buffer(rest.data(), bytes),
                     [self = shared_from_this(), next = written + bytes](error_code error, std::size_t) {
                       if (!error) self->write_rest(next);
                     });
  }

  void end_answer() {
    const bool close = answer_.close;
    shared_.reply_bytes -= std::exchange(held_bytes_, 0);
    answer_ = {};
    if (!close) return await_request();
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    if (linger_) {
      stream_.expires_after(kLingerTime);
      linger(0);
    }
  }

  void linger(std::size_t taken) {
    if (taken > kLingerBytes) return;
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(65536),
                            [self = shared_from_this(), taken](error_code error, std::size_t bytes) {
                              if (!error) self->linger(taken + bytes);
                            });
  }

  // From here on the connection is a stream of notices, until the client goes.
  void listen() {
    sent_version_ = answer_.last_notice;
    shared_.listening.insert(this);
    report_listeners();
    notice_when_it_goes();
    send_notices();
  }

  // A client says nothing more, so that all that can be read is its end.
  void notice_when_it_goes() {
    buffer_.clear();
    stream_.socket().async_read_some(buffer_.prepare(512), [self = shared_from_this()](error_code error, std::size_t) {
      if (!error) return self->notice_when_it_goes();
      self->cut();
    });
  }

  void send_notices() {
    if (writing_ || !stream_.socket().is_open()) return;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_notice_) return wait_until(next_notice_);
    std::string events;
    for (const Notice& notice : shared_.board->after(sent_version_)) {
      events += to_event(notice);
      sent_version_ = notice.version;
    }
    if (events.empty()) {
      if (now < next_heartbeat_) return wait_until(next_heartbeat_);
      events = ":\n\n";
    } else {
      next_notice_ = now + shared_.options.notice_interval;
    }
    next_heartbeat_ = now + shared_.options.heartbeat;
    send_chunk(encode_chunk(events));
  }

  void send_chunk(std::string chunk) {
    writing_ = true;
    head_ = std::move(chunk);
    stream_.expires_after(shared_.options.write_time);
    net::async_write(stream_, net::buffer(head_), [self = shared_from_this()](error_code error, std::size_t) {
      self->writing_ = false;
      if (error) return self->cut();
      self->stream_.expires_never();
      self->send_notices();
    });
  }

  void wait_until(std::chrono::steady_clock::time_point when) {
    timer_.expires_at(when);
    timer_.async_wait([self = shared_from_this()](error_code error) {
      if (!error) self->send_notices();
    });
  }

  void report_listeners() {
    if (shared_.on_listeners && !shared_.stopped) shared_.on_listeners(shared_.listening.size());
  }

  beast::tcp_stream stream_;
  net::steady_timer timer_;
  Shared& shared_;
  const std::uint64_t number_;
  net::ip::address address_;
  bool proven_ = false;
  bool answering_ = false;
  bool cut_ = false;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  HttpAnswer answer_;
  std::string head_;
  std::size_t held_bytes_ = 0;
  bool linger_ = false;
  bool writing_ = false;
  std::uint64_t sent_version_ = 0;
  std::chrono::steady_clock::time_point next_notice_{};
  std::chrono::steady_clock::time_point next_heartbeat_{};
};

// Who gives way to a newcomer; null when nobody does.
Connection* oldest_of_the_most(const std::set<Connection*>& connections) {
  std::map<net::ip::address, std::size_t> newcomers;
  for (const Connection* connection : connections) {
    if (connection->is_newcomer()) ++newcomers[connection->address()];
  }
  Connection* oldest = nullptr;
  const auto goes_before = [&](const Connection& a, const Connection& b) {
    const std::size_t of_a = newcomers[a.address()];
    const std::size_t of_b = newcomers[b.address()];
    return of_a != of_b ? of_a > of_b : a.number() < b.number();
  };
  for (Connection* connection : connections) {
    if (connection->may_give_way() && (oldest == nullptr || goes_before(*connection, *oldest))) oldest = connection;
  }
  return oldest;
}

Status cannot_listen(const std::string& address, std::uint16_t port, const error_code& error) {
  return Status(Code::kUnavailable, fmt::format("cannot listen on {} port {}: {}; another --port, or none, may be free",
                                                address, port, error.message()));
}

}  // namespace

class Listener::Impl {
 public:
  explicit Impl(const ListenerOptions& options) : shared_(options) {}

  Status bind() {
    std::uint16_t port = shared_.options.port;
    for (const std::string& text : shared_.options.addresses) {
      error_code error;
      const net::ip::address address = net::ip::make_address(text, error);
      if (error) {
        return Status(Code::kInvalidArgument,
                      fmt::format("\"{}\" is no address to listen on; expected one like 127.0.0.1 or ::1", text));
      }
      const Status bound = bind(tcp::endpoint(address, port));
      if (bound.ok()) {
        port = acceptors_.back().local_endpoint().port();
      } else if (acceptors_.empty()) {
        return bound;
      } else {
        log(LogLevel::kDebug, "{}", bound.message());
      }
    }
    return {};
  }

  std::uint16_t port() const { return acceptors_.front().local_endpoint().port(); }

  void start(Doorkeeper doorkeeper, Answerer answerer, NoticeBoard& board,
             std::function<void(std::size_t)> on_listeners) {
    shared_.doorkeeper = std::move(doorkeeper);
    shared_.answerer = std::move(answerer);
    shared_.board = &board;
    shared_.on_listeners = std::move(on_listeners);
    board.on_news([this] { post_news(); });
    for (tcp::acceptor& acceptor : acceptors_) accept(acceptor);
    thread_ = std::thread([this] { shared_.io.run(); });
  }

  void stop() {
    if (!thread_.joinable()) return;
    shared_.board->on_news(nullptr);
    std::promise<void> stopped;
    net::post(shared_.io, [this, &stopped] {
      shared_.stopped = true;
      error_code ignored;
      for (tcp::acceptor& acceptor : acceptors_) acceptor.close(ignored);
      for (Connection* connection : shared_.connections) connection->cut();
      stopped.set_value();
    });
    stopped.get_future().wait();  // from here on nothing more is given to the pool
    shared_.pool.join();          // what is being answered ends; the answers go nowhere
    work_.reset();
    thread_.join();  // which ends when the last connection does
  }

 private:
  Status bind(const tcp::endpoint& endpoint) {
    const std::string address = endpoint.address().to_string();
    error_code error;
    tcp::acceptor acceptor(shared_.io);
    acceptor.open(endpoint.protocol(), error);
    if (error) return cannot_listen(address, endpoint.port(), error);
    close_on_exec(acceptor.native_handle());
    acceptor.set_option(net::socket_base::reuse_address(true), error);
    if (endpoint.address().is_v6()) acceptor.set_option(net::ip::v6_only(true), error);
    acceptor.bind(endpoint, error);
    if (!error) acceptor.listen(net::socket_base::max_listen_connections, error);
    if (error) return cannot_listen(address, endpoint.port(), error);
    acceptors_.push_back(std::move(acceptor));
    return {};
  }

  void accept(tcp::acceptor& acceptor) {
    acceptor.async_accept([this, &acceptor](error_code error, tcp::socket socket) {
      if (!acceptor.is_open() || shared_.stopped) return;
      if (error) return accept_later(acceptor);
      close_on_exec(socket.native_handle());
      if (has_room()) {
        error_code ignored;
        socket.set_option(tcp::no_delay(true), ignored);
        std::make_shared<Connection>(std::move(socket), shared_)->start();
      } else {
        refuse(std::move(socket));
      }
      accept(acceptor);
    });
  }

  bool has_room() {
    if (shared_.connections.size() < shared_.options.most_connections) return true;
    Connection* const leaving = oldest_of_the_most(shared_.connections);
    if (leaving == nullptr) return false;
    leaving->cut();
    return true;
  }

  // No more descriptors, say. Asking at once would spin.
  void accept_later(tcp::acceptor& acceptor) {
    auto timer = std::make_shared<net::steady_timer>(shared_.io, std::chrono::milliseconds(100));
    timer->async_wait([this, timer, &acceptor](error_code) {
      if (!shared_.stopped) accept(acceptor);
    });
  }

  // Without waiting for anything: there are too many to wait for.
  static void refuse(tcp::socket socket) {
    HttpAnswer answer = error_answer(503, name(Code::kUnavailable), "too many connections are open; close other tabs");
    answer.close = true;
    const std::string text = encode_head(answer) + std::string(answer.body);
    error_code ignored;
    socket.non_blocking(true, ignored);
    socket.write_some(net::buffer(text), ignored);
    socket.shutdown(tcp::socket::shutdown_send, ignored);
  }

  // By the thread that has news.
  void post_news() {
    if (shared_.news_posted.exchange(true)) return;
    net::post(shared_.io, [this] {
      shared_.news_posted = false;
      const std::vector<Connection*> listening(shared_.listening.begin(), shared_.listening.end());
      for (Connection* connection : listening) connection->take_news();
    });
  }

  Shared shared_;
  net::executor_work_guard<net::io_context::executor_type> work_{shared_.io.get_executor()};
  std::deque<tcp::acceptor> acceptors_;
  std::thread thread_;
};

Result<std::unique_ptr<Listener>> Listener::bind(const ListenerOptions& options) {
  auto impl = std::make_unique<Impl>(options);
  TRAINWARDEN_RETURN_IF_ERROR(impl->bind());
  return std::unique_ptr<Listener>(new Listener(std::move(impl)));
}

Listener::Listener(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Listener::~Listener() {
  impl_->stop();
}

std::uint16_t Listener::port() const {
  return impl_->port();
}

void Listener::start(Doorkeeper doorkeeper, Answerer answerer, NoticeBoard& board,
                     std::function<void(std::size_t)> on_listeners) {
  impl_->start(std::move(doorkeeper), std::move(answerer), board, std::move(on_listeners));
}

void Listener::stop() {
  impl_->stop();
}

}  // namespace trainwarden::server
