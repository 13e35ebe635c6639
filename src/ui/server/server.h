// Server: a folder of runs, or one run, on a local address for browsers and programs. The public calls may be made from
// any thread. Boost stays behind it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ui/server/listener.h"
#include "ui/server/notice_board.h"
#include "ui/server/site.h"
#include "ui/server/tail.h"
#include "ui/views/shelf.h"

namespace trainwarden::server {

struct ServerOptions {
  ListenerOptions listener;
  std::vector<std::string> allowed_hosts;
  bool allow_actions = false;
  std::vector<answers::Area> areas;  // what is shown beside the runs; what their handlers use must outlive the server
  // Answers calls of AWS about jobs; null: it does not.
  aws::AskProgram ask_program;
  bool allow_submit = false;  // of jobs, by calls of AWS
  // Where the token is written, for the user alone; nothing: default_token_file(), when there is one.
  std::optional<std::filesystem::path> token_file;
};

class Server {
 public:
  // Serves until it is gone. kNotFound, kUnavailable, kInvalidArgument; kPermissionDenied for a token file that is a
  // link.
  static Result<std::unique_ptr<Server>> start(std::unique_ptr<views::Shelf> shelf, const ServerOptions& options);
  ~Server();

  std::uint16_t port() const { return listener_->port(); }
  const std::string& token() const { return token_; }
  std::string address() const;  // "http://127.0.0.1:8000"
  // What opens the page: the token stands behind the #, which no browser sends and no log shows.
  // With a run's name it opens that run.
  std::string link(std::string_view run_name = "") const;
  const std::filesystem::path& token_file() const { return token_file_; }  // empty: there is none

 private:
  Server() = default;

  std::unique_ptr<views::Shelf> shelf_;
  std::string token_;
  std::string host_;
  std::filesystem::path token_file_;
  std::unique_ptr<NoticeBoard> board_;
  std::unique_ptr<Tail> tail_;
  std::unique_ptr<Site> site_;
  std::unique_ptr<Listener> listener_;  // last: it calls the others
};

}  // namespace trainwarden::server
