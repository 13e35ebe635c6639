// Site: the answer to every request. Knows nothing of sockets.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "server/access.h"
#include "server/http_message.h"
#include "server/router.h"
#include "views/shelf.h"

namespace trainwarden::server {

class Site {
 public:
  struct Options {
    Access::Options access;
    bool allow_actions = false;
    // Called with the id of each run that somebody asks something of. Null: nobody.
    std::function<void(std::string_view run_id)> looked_at;
  };
  Site(views::Shelf& shelf, Options options);

  // From any thread, several at once. Never throws.
  HttpAnswer answer(const HttpRequest& request) const;

 private:
  HttpAnswer route(const HttpRequest& request) const;
  HttpAnswer answer_api(const HttpRequest& request, std::string_view address, std::string_view query) const;
  HttpAnswer answer_session(const HttpRequest& request) const;
  HttpAnswer answer_about() const;
  HttpAnswer answer_notices(const HttpRequest& request) const;
  HttpAnswer answer_area(const HttpRequest& request, std::string_view address, std::string_view query) const;
  // What an immutable answer is known by, before it is computed; "" when the run cannot be opened.
  std::string identity_of(const RouteMatch& match, std::string_view target) const;

  views::Shelf& shelf_;
  Options options_;
  Access access_;
  Router router_;
};

}  // namespace trainwarden::server
