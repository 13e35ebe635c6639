// Site: the answer to every request. Knows nothing of sockets.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ui/answers/router.h"
#include "ui/answers/services.h"
#include "ui/aws/aws_api.h"
#include "ui/server/access.h"
#include "ui/server/http_message.h"
#include "ui/server/listener.h"

namespace trainwarden::server {

class Site {
 public:
  struct Options {
    Access::Options access;
    bool allow_actions = false;
    std::vector<answers::Area> areas;  // beside the runs
    // Asked for what calls of AWS want to know. Null: there are none.
    aws::AskProgram ask_program;
    bool allow_submit = false;
    // Called with the id of each run that somebody asks something of. Null: nobody.
    std::function<void(std::string_view run_id)> looked_at;
  };
  Site(const answers::Services& services, Options options);

  // Both from any thread, several at once. Neither throws.
  Admission admit(const HttpRequest& head) const;
  HttpAnswer answer(const HttpRequest& request) const;

 private:
  std::optional<HttpAnswer> refuse(const HttpRequest& head) const;
  std::optional<HttpAnswer> refuse_aws(const HttpRequest& head) const;
  HttpAnswer route(const HttpRequest& request) const;
  HttpAnswer answer_api(const HttpRequest& request, std::string_view address, std::string_view query) const;
  HttpAnswer answer_about() const;
  HttpAnswer answer_notices(const HttpRequest& request) const;
  HttpAnswer answer_area(const HttpRequest& request, std::string_view address, std::string_view query) const;
  HttpAnswer answer_match(const HttpRequest& request, answers::RouteMatch match, const std::string& identity) const;
  // Of the run that lies under this id now; "" when it cannot be opened.
  std::string identity_of(std::string_view run_id) const;

  const answers::Services services_;
  Options options_;
  Access access_;
  answers::Router router_;
  const aws::AwsApi aws_;
};

}  // namespace trainwarden::server
